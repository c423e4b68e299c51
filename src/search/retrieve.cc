#include "search/retrieve.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "search/kept_embeddings.h"
#include "search/score_samples.h"

namespace tandem::search {
namespace {

using model::TextKind;

EncodeOptions OptionsFor(TextKind kind, const RetrieveOptions& options) {
  const bool query = kind == TextKind::kQuery;
  EncodeOptions encode = options.encode;
  encode.label = !options.report ? "" : query ? "encode queries" : "encode documents";
  encode.prompt = query ? options.query_prompt : options.document_prompt;
  return encode;
}

void Report(const model::DualEncoder& model, TextKind kind, const EncodeCounts& counts,
            const RetrieveOptions& options) {
  if (!options.report) return;
  ReportCounts(counts, kind == TextKind::kQuery ? "queries" : "documents", model.max_tokens(kind));
}

at::Tensor EncodeQueries(model::DualEncoder& model, size_t count, const TextSource& text,
                         const RetrieveOptions& options) {
  const at::Tensor all =
      at::empty({static_cast<int64_t>(count), model.embedding_width()}, at::kFloat);
  const EncodeCounts counts =
      EncodeTexts(model, TextKind::kQuery, count, text, OptionsFor(TextKind::kQuery, options),
                  [&](size_t first, const at::Tensor& rows) {
                    all.narrow(0, static_cast<int64_t>(first), rows.size(0)).copy_(rows);
                  });
  Report(model, TextKind::kQuery, counts, options);
  return RowsFor(all, model.similarity());
}

// Feeds all documents to an exact search, window by window.
class DocumentSearch {
 public:
  DocumentSearch(model::DualEncoder& model, const data::Texts& documents,
                 const RetrieveOptions& options, ExactSearch* search)
      : model_(model), documents_(documents), options_(options), search_(search) {}

  void Run() {
    const EncodeCounts counts = options_.embeddings.empty() ? SearchEncoded() : SearchKept();
    Report(model_, TextKind::kDocument, counts, options_);
  }

 private:
  // `rows` are those of documents from `first` on.
  void Add(size_t first, const at::Tensor& rows) {
    if (options_.progress) {
      options_.progress(static_cast<double>(first) / static_cast<double>(documents_.size()));
    }
    search_->Add(RowsFor(rows, model_.similarity()));
  }

  EncodeCounts SearchEncoded() {
    return EncodeTexts(
        model_, TextKind::kDocument, documents_.size(),
        [this](size_t i) { return documents_.text(i); }, OptionsFor(TextKind::kDocument, options_),
        [this](size_t first, const at::Tensor& rows) { Add(first, rows); });
  }

  EncodeCounts SearchKept() {
    EncodeCounts counts;
    const std::string source =
        SourceOf(model_, TextKind::kDocument, documents_, options_.encode.precision);
    std::optional<at::Tensor> rows =
        ReadKept(options_.embeddings, source, documents_.size(), model_.embedding_width());
    if (!rows) {
      CheckWritableForKept(options_.embeddings);
      rows = EncodeAll(model_, TextKind::kDocument, documents_,
                       OptionsFor(TextKind::kDocument, options_), &counts);
      WriteKept(options_.embeddings, source, documents_, *rows);
    }
    AddInWindows(*rows);
    return counts;
  }

  // Normalises some rows at a time, so that all embeddings are in memory once.
  void AddInWindows(const at::Tensor& rows) {
    constexpr int64_t kWindow = 16384;
    for (int64_t first = 0; first < rows.size(0); first += kWindow) {
      const int64_t count = std::min(kWindow, rows.size(0) - first);
      Add(static_cast<size_t>(first), rows.narrow(0, first, count));
    }
  }

  model::DualEncoder& model_;
  const data::Texts& documents_;
  const RetrieveOptions& options_;
  ExactSearch* search_;
};

// The documents of each query that are positives at options.relevance_level; none without one.
std::vector<std::vector<uint32_t>> Positives(const RetrievalTask& task,
                                             const RetrieveOptions& options) {
  std::vector<std::vector<uint32_t>> positives(task.judged.size());
  if (!(options.relevance_level > 0)) return positives;
  for (size_t i = 0; i < positives.size(); ++i) {
    positives[i] = PositivesOf(task.judged[i], options.relevance_level);
  }
  return positives;
}

Retrieved Collect(const RetrievalTask& task, const std::vector<QueryHits>& found,
                  const std::vector<std::vector<uint32_t>>& positives,
                  const RetrieveOptions& options) {
  Retrieved retrieved;
  for (size_t i = 0; i < task.judged.size(); ++i) {
    const std::string_view query = task.queries.id(task.judged[i].query);
    data::QueryResults& results = retrieved.run.AddQuery(query);
    const size_t count = std::min(options.top_k, found[i].hits.size());
    for (size_t h = 0; h < count; ++h) {
      const Hit& hit = found[i].hits[h];
      results.results.push_back({task.documents.id(hit.document), hit.score});
    }
    if (options.relevance_level > 0) {
      retrieved.samples.push_back(SamplesOf(query, found[i], positives[i]));
    }
  }
  return retrieved;
}

}  // namespace

Retrieved Retrieve(model::DualEncoder& model, const RetrievalTask& task,
                   const RetrieveOptions& options) {
  if (!options.embeddings.empty()) CheckUsableForKept(options.embeddings);
  const at::Tensor queries = EncodeQueries(
      model, task.judged.size(), [&](size_t i) { return task.queries.text(task.judged[i].query); },
      options);
  const std::vector<std::vector<uint32_t>> positives = Positives(task, options);
  size_t depth = options.top_k;
  if (options.relevance_level > 0) {
    for (const std::vector<uint32_t>& of_query : positives) {
      depth = std::max(depth, eval::kNegativesPerQuery + of_query.size());
    }
  }
  ExactSearch search(queries, depth, task.documents);
  if (options.relevance_level > 0) search.Watch(positives);
  DocumentSearch(model, task.documents, options, &search).Run();
  return Collect(task, search.Take(), positives, options);
}

std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model, const data::Texts& documents,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options) {
  if (!options.embeddings.empty()) CheckUsableForKept(options.embeddings);
  const at::Tensor rows = EncodeQueries(
      model, queries.size(), [&](size_t i) -> std::string_view { return queries[i]; }, options);
  ExactSearch search(rows, options.top_k, documents);
  DocumentSearch(model, documents, options, &search).Run();
  return search.Take();
}

}  // namespace tandem::search
