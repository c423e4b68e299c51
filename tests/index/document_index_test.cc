// Indexes that are built, changed and searched, with a small model.
#include "index/document_index.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/random.h"
#include "base/temporary_folder.h"
#include "index/build.h"
#include "index/index_folder.h"
#include "index/index_info.h"
#include "index/index_model.h"
#include "index/merge.h"
#include "index/removal.h"
#include "model/tiny_model.h"
#include "search/exact.h"
#include "tensor/process.h"

namespace tandem::index {
namespace {

using testing::HasSubstr;

struct Document {
  std::string text;
  std::optional<double> year;
  std::string lang;
};
// Of an index, by id.
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
    const at::Tensor rows =
        search::RowsFor(search::EncodeAll(*model_, model::TextKind::kDocument, all, {}), "cosine")
            .contiguous();
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
        const bool holds = std::all_of(filter.begin(), filter.end(), [&](const Condition& one) {
          return one.field == "year"
                     ? document.year && *document.year >= std::get<double>(one.value)
                     : document.lang == std::get<std::string>(one.value);
        });
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

// A random sequence of changes against a map that is changed alike. Few words make many equal
// texts, so that ties are everywhere.
TEST_F(DocumentIndexTest, AnySequenceOfChangesIsTheDocumentsThatAreLeft) {
  const Filter years = {{"year", Comparison::kGreaterEqual, 2.0}};
  const Filter both = {{"year", Comparison::kGreaterEqual, 1.0},
                       {"lang", Comparison::kEqual, std::string("en")}};
  Documents documents;
  size_t next = 0;
  const auto some = [&](size_t count) {
    Documents batch;
    while (batch.size() < count) batch.emplace(fmt::format("d{}", next++), RandomDocument());
    return batch;
  };
  documents = some(70);
  Build(documents);
  for (int step = 0; step < 24; ++step) {
    const uint64_t what = random_.Below(5);
    if (what <= 1) {
      Documents batch = some(random_.Below(5) + 1);
      for (const auto& [id, document] : documents) {  // replaced by --update
        if (random_.Below(20) == 0) batch[id] = RandomDocument();
      }
      AddDocuments(Encoder(), Index(), SourceOf(batch), true, {});
      for (const auto& [id, document] : batch) documents[id] = document;
    } else if (what == 2 || what == 3) {
      std::vector<std::string> ids;
      for (const auto& [id, document] : documents) {
        if (random_.Below(8) == 0 && ids.size() + 5 < documents.size()) ids.push_back(id);
      }
      EXPECT_EQ(RemoveDocuments(Index(), ids, false).removed, ids.size());
      for (const std::string& id : ids) documents.erase(id);
    } else if (random_.Below(2) == 0) {
      CompactIndex(Index(), {});
      const IndexInfo info = InfoOf(Index(), ReadManifest(Index()));
      EXPECT_EQ(info.removed, 0u);
      EXPECT_EQ(info.segments, 1u);
    } else {
      JoinSmallSegments(Index(), 2, {});
      EXPECT_LE(ReadManifest(Index()).segments.size(), 2u);
    }
    ExpectSearch(documents, 1 + random_.Below(12),
                 step % 3 == 0   ? Filter()
                 : step % 3 == 1 ? years
                                 : both);
    if (HasFailure()) FAIL() << "in step " << step;
  }
}

// All rows score the same: the ids alone decide, also which of them are the best k.
TEST_F(DocumentIndexTest, EqualScoresGoByIdDescending) {
  Documents documents;
  for (int i = 0; i < 50; ++i) documents[fmt::format("d{:02}", i)] = {"alpha", {}, "en"};
  Build(documents);
  AddDocuments(Encoder(), Index(), SourceOf({{"d495", {"alpha", {}, "en"}}}), false, {});
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const auto found = index->Search({.queries = query.data(), .count = 1, .k = 3});
  ASSERT_EQ(found[0].size(), 3u);
  EXPECT_EQ(index->id(found[0][0].document), "d495");
  EXPECT_EQ(index->id(found[0][1].document), "d49");
  EXPECT_EQ(index->id(found[0][2].document), "d48");
}

TEST_F(DocumentIndexTest, AFilterOnAFieldThatIsNotThereNamesThoseThatAre) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const Filter filter = {{"yeer", Comparison::kEqual, 1.0}};
  try {
    index->Search({.queries = query.data(), .count = 1, .filter = &filter});
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "field yeer is unknown; known are year, lang; did you mean year?");
  }
}

// An altered byte, a missing byte and a missing file, of every file of the folder.
TEST_F(DocumentIndexTest, DamageOfAnyFileIsFoundBeforeItIsUsed) {
  Documents documents;
  for (int i = 0; i < 20; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  RemoveDocuments(Index(), {"d3"}, false);
  ASSERT_NO_THROW(DocumentIndex::Open(Index()));
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Index())) {
    if (!entry.is_regular_file() || entry.path().filename() == "lock") continue;
    ++files;
    const std::string bytes = ReadFile(entry.path());
    const auto expect_error = [&](const std::string& text) {
      WriteFileAtomically(entry.path(), text);
      try {
        DocumentIndex::Open(Index());
        ADD_FAILURE() << entry.path();
      } catch (const DataError& error) {
        EXPECT_THAT(error.what(), HasSubstr(entry.path().filename().native()));
      }
    };
    std::string altered = bytes;
    altered[bytes.size() / 2] = static_cast<char>(altered[bytes.size() / 2] ^ 4);
    expect_error(altered);
    expect_error(bytes.substr(0, bytes.size() - 1));
    std::filesystem::remove(entry.path());
    EXPECT_THROW(DocumentIndex::Open(Index()), DataError) << entry.path();
    WriteFileAtomically(entry.path(), bytes);
  }
  EXPECT_GE(files, 13u);
  EXPECT_NO_THROW(DocumentIndex::Open(Index()));
}

TEST_F(DocumentIndexTest, DamageIsNotCompactedAway) {
  Documents documents;
  for (int i = 0; i < 20; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  RemoveDocuments(Index(), {"d3"}, false);
  const std::filesystem::path vectors = Index() / SegmentName(1) / "vectors.f32";
  std::string bytes = ReadFile(vectors);
  bytes[5] = static_cast<char>(bytes[5] ^ 4);
  WriteFileAtomically(vectors, bytes);
  EXPECT_THROW(CompactIndex(Index(), {}), DataError);
}

TEST_F(DocumentIndexTest, AnotherModelIsRefused) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const IndexInfo info = DocumentIndex::Open(Index())->info();
  EXPECT_NO_THROW(LoadIndexModel(info, LoadOptionsOf(info.model)));
  const std::filesystem::path other = folder_.path() / "other";
  WriteTinyModel(other, {.seed = 2});
  try {
    LoadIndexModel(info, LoadOptionsOf(info.model), other);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not the model that the index was made with"));
    EXPECT_THAT(error.what(), HasSubstr("its weights, settings or tokenizer differ"));
  }
  WriteTinyModel(other, {.seed = 1, .dense = true});
  try {
    LoadIndexModel(info, LoadOptionsOf(info.model), other);
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(), HasSubstr("its embeddings have 16 numbers, those of the index 32"));
  }
}

TEST_F(DocumentIndexTest, IdsThatAreThereOrNotAreNamedAndNothingChanges) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}};
  Build(documents);
  const auto expect = [&](const auto& change, const std::string& message) {
    const std::string before = ReadFile(Index() / kManifestName);
    try {
      change();
      ADD_FAILURE() << message;
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
    EXPECT_EQ(ReadFile(Index() / kManifestName), before);
  };
  const Documents again = {{"c", {"gamma", {}, "en"}}, {"b", {"gamma", {}, "en"}}};
  expect([&] { AddDocuments(Encoder(), Index(), SourceOf(again), false, {}); },
         "f: the index has a document with this id; --update puts this one in its place (id b)");
  expect([&] { RemoveDocuments(Index(), {"a", "x"}, false); }, "no document has this id");
  RemoveDocuments(Index(), {"a"}, false);
  expect(
      [&] {
        RemoveDocuments(Index(), {"b", "a"}, false);
      },
      "this document has been removed already; nothing was removed");
  const RemoveReport report = RemoveDocuments(Index(), {"b", "a", "x"}, true);
  EXPECT_EQ(report.removed, 1u);
  EXPECT_EQ(report.missing, 2u);
  expect([&] { CompactIndex(Index(), {}); }, "all documents have been removed");
}

// What a folder holds: paths and bytes.
std::map<std::string, std::string> FilesOf(const std::filesystem::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    files[entry.path().lexically_relative(folder).native()] = ReadFile(entry.path());
  }
  return files;
}

TEST_F(DocumentIndexTest, WhatIsStoppedGoesOnToTheSameBytes) {
  Documents documents;
  for (int i = 0; i < 9000; ++i) documents[fmt::format("d{}", i)] = RandomDocument();  // 3 blocks
  Build(documents);
  const auto whole = FilesOf(Index());
  std::filesystem::remove_all(Index());
  // Stops while documents are read, then behind the first block, then behind the second.
  for (const int asked_before : {3, 9, 0}) {
    int asked = 0;
    EXPECT_THROW(Build(documents, {.stop = [&] { return ++asked > asked_before ? 15 : 0; }}),
                 Interrupted);
    EXPECT_FALSE(IsIndex(Index()));
  }
  const BuildReport report = BuildIndex(Encoder(), Index(), SourceOf(documents), Wanted(), {});
  EXPECT_EQ(report.resumed, 8192u);
  EXPECT_EQ(report.counts.texts, 808u);
  EXPECT_EQ(FilesOf(Index()), whole);
}

// Killed when the segment has its name and index.json does not know it yet.
TEST_F(DocumentIndexTest, ASegmentThatNobodyNamesIsTakenUpAgain) {
  Documents documents = {{"a", {"alpha", {}, "en"}}, {"b", {"beta", {}, "en"}}};
  NewIndex wanted = Wanted();
  const auto choose = wanted.choose;
  std::filesystem::path work;
  wanted.choose = [&](size_t rows, size_t width) {
    for (const auto& entry : std::filesystem::directory_iterator(Index())) {
      if (entry.is_directory()) work = entry.path();
    }
    std::filesystem::copy(work, folder_.path() / "kept", std::filesystem::copy_options::recursive);
    return choose(rows, width);
  };
  BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
  const auto whole = FilesOf(Index());
  std::filesystem::remove_all(Index());
  std::filesystem::create_directories(Index());
  WriteFileAtomically(Index() / "lock", "");  // the first thing that a change makes
  std::filesystem::rename(folder_.path() / "kept", Index() / SegmentName(1));
  // The source is not asked: its documents have been read.
  BuildIndex(Encoder(), Index(), {[](data::InputText*) { return false; }, 1}, Wanted(), {});
  EXPECT_EQ(FilesOf(Index()), whole);
}

TEST_F(DocumentIndexTest, ManySmallSegmentsBecomeOne) {
  Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  for (size_t i = 1; i <= kMostSmallSegments; ++i) {
    EXPECT_EQ(JoinSmallSegments(Index(), kMostSmallSegments, {}).segments, 0u);
    const Documents one = {{fmt::format("b{}", i), {"beta", {}, "en"}}};
    AddDocuments(Encoder(), Index(), SourceOf(one), false, {});
  }
  const MergeReport report = JoinSmallSegments(Index(), kMostSmallSegments, {});
  EXPECT_EQ(report.segments, kMostSmallSegments + 1);
  EXPECT_EQ(report.documents, kMostSmallSegments + 1);
  EXPECT_EQ(ReadManifest(Index()).segments.size(), 1u);
}

// Standard input may be another one than the first time.
TEST_F(DocumentIndexTest, DocumentsOfAnUnknownSourceAreReadAnew) {
  const Documents first = {{"a", {"alpha", {}, "en"}}}, second = {{"b", {"beta", {}, "en"}}};
  DocumentSource source = SourceOf(first);
  source.hash = 0;
  int asked = 0;
  EXPECT_THROW(BuildIndex(Encoder(), Index(), source, Wanted(),
                          {.stop = [&] { return ++asked > 1 ? 15 : 0; }}),
               Interrupted);
  source = SourceOf(second);
  source.hash = 0;
  BuildIndex(Encoder(), Index(), source, Wanted(), {});
  EXPECT_EQ(DocumentIndex::Open(Index())->id(0), "b");
}

TEST_F(DocumentIndexTest, AnOpenIndexGoesOnWithWhatItHas) {
  Documents documents;
  for (int i = 0; i < 30; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
  Build(documents);
  const auto index = DocumentIndex::Open(Index());
  const std::vector<float> query = Embed({"alpha"});
  const auto before = index->Search({.queries = query.data(), .count = 1, .k = 5});
  NewIndex wanted = Wanted();
  wanted.replace = true;
  wanted.texts = false;
  const Documents others = {{"x", {"beta", {}, "en"}}};
  BuildIndex(Encoder(), Index(), SourceOf(others), wanted, {});
  const auto after = index->Search({.queries = query.data(), .count = 1, .k = 5});
  ASSERT_EQ(after[0].size(), 5u);
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(after[0][i].document, before[0][i].document);
  EXPECT_EQ(index->text(0), documents.begin()->second.text);
  const auto replaced = DocumentIndex::Open(Index());
  EXPECT_EQ(replaced->info().documents, 1u);
  EXPECT_EQ(replaced->text(0), "");
}

TEST_F(DocumentIndexTest, OneWriterAtATime) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  Build(documents);
  const IndexLock lock(Index());
  try {
    RemoveDocuments(Index(), {"a"}, false);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("another process is changing this index"));
  }
  EXPECT_THROW(CompactIndex(Index(), {}), UsageError);
  EXPECT_THROW(AddDocuments(Encoder(), Index(), SourceOf(documents), true, {}), UsageError);
}

// A folder with nothing but a model in it is no index that was begun, and what its user puts into
// the folder of an index stays.
TEST_F(DocumentIndexTest, AModelInTheFolderOfTheIndexStays) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  for (const char* name : {"model", "model-000001", "segment-000007"}) {
    std::filesystem::remove_all(Index());
    WriteTinyModel(Index() / name);
    EXPECT_THROW(Build(documents), UsageError) << name;
    EXPECT_TRUE(std::filesystem::exists(Index() / name / "config.json")) << name;
  }
  std::filesystem::remove_all(Index());
  Build(documents);
  for (const char* name : {"model", "model-old", "segments", "work-mine"}) {
    WriteTinyModel(Index() / name);
  }
  AddDocuments(Encoder(), Index(), SourceOf({{"b", {"beta", {}, "en"}}}), false, {});
  CompactIndex(Index(), {});
  for (const char* name : {"model", "model-old", "segments", "work-mine"}) {
    EXPECT_TRUE(std::filesystem::exists(Index() / name / "config.json")) << name;
  }
}

// Kinds that cannot take rows out leave the marked ones out of what they find.
TEST_F(DocumentIndexTest, ApproximateKindsForgetWhatIsRemoved) {
  for (const char* kind : {"hnsw", "ivf_flat", "ivf_pq"}) {
    std::filesystem::remove_all(Index());
    NewIndex wanted = Wanted();
    wanted.choose = [kind](size_t, size_t) {
      const IndexKindInfo& info = FindIndexKind(kind);
      return KindChoice{&info, config::Params(info.params)};
    };
    Documents documents;
    for (int i = 0; i < 300; ++i) documents[fmt::format("d{}", i)] = RandomDocument();
    BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
    std::vector<std::string> ids;
    for (int i = 0; i < 300; i += 3) ids.push_back(fmt::format("d{}", i));
    RemoveDocuments(Index(), ids, false);
    for (const std::string& id : ids) documents.erase(id);
    ExpectSearch(documents, 1000, {});
    ExpectSearch(documents, 1000, {{"lang", Comparison::kEqual, std::string("en")}});
    const Documents more = {{"d3", {"alpha", {}, "en"}}, {"new", {"beta", {}, "en"}}};
    AddDocuments(Encoder(), Index(), SourceOf(more), false, {});
    documents.insert(more.begin(), more.end());
    ExpectSearch(documents, 1000, {});
    EXPECT_EQ(ReadManifest(Index()).segments.back().choice.kind->name, "fp32");
    CompactIndex(Index(), {});
    EXPECT_EQ(ReadManifest(Index()).segments.front().choice.kind->name, kind);
    ExpectSearch(documents, 1000, {});
    if (HasFailure()) FAIL() << kind;
  }
}

TEST_F(DocumentIndexTest, ParametersThatDoNotFitTheModelAreRefusedBeforeEncoding) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  NewIndex wanted = Wanted();
  wanted.choose = [](size_t, size_t) {
    const IndexKindInfo& kind = FindIndexKind("ivf_pq");
    config::Params params(kind.params);
    EXPECT_EQ(params.Set("code_bytes", int64_t{5}), "");
    return KindChoice{&kind, params};
  };
  EXPECT_THROW(BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {}), UsageError);
  for (const auto& [name, bytes] : FilesOf(Index())) EXPECT_THAT(name, Not(HasSubstr("vectors")));
}

TEST_F(DocumentIndexTest, TheModelOfAnIndexThatIsReplacedIsCopiedOrRefused) {
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  NewIndex wanted = Wanted();
  wanted.copy_model = true;
  WriteFileAtomically(folder_.path() / "model" / "how it was made (é).md", "well");
  BuildIndex(Encoder(), Index(), SourceOf(documents), wanted, {});
  const std::filesystem::path copy = DocumentIndex::Open(Index())->info().model.path;
  EXPECT_EQ(ReadFile(copy / "how it was made (é).md"), "well");
  const IndexEncoder of_copy{*model_, {}, DescribeModel(*model_, copy, {}, {})};
  wanted.replace = true;
  wanted.copy_model = false;
  EXPECT_THROW(BuildIndex(of_copy, Index(), SourceOf(documents), wanted, {}), UsageError);
  EXPECT_TRUE(std::filesystem::exists(copy / "config.json"));
  wanted.copy_model = true;
  BuildIndex(of_copy, Index(), SourceOf(documents), wanted, {});
  const IndexInfo info = DocumentIndex::Open(Index())->info();
  EXPECT_NE(info.model.path, copy.native());
  EXPECT_FALSE(std::filesystem::exists(copy));
  EXPECT_NO_THROW(LoadIndexModel(info, LoadOptionsOf(info.model)));
}

TEST_F(DocumentIndexTest, AFolderOfOtherThingsIsLeftAlone) {
  std::filesystem::create_directories(Index());
  WriteFileAtomically(Index() / "letter.txt", "dear");
  const Documents documents = {{"a", {"alpha", {}, "en"}}};
  EXPECT_THROW(Build(documents), UsageError);
  EXPECT_EQ(FilesOf(Index()).size(), 1u);
  EXPECT_THROW(DocumentIndex::Open(Index()), DataError);
  EXPECT_THROW(DocumentIndex::Open(folder_.path() / "nowhere"), DataError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "nowhere"));
}

}  // namespace
}  // namespace tandem::index
