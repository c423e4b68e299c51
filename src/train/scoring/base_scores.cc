#include "train/scoring/base_scores.h"

#include <algorithm>
#include <chrono>
#include <unordered_set>
#include <utility>

#include "search/scoring/pair_scores.h"
#include "tensor/core/tensor.h"
#include "train/seconds_since.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

// Calls body(judged) for each paired document of query q.
template <typename Body>
void ForPool(const PairSource& source, size_t q, const Body& body) {
  if (source.graded_own) {
    for (const auto& judged : source.examples.judged(q)) body(judged);
  } else {
    for (const auto& judged : source.examples.positives(q)) body(judged);
  }
}

// Lists of row numbers, one list for each query.
struct Lists {
  std::vector<size_t> starts = {0};
  std::vector<uint32_t> rows;

  search::RowLists view() const { return {starts, rows}; }
};

// The documents of all pairs, each once, in the order of their first pairs.
class PairDocuments {
 public:
  explicit PairDocuments(const PairSource& source) : place_(source.documents.size(), kNone) {
    for (size_t q = 0; q < source.examples.size(); ++q) {
      ForPool(source, q, [&](const auto& judged) {
        if (place_[judged.document] != kNone) return;
        place_[judged.document] = static_cast<uint32_t>(documents_.size());
        documents_.push_back(judged.document);
      });
    }
  }

  size_t size() const { return documents_.size(); }
  uint32_t operator[](size_t place) const { return documents_[place]; }
  bool has(uint32_t document) const { return place_[document] != kNone; }
  uint32_t place(uint32_t document) const { return place_[document]; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> place_;  // [corpus] index in documents_
  std::vector<uint32_t> documents_;
};

void SortedOnce(std::vector<uint32_t>& rows, size_t first) {
  const auto begin = rows.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(begin, rows.end());
  rows.erase(std::unique(begin, rows.end()), rows.end());
}

Lists PairRows(const PairSource& source, const PairDocuments& documents,
               std::span<const uint32_t> row_of) {
  Lists lists;
  for (size_t q = 0; q < source.examples.size(); ++q) {
    ForPool(source, q, [&](const auto& judged) {
      lists.rows.push_back(row_of[documents.place(judged.document)]);
    });
    lists.starts.push_back(lists.rows.size());
  }
  return lists;
}

// Returns for each distinct query text the rows of documents that are relevant for any query with
// that text.
Lists RelevantRows(const PairSource& source, const PairDocuments& documents,
                   const search::CachedEmbeddings& queries, std::span<const uint32_t> row_of) {
  std::vector<std::vector<uint32_t>> of_text(queries.distinct());
  for (size_t q = 0; q < source.examples.size(); ++q) {
    std::vector<uint32_t>& rows = of_text[queries.row_of[q]];
    const auto add = [&](const auto& judged) {
      if (documents.has(judged.document)) rows.push_back(row_of[documents.place(judged.document)]);
    };
    for (const auto& judged : source.examples.positives(q)) add(judged);
    for (const auto& judged : source.examples.known(q)) {
      if (judged.grade > 0) add(judged);
    }
  }
  Lists lists;
  for (std::vector<uint32_t>& rows : of_text) {
    lists.rows.insert(lists.rows.end(), rows.begin(), rows.end());
    std::vector<uint32_t>().swap(rows);
    SortedOnce(lists.rows, lists.starts.back());
    lists.starts.push_back(lists.rows.size());
  }
  return lists;
}

std::vector<uint32_t> PositiveRows(const PairSource& source, const PairDocuments& documents,
                                   std::span<const uint32_t> row_of) {
  std::vector<uint32_t> rows;
  for (size_t q = 0; q < source.examples.size(); ++q) {
    for (const auto& judged : source.examples.positives(q)) {
      rows.push_back(row_of[documents.place(judged.document)]);
    }
  }
  SortedOnce(rows, 0);
  return rows;
}

// The texts of one kind that scoring encodes; equal texts may occur in them.
struct TextsToEncode {
  model::TextKind kind;
  size_t count;
  search::TextSource text;
  search::PromptSource prompt;  // null: the model's prompt
};

TextsToEncode QueryTexts(const PairSource& source) {
  TextsToEncode texts{model::TextKind::kQuery, source.query_texts.size(),
                      [&source](size_t i) { return source.queries.text(source.query_texts[i]); },
                      nullptr};
  if (!source.query_prompt) return texts;
  texts.prompt = [&source](size_t i) { return source.query_prompt(source.query_texts[i]); };
  return texts;
}

// `documents` must outlive the result.
TextsToEncode DocumentTexts(const PairSource& source, const PairDocuments& documents) {
  TextsToEncode texts{model::TextKind::kDocument, documents.size(),
                      [&](size_t i) { return source.documents.text(documents[i]); }, nullptr};
  if (!source.document_prompt) return texts;
  texts.prompt = [&](size_t i) { return source.document_prompt(documents[i]); };
  return texts;
}

// Measures the seconds that encoding takes for each text, on a sample that is spread over the
// texts.
double SecondsPerText(model::DualEncoder& model, const TextsToEncode& texts,
                      const search::EncodeOptions& options) {
  constexpr size_t kSample = 64;
  const size_t sample = std::min(kSample, texts.count);
  const auto place = [&](size_t i) { return i * texts.count / sample; };
  search::EncodeOptions of_sample = options;
  of_sample.before = nullptr;
  if (texts.prompt) of_sample.prompt = [&](size_t i) { return texts.prompt(place(i)); };
  const auto encode = [&](size_t count) {
    search::EncodeTexts(
        model, texts.kind, count, [&](size_t i) { return texts.text(place(i)); }, of_sample,
        [](size_t /*first*/, const tensor::Tensor& /*rows*/) {});
  };
  encode(1);  // makes what is made only once
  const auto start = Clock::now();
  encode(sample);
  return SecondsSince(start) / static_cast<double>(sample);
}

search::CacheOptions CacheOf(const PairScoreOptions& options, const TextsToEncode& texts,
                             const char* label) {
  search::CacheOptions cache = options.cache;
  cache.encode.prompt = texts.prompt;
  cache.encode.label = options.progress ? label : "";
  return cache;
}

}  // namespace

PairScores ScorePairs(model::DualEncoder& model, const PairSource& source,
                      const PairScoreOptions& options) {
  const auto start = Clock::now();
  const auto embed = [&](const TextsToEncode& texts, const char* label) {
    return search::EmbedDistinct(model, texts.kind, texts.count, texts.text,
                                 CacheOf(options, texts, label));
  };
  const PairDocuments wanted(source);
  const search::CachedEmbeddings queries = embed(QueryTexts(source), "encode queries");
  const search::CachedEmbeddings documents =
      embed(DocumentTexts(source, wanted), "encode documents");
  PairScores scores{.query_counts = queries.counts,
                    .document_counts = documents.counts,
                    .encode_seconds = SecondsSince(start)};
  if (!dist::Leads(options.cache.encode.group)) return scores;
  const Lists pairs = PairRows(source, wanted, documents.row_of);
  const search::EmbeddedPairs embedded{queries.rows, documents.rows, queries.row_of, pairs.view()};
  scores.cosines = search::PairCosines(embedded);
  if (options.consistency) {
    const Lists relevant = RelevantRows(source, wanted, queries, documents.row_of);
    scores.reciprocal_ranks = search::ReciprocalRanks(
        embedded, relevant.view(), PositiveRows(source, wanted, documents.row_of),
        {.seed = options.seed, .between_rounds = options.cache.between_blocks});
  }
  scores.seconds = SecondsSince(start);
  return scores;
}

bool HasCandidates(const PairSource& source) {
  const sampling::Examples& examples = source.examples;
  std::unordered_set<uint64_t> own;  // hashes of texts that are no candidates for query q
  const auto has_others = [&](size_t q) {
    for (const auto& judged : examples.positives(q)) {
      if (!own.contains(examples.document_hash(judged.document))) return true;
    }
    return false;
  };
  for (size_t q = 0; q < examples.size(); ++q) {
    own.clear();
    const auto add = [&](const auto& judged) {
      own.insert(examples.document_hash(judged.document));
    };
    ForPool(source, q, add);
    for (size_t same = 0; same < examples.size(); ++same) {
      if (examples.query_hash(same) != examples.query_hash(q)) continue;
      for (const auto& judged : examples.positives(same)) add(judged);
      for (const auto& judged : examples.known(same)) {
        if (judged.grade > 0) add(judged);
      }
    }
    // The first other query has such a document, unless the positives of all queries are among
    // these texts.
    for (size_t other = 0; other < examples.size(); ++other) {
      if (has_others(other)) return true;
    }
  }
  return false;
}

PairScoreWork WorkOfScoring(model::DualEncoder& model, const PairSource& source,
                            const PairScoreOptions& options) {
  const PairDocuments wanted(source);
  PairScoreWork work;
  for (size_t q = 0; q < source.examples.size(); ++q) {
    ForPool(source, q, [&](const auto&) { ++work.pairs; });
  }
  for (const TextsToEncode& texts : {QueryTexts(source), DocumentTexts(source, wanted)}) {
    const search::CacheState state = search::LookIntoCache(model, texts.kind, texts.count,
                                                           texts.text, CacheOf(options, texts, ""));
    work.texts += state.distinct;
    work.kept += state.kept;
    if (state.kept == state.distinct) continue;
    work.seconds += static_cast<double>(state.distinct - state.kept) *
                    SecondsPerText(model, texts, options.cache.encode);
  }
  return work;
}

}  // namespace tandem::train
