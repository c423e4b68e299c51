// Indexes of made-up documents with metadata, built with a small model.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "index/building/build.h"
#include "index/building/index_model.h"
#include "index/building/merge.h"
#include "index/folder/index_folder.h"
#include "index/folder/index_info.h"
#include "index/folder/removal.h"
#include "search/retrieval/exact.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::index {

struct Document {
  std::string text;
  std::optional<double> year;
  std::string lang;
};
// The documents of an index, by id.
using Documents = std::map<std::string, Document>;

class DocumentIndexTest : public testing::Test {
 protected:
  DocumentIndexTest() {
    tensor::SetUpProcess(2);
    WriteTinyModel(folder_.path() / "model");
    model_ = Load();
  }
  std::unique_ptr<model::DualEncoder> Load() const {
    return model::DualEncoder::Load(folder_.path() / "model", LoadOptionsOf(IndexModel()));
  }
  std::filesystem::path Index() const { return folder_.path() / "index"; }

  IndexEncoder Encoder() {
    return {*model_, {}, DescribeModel(*model_, folder_.path() / "model", {}, {})};
  }

  Document RandomDocument() {
    const std::vector<std::string> words = TinyWords();
    Document document;
    for (uint64_t w = random_.Below(3) + 1; w > 0; --w) {
      document.text += words[random_.Below(std::min<size_t>(4, words.size()))] + " ";
    }
    if (random_.Below(4) != 0) document.year = static_cast<double>(random_.Below(5));
    document.lang = random_.Below(2) == 0 ? "en" : "de";
    return document;
  }

  // Documents as a source; `documents` must outlive it.
  static DocumentSource SourceOf(const Documents& documents) {
    return {[at = documents.begin(), end = documents.end(),
             values = std::vector<data::MetadataValue>(2)](data::InputText* text) mutable {
              if (at == end) return false;
              values[0] = {.present = at->second.year.has_value(),
                           .number = at->second.year.value_or(0)};
              values[1] = {.present = true, .text = at->second.lang};
              *text = {.id = at->first, .text = at->second.text, .metadata = values, .file = "f"};
              ++at;
              return true;
            },
            1};
  }

  static NewIndex Wanted() {
    return {
        .fields = {{"year", data::MetadataType::kNumber}, {"lang", data::MetadataType::kString}},
        .choose = [](size_t, size_t) {
          const IndexKindInfo& kind = FindIndexKind("fp32");
          return KindChoice{&kind, config::Params(kind.params)};
        }};
  }

  void Build(const Documents& documents, const ChangeOptions& change = {}) {
    BuildIndex(Encoder(), Index(), SourceOf(documents), Wanted(), change);
  }

  std::vector<float> Embed(const std::vector<std::string>& texts) {
    data::Texts all;
    for (size_t i = 0; i < texts.size(); ++i) all.Add(std::to_string(i), texts[i]);
    const tensor::Tensor rows =
        search::RowsFor(search::EncodeAll(*model_, model::TextKind::kDocument, all, {}), "cosine");
    return {rows.data_ptr<float>(), rows.data_ptr<float>() + rows.numel()};
  }

  // What a search must find, from the documents alone: ids by score, then by id, both descending.
  // Scores are those of `index`, so that rounding decides nothing.
  void ExpectSearch(const Documents& documents, size_t k, const Filter& filter) {
    const auto index = DocumentIndex::Open(Index());
    ASSERT_EQ(index->info().documents, documents.size());
    const std::vector<float> queries = Embed({"alpha beta", "gamma"});
    const size_t width = index->info().model.width;
    const DocumentQuery query{.queries = queries.data(), .count = 2, .k = k, .filter = &filter};
    DocumentQuery all = query;
    all.k = 1000;
    const auto scored = index->Search(all), found = index->Search(query);
    for (size_t q = 0; q < 2; ++q) {
      std::vector<std::pair<float, std::string>> expected;
      std::set<std::string> seen;
      for (const DocumentHit& hit : scored[q]) {
        const std::string id(index->id(hit.document));
        expected.emplace_back(hit.score, id);
        ASSERT_TRUE(documents.contains(id)) << id;
        EXPECT_TRUE(seen.insert(id).second) << id << " is there twice";
        const Document& document = documents.at(id);
        EXPECT_EQ(index->text(hit.document), document.text);
        EXPECT_EQ(index->metadata(hit.document, 0).present, document.year.has_value());
        EXPECT_EQ(index->metadata(hit.document, 0).number, document.year.value_or(0));
        EXPECT_EQ(index->metadata(hit.document, 1).text, document.lang);
        // The vector is the text's.
        std::vector<float>& own = embeddings_[document.text];
        if (own.empty()) own = Embed({document.text});
        float score = 0;
        for (size_t i = 0; i < width; ++i) score += own[i] * queries[q * width + i];
        EXPECT_NEAR(score, hit.score, 1e-5) << id;
      }
      size_t meet = 0;
      for (const auto& [id, document] : documents) {
        const auto meets = [&document = document](const Condition& one) {
          return one.field == "year"
                     ? document.year && *document.year >= std::get<double>(one.value)
                     : document.lang == std::get<std::string>(one.value);
        };
        const bool holds = std::all_of(filter.begin(), filter.end(), meets);
        meet += holds;
        EXPECT_EQ(seen.contains(id), holds) << id;
      }
      std::sort(expected.rbegin(), expected.rend());
      expected.resize(std::min(k, expected.size()));
      ASSERT_EQ(found[q].size(), std::min(k, meet));
      for (size_t i = 0; i < expected.size(); ++i) {
        EXPECT_EQ(index->id(found[q][i].document), expected[i].second) << q << " " << i;
        EXPECT_EQ(found[q][i].score, expected[i].first);
      }
    }
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
  std::map<std::string, std::vector<float>> embeddings_;  // of texts that were looked at
  RandomStream random_{{.seed = 7, .purpose = "document_index_test"}};
};

}  // namespace tandem::index
