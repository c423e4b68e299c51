#include "search/retrieve.h"

#include <algorithm>

#include "search/kept_embeddings.h"
#include "search/score_samples.h"

namespace tandem::search {
namespace {

using model::TextKind;

EncodeOptions Labelled(const RetrieveOptions& options, const char* label) {
  EncodeOptions encode = options.encode;
  encode.label = options.progress ? label : "";
  return encode;
}

at::Tensor EncodeQueries(model::DualEncoder& model, size_t count, const TextSource& text,
                         const RetrieveOptions& options) {
  data::Texts queries;
  for (size_t i = 0; i < count; ++i) queries.Add(std::to_string(i), text(i));
  EncodeCounts counts;
  const at::Tensor rows =
      EncodeAll(model, TextKind::kQuery, queries, Labelled(options, "encode queries"), &counts);
  ReportCounts(counts, "queries", model.max_tokens(TextKind::kQuery));
  return RowsFor(rows, model.similarity());
}

// Searches the next block of documents. `rows` may be memory that its owner uses again.
void AddRows(const at::Tensor& rows, std::string_view similarity, const RetrieveOptions& options,
             ExactSearch* search) {
  const at::Tensor searched = RowsFor(rows, similarity);
  search->Add(searched);
  if (options.keep == nullptr) return;
  options.keep->documents.push_back(searched.is_same(rows) ? searched.clone() : searched);
}

// Normalises some rows at a time, so that all embeddings are in memory once.
void AddInWindows(const at::Tensor& rows, std::string_view similarity,
                  const RetrieveOptions& options, ExactSearch* search) {
  constexpr int64_t kWindow = 16384;
  for (int64_t first = 0; first < rows.size(0); first += kWindow) {
    const int64_t count = std::min(kWindow, rows.size(0) - first);
    AddRows(rows.narrow(0, first, count), similarity, options, search);
  }
}

// Feeds all documents to `search`: from the kept embeddings, or encoded window by window.
void SearchDocuments(model::DualEncoder& model, const data::Texts& documents,
                     const RetrieveOptions& options, ExactSearch* search) {
  EncodeCounts counts;
  const EncodeOptions encode = Labelled(options, "encode documents");
  if (options.embeddings.empty()) {
    counts = EncodeTexts(
        model, TextKind::kDocument, documents.size(), [&](size_t i) { return documents.text(i); },
        encode,
        [&](size_t, const at::Tensor& rows) {
          AddRows(rows, model.similarity(), options, search);
        });
  } else {
    const std::string source =
        SourceOf(model, TextKind::kDocument, documents, options.encode.precision);
    std::optional<at::Tensor> rows =
        ReadKept(options.embeddings, source, documents.size(), model.embedding_width());
    if (!rows) {
      CheckWritableForKept(options.embeddings);
      rows = EncodeAll(model, TextKind::kDocument, documents, encode, &counts);
      WriteKept(options.embeddings, source, documents, *rows);
    }
    AddInWindows(*rows, model.similarity(), options, search);
  }
  ReportCounts(counts, "documents", model.max_tokens(TextKind::kDocument));
}

}  // namespace

Retrieved Retrieve(model::DualEncoder& model, const data::Dataset& dataset,
                   const RetrieveOptions& options) {
  if (!options.embeddings.empty()) CheckUsableForKept(options.embeddings);
  const auto& judged = dataset.judged;
  const at::Tensor queries = EncodeQueries(
      model, judged.size(), [&](size_t i) { return dataset.queries.text(judged[i].query); },
      options);
  std::vector<std::vector<uint32_t>> positives(judged.size());
  size_t depth = options.top_k;
  if (options.relevance_level > 0) {
    for (size_t i = 0; i < judged.size(); ++i) {
      positives[i] = PositivesOf(judged[i], options.relevance_level);
      depth = std::max(depth, eval::kNegativesPerQuery + positives[i].size());
    }
  }
  if (options.keep != nullptr) options.keep->queries = queries;
  ExactSearch search(queries, depth, dataset.documents);
  if (options.relevance_level > 0) search.Watch(positives);
  SearchDocuments(model, dataset.documents, options, &search);
  const std::vector<QueryHits> found = search.Take();
  Retrieved retrieved;
  for (size_t i = 0; i < judged.size(); ++i) {
    const std::string_view query = dataset.queries.id(judged[i].query);
    data::QueryResults& results = retrieved.run.AddQuery(query);
    const size_t count = std::min(options.top_k, found[i].hits.size());
    for (size_t h = 0; h < count; ++h) {
      const Hit& hit = found[i].hits[h];
      results.results.push_back({dataset.documents.id(hit.document), hit.score});
    }
    if (options.relevance_level > 0) {
      retrieved.samples.push_back(SamplesOf(query, found[i], positives[i]));
    }
  }
  return retrieved;
}

std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model, const data::Texts& documents,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options) {
  if (!options.embeddings.empty()) CheckUsableForKept(options.embeddings);
  const at::Tensor rows = EncodeQueries(
      model, queries.size(), [&](size_t i) -> std::string_view { return queries[i]; }, options);
  ExactSearch search(rows, options.top_k, documents);
  SearchDocuments(model, documents, options, &search);
  return search.Take();
}

}  // namespace tandem::search
