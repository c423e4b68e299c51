#include "search/retrieval/view_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "search/encoding/embedding_cache.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

using model::TextKind;

// The document that ranks first, whatever order the results are in.
uint32_t BestDocument(const data::QueryResults& results, const data::Texts& documents) {
  const auto best = std::max_element(
      results.results.begin(), results.results.end(), [](const auto& a, const auto& b) {
        return a.score != b.score ? a.score < b.score : a.document < b.document;
      });
  const std::optional<uint32_t> document = documents.Find(best->document);
  if (!document) {
    throw std::logic_error(
        fmt::format("document {} of the run is not in the data set", best->document));
  }
  return *document;
}

std::optional<uint32_t> BestPositive(const data::JudgedQuery& judged, double relevance_level) {
  const data::Judgement* best = nullptr;
  for (const data::Judgement& judgement : judged.judgements) {
    if (judgement.grade < relevance_level) continue;
    if (best == nullptr || judgement.grade > best->grade ||
        (judgement.grade == best->grade && judgement.document < best->document)) {
      best = &judgement;
    }
  }
  if (best == nullptr) return std::nullopt;
  return best->document;
}

CachedEmbeddings Embed(model::DualEncoder& model, TextKind kind, const data::Texts& texts,
                       const std::vector<uint32_t>& which, const ViewRowOptions& options) {
  EncodeOptions encode = options.encode;
  const bool is_query = kind == TextKind::kQuery;
  encode.label = is_query ? "queries for views" : "documents for views";
  return EmbedDistinct(model, kind, which.size(), [&](size_t i) { return texts.text(which[i]); },
                       {.folder = options.cache, .encode = encode});
}

eval::EmbeddingRows View(const tensor::Tensor& rows) {
  return {.values = {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())},
          .width = static_cast<size_t>(rows.size(1))};
}

}  // namespace

eval::ViewRows ViewEmbeddings::rows() const {
  return {.queries = View(queries),
          .nearest = View(nearest),
          .positives = View(positives),
          .positive_queries = positive_queries};
}

ViewEmbeddings EncodeForViews(model::DualEncoder& model, const data::Dataset& dataset,
                              const data::Run& run, const ViewRowOptions& options) {
  std::vector<uint32_t> answered;  // of dataset.judged
  for (uint32_t i = 0; i < dataset.judged.size(); ++i) {
    const data::QueryResults* results = run.Find(dataset.queries.id(dataset.judged[i].query));
    if (results != nullptr && !results->results.empty()) answered.push_back(i);
  }
  ViewEmbeddings found;
  std::vector<uint32_t> queries, documents, positives;
  for (const uint32_t at :
       eval::SampleOf(answered.size(), options.most_queries, options.seed, "queries of views")) {
    const data::JudgedQuery& judged = dataset.judged[answered[at]];
    if (const auto positive = BestPositive(judged, options.relevance_level)) {
      found.positive_queries.push_back(static_cast<uint32_t>(found.judged.size()));
      positives.push_back(*positive);
    }
    found.judged.push_back(answered[at]);
    queries.push_back(judged.query);
    documents.push_back(
        BestDocument(*run.Find(dataset.queries.id(judged.query)), dataset.documents));
  }
  documents.insert(documents.end(), positives.begin(), positives.end());
  found.queries =
      Embed(model, TextKind::kQuery, dataset.queries, queries, options).RowsOf(0, queries.size());
  const CachedEmbeddings of_documents =
      Embed(model, TextKind::kDocument, dataset.documents, documents, options);
  found.nearest = of_documents.RowsOf(0, queries.size());
  found.positives = of_documents.RowsOf(queries.size(), positives.size());
  return found;
}

}  // namespace tandem::search
