#include "search/retrieval/retrieve.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "embeddings/layouts/kept.h"
#include "search/encoding/embedding_cache.h"
#include "search/encoding/encoding_source.h"
#include "search/encoding/mapped_tensor.h"
#include "search/retrieval/model_parts.h"
#include "search/scoring/score_samples.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

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

// Several processes use no cache, since each would need the rows of all.
CacheOptions CacheFor(TextKind kind, const RetrieveOptions& options) {
  return {.folder = dist::IsShared(options.encode.group) ? std::filesystem::path() : options.cache,
          .encode = OptionsFor(kind, options)};
}

tensor::Tensor EncodeQueries(model::DualEncoder& model, size_t count, const TextSource& text,
                             const RetrieveOptions& options) {
  const CachedEmbeddings cached =
      EmbedDistinct(model, TextKind::kQuery, count, text, CacheFor(TextKind::kQuery, options));
  Report(model, TextKind::kQuery, cached.counts, options);
  return RowsFor(cached.RowsOf(0, count), model.similarity());
}

// Feeds all documents to an exact search, window by window.
class DocumentSearch {
 public:
  DocumentSearch(model::DualEncoder& model, const data::Texts& documents,
                 const RetrieveOptions& options, ExactSearch* search)
      : model_(model), documents_(documents), options_(options), search_(search) {}

  void Run() {
    if (embeddings::EmbeddingParts::AreIn(options_.embeddings)) return SearchParts();
    if (!options_.embeddings.empty()) return SearchKept();
    const EncodeCounts counts = EmbedInOrder(
        model_, TextKind::kDocument, documents_.size(),
        [this](size_t i) { return documents_.text(i); }, CacheFor(TextKind::kDocument, options_),
        [this](size_t first, const tensor::Tensor& rows) { Add(first, rows); });
    Report(model_, TextKind::kDocument, counts, options_);
  }

 private:
  // `rows` are those of documents from `first` on.
  void Add(size_t first, const tensor::Tensor& rows) {
    if (options_.progress) {
      options_.progress(static_cast<double>(first) / static_cast<double>(documents_.size()));
    }
    const tensor::Tensor searched = RowsFor(rows, model_.similarity());
    search_->Add(searched);
    if (options_.keep == nullptr) return;
    // `rows` may be memory that its owner uses again.
    options_.keep->documents.push_back(searched.is_same(rows) ? searched.clone() : searched);
  }

  void SearchKept() {
    EncodeCounts counts;
    const auto width = static_cast<size_t>(model_.embedding_width());
    const embeddings::Provenance source =
        KeptSource(model_, TextKind::kDocument, documents_, options_.encode.precision);
    tensor::Tensor rows;
    if (auto kept = embeddings::ReadKept(options_.embeddings, source, documents_.size(), width)) {
      rows = TensorOf(*std::move(kept));
    } else {
      embeddings::CheckWritableForKept(options_.embeddings);
      rows = EncodeAll(model_, TextKind::kDocument, documents_,
                       OptionsFor(TextKind::kDocument, options_), &counts);
      embeddings::WriteKept(options_.embeddings, source,
                            {.values = {rows.data_ptr<float>(), static_cast<size_t>(rows.numel())},
                             .width = width,
                             .id = [this](size_t row) { return documents_.id(row); }});
    }
    AddInWindows([&rows](size_t first, size_t count) {
      return rows.narrow(0, static_cast<int64_t>(first), static_cast<int64_t>(count));
    });
    Report(model_, TextKind::kDocument, counts, options_);
  }

  // Searches a folder of parts, one of which is mapped at a time.
  void SearchParts() {
    const embeddings::EmbeddingParts parts =
        OpenPartsFor(options_.embeddings, model_, TextKind::kDocument, options_.encode);
    parts.CheckCount(documents_.size(), "documents of the corpus");
    if (options_.report) NoteParts(parts);
    PartReader reader(parts, ExpectedOf(documents_), options_.encode.threads);
    AddInWindows([&reader](size_t first, size_t count) { return reader.Rows(first, count); });
  }

  // Normalises some rows at a time, so that all embeddings are in memory once. `rows` gives those
  // of some documents.
  void AddInWindows(const std::function<tensor::Tensor(size_t first, size_t count)>& rows) {
    const size_t window = options_.encode.window_texts;
    for (size_t first = 0; first < documents_.size(); first += window) {
      ThrowIfStopped(options_.encode.stop);
      Add(first, rows(first, std::min(window, documents_.size() - first)));
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
      results.results.push_back({task.ranked().id(hit.document), hit.score});
    }
    if (options.relevance_level > 0) {
      retrieved.samples.push_back(SamplesOf(query, found[i], positives[i]));
    }
  }
  return retrieved;
}

bool IsRelevant(const data::JudgedQuery& query, uint32_t document) {
  return std::any_of(query.judgements.begin(), query.judgements.end(),
                     [&](const auto& one) { return one.document == document && one.grade > 0; });
}

// The document with the query's id; none where there is none, or where it is relevant.
std::optional<uint32_t> DocumentOfItsId(const RetrievalTask& task, const data::JudgedQuery& query) {
  const auto document = task.ranked().Find(task.queries.id(query.query));
  return document && !IsRelevant(query, *document) ? document : std::nullopt;
}

// Takes the documents with their query's id out of the hits.
void LeaveOutIdenticalIds(const RetrievalTask& task, std::vector<QueryHits>& found) {
  for (size_t i = 0; i < found.size(); ++i) {
    const auto left_out = DocumentOfItsId(task, task.judged[i]);
    if (!left_out) continue;
    std::erase_if(found[i].hits, [&](const Hit& hit) { return hit.document == *left_out; });
  }
}

// A folder of embeddings holds parts, or those that a search keeps there.
void CheckEmbeddings(const RetrieveOptions& options) {
  if (options.embeddings.empty() || embeddings::EmbeddingParts::AreIn(options.embeddings)) return;
  embeddings::CheckUsableForKept(options.embeddings);
}

tensor::Tensor EncodeTextQueries(model::DualEncoder& model, std::span<const std::string> queries,
                                 const RetrieveOptions& options) {
  CheckEmbeddings(options);
  RetrieveOptions of_queries = options;
  of_queries.cache.clear();  // each text that somebody asks would be a file of its own
  return EncodeQueries(
      model, queries.size(), [&](size_t i) -> std::string_view { return queries[i]; }, of_queries);
}

}  // namespace

Retrieved Retrieve(model::DualEncoder& model, const RetrievalTask& task,
                   const RetrieveOptions& options) {
  CheckEmbeddings(options);
  const tensor::Tensor queries = EncodeQueries(
      model, task.judged.size(), [&](size_t i) { return task.queries.text(task.judged[i].query); },
      options);
  const std::vector<std::vector<uint32_t>> positives = Positives(task, options);
  size_t depth = options.top_k;
  if (options.relevance_level > 0) {
    for (const std::vector<uint32_t>& of_query : positives) {
      depth = std::max(depth, eval::kNegativesPerQuery + of_query.size());
    }
  }
  if (options.ignore_identical_ids) ++depth;
  if (options.keep != nullptr) options.keep->queries = queries;
  ExactSearch search = task.groups == nullptr ? ExactSearch(queries, depth, task.documents)
                                              : ExactSearch(queries, depth, *task.groups);
  if (options.relevance_level > 0) search.Watch(positives);
  DocumentSearch(model, task.documents, options, &search).Run();
  std::vector<QueryHits> found = search.Take();
  if (options.ignore_identical_ids) LeaveOutIdenticalIds(task, found);
  return Collect(task, found, positives, options);
}

QueriesInCorpus CountQueriesInCorpus(const RetrievalTask& task) {
  QueriesInCorpus count;
  std::unordered_map<uint64_t, std::vector<size_t>> by_text;  // of task.judged
  const auto query_hashes = task.queries.hashes(), document_hashes = task.documents.hashes();
  for (size_t i = 0; i < task.judged.size(); ++i) {
    count.by_id += DocumentOfItsId(task, task.judged[i]) ? 1 : 0;
    by_text[(*query_hashes)[task.judged[i].query]].push_back(i);
  }
  std::vector<bool> has_text(task.judged.size()), is_relevant(task.judged.size());
  for (uint32_t d = 0; d < task.documents.size(); ++d) {
    const auto queries = by_text.find((*document_hashes)[d]);
    if (queries == by_text.end()) continue;
    for (const size_t i : queries->second) {
      const data::JudgedQuery& query = task.judged[i];
      const uint32_t ranked = task.groups == nullptr ? d : task.groups->document_of[d];
      is_relevant[i] = is_relevant[i] || IsRelevant(query, ranked);
      has_text[i] = has_text[i] || task.ranked().id(ranked) != task.queries.id(query.query);
    }
  }
  for (size_t i = 0; i < has_text.size(); ++i) count.by_text += has_text[i] && !is_relevant[i];
  return count;
}

std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model, const data::Texts& documents,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options) {
  const tensor::Tensor rows = EncodeTextQueries(model, queries, options);
  ExactSearch search(rows, options.top_k, documents);
  DocumentSearch(model, documents, options, &search).Run();
  return search.Take();
}

std::vector<QueryHits> RetrieveForTexts(model::DualEncoder& model,
                                        const data::PassageGroups& groups,
                                        std::span<const std::string> queries,
                                        const RetrieveOptions& options) {
  const tensor::Tensor rows = EncodeTextQueries(model, queries, options);
  ExactSearch search(rows, options.top_k, groups);
  DocumentSearch(model, groups.passages, options, &search).Run();
  return search.Take();
}

}  // namespace tandem::search
