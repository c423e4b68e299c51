#include "data/line_summary.h"

#include <algorithm>

#include "base/text_hash.h"
#include "data/dataset_builder.h"
#include "data/empty_text.h"
#include "data/example_sink.h"
#include "data/flag_embedding.h"
#include "data/hash_sample.h"
#include "data/json_line.h"
#include "data/sentence_transformers.h"
#include "data/tevatron.h"

namespace tandem::data {
namespace {

// Counts the examples of a file and forgets their texts.
class CountingSink final : public ExampleSink {
 public:
  CountingSink(const LineReader& reader, LineSummary& summary)
      : reader_(reader), summary_(summary) {}

  uint32_t QueryOfText(std::string_view text, std::string_view) override {
    return BeginLine(TextHash(text), text);
  }
  uint32_t QueryOfId(std::string_view id, std::string_view text) override {
    return BeginLine(TextHash(id), text);
  }
  uint32_t DocumentOfText(std::string_view text, std::string_view) override {
    return Document(TextHash(text), text);
  }
  uint32_t DocumentOfId(std::string_view id, std::string_view text, size_t) override {
    return Document(TextHash(id), text);
  }

  void Judge(uint32_t, uint32_t document, double grade, double score) override {
    const bool is_positive = grade > 0;
    ++(is_positive ? positives_ : negatives_);
    Seen seen{.positive = is_positive, .negative = !is_positive};
    bool is_new = false;
    if (Seen* pair = pairs_.At(PairHash(query_, documents_of_line_[document]), &is_new)) {
      repeats_ += !is_new;
      pair->positive |= seen.positive;
      pair->negative |= seen.negative;
    }
    if (std::isnan(score)) return;
    const bool first = summary_.scored++ == 0;
    summary_.lowest_score = first ? score : std::min(summary_.lowest_score, score);
    summary_.highest_score = first ? score : std::max(summary_.highest_score, score);
  }

  void SetScoreKind(ScoreKind kind) override {
    if (summary_.scores != ScoreKind::kNone && summary_.scores != kind) {
      throw MixedScoreKinds(reader_, kind, summary_.scores);
    }
    summary_.scores = kind;
  }

  void CountIgnored(std::string_view key) override { ++summary_.ignored[std::string(key)]; }

  // Ends the last line and writes the totals.
  void Finish() {
    EndLine();
    if (summary_.lines == 0) throw DataError(reader_.file(), 0, "", "holds no example");
    summary_.queries = queries_.Estimate(queries_.size());
    summary_.documents = documents_.Estimate(documents_.size());
    summary_.is_exact = queries_.is_exact() && documents_.is_exact() && pairs_.is_exact();
    summary_.repeated_pairs = pairs_.Estimate(repeats_);
    summary_.contradicting_pairs =
        pairs_.EstimateIf([](const Seen& seen) { return seen.positive && seen.negative; });
  }

 private:
  struct Seen {
    bool positive = false;
    bool negative = false;
  };

  uint32_t BeginLine(uint64_t hash, std::string_view text) {
    EndLine();
    in_line_ = true;
    query_ = hash;
    queries_.At(hash);
    CountText(text);
    return 0;
  }
  uint32_t Document(uint64_t hash, std::string_view text) {
    documents_.At(hash);
    CountText(text);
    documents_of_line_.push_back(hash);
    return static_cast<uint32_t>(documents_of_line_.size() - 1);
  }
  void CountText(std::string_view text) {
    summary_.text_bytes += text.size();
    summary_.empty_texts += IsEmptyText(text) ? 1 : 0;
  }
  void EndLine() {
    if (!in_line_) return;
    in_line_ = false;
    ++summary_.lines;
    summary_.positives += positives_;
    summary_.negatives += negatives_;
    summary_.positives_per_line.Add(positives_);
    summary_.negatives_per_line.Add(negatives_);
    positives_ = negatives_ = 0;
    documents_of_line_.clear();
  }

  const LineReader& reader_;
  LineSummary& summary_;
  bool in_line_ = false;
  uint64_t query_ = 0;                       // of the line
  std::vector<uint64_t> documents_of_line_;  // their hashes
  uint64_t positives_ = 0;                   // of the line
  uint64_t negatives_ = 0;
  uint64_t repeats_ = 0;  // in the sample of pairs
  HashSample<Nothing> queries_;
  HashSample<Nothing> documents_;
  HashSample<Seen> pairs_;
};

std::string TypeOf(const JsonField& field) {
  const std::string_view name = KindName(field.kind);
  return std::string(name.starts_with("a ") ? name.substr(2) : name);
}

std::vector<LineColumn> ColumnsOf(const std::filesystem::path& path) {
  Warnings ignored;  // counted by the pass over the whole file
  LineReader reader(path, ignored);
  JsonLineParser parser;
  std::vector<LineColumn> columns;
  std::string_view line;
  for (uint64_t read = 0; read < LineSummary::kFirstLines && reader.Next(&line); ++read) {
    for (const JsonField& field : parser.Parse(reader, line)) {
      const auto found = std::find_if(columns.begin(), columns.end(),
                                      [&](const LineColumn& c) { return c.name == field.key; });
      if (found != columns.end()) {
        ++found->lines;
      } else {
        columns.push_back({std::string(field.key), TypeOf(field), 1});
      }
    }
  }
  return columns;
}

}  // namespace

LineSummary SummarizeLines(const std::filesystem::path& path, std::string_view format,
                           Warnings& warnings) {
  LineSummary summary;
  summary.format = format;
  summary.columns = ColumnsOf(path);
  LineReader reader(path, warnings);
  CountingSink sink(reader, summary);
  if (format == "tevatron") {
    ReadTevatron(reader, sink);
  } else if (format == "flag_embedding") {
    ReadFlagEmbedding(reader, sink);
  } else {
    ReadColumns(reader, sink);
  }
  sink.Finish();
  return summary;
}

std::string_view ScoreKindName(ScoreKind kind) {
  switch (kind) {
    case ScoreKind::kPairs:
      return "pairs";
    case ScoreKind::kLists:
      return "lists";
    case ScoreKind::kProbabilities:
      return "probabilities";
    case ScoreKind::kMargins:
      return "margins";
    case ScoreKind::kNone:
      break;
  }
  return "none";
}

}  // namespace tandem::data
