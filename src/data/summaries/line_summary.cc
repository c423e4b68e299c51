#include "data/summaries/line_summary.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "base/hashes/text_hash.h"
#include "data/lines/example_sink.h"
#include "data/lines/json_line.h"
#include "data/lines/score_meaning.h"
#include "data/read_dataset.h"
#include "data/summaries/hash_sample.h"
#include "data/tables/table_lines.h"
#include "data/texts/empty_text.h"

namespace tandem::data {
namespace {

// Positives and negatives, on all lines and of each.
class SideCounts {
 public:
  void Add(bool is_positive) { ++(is_positive ? positives_ : negatives_); }
  void EndLine() {
    all_positives_ += positives_;
    all_negatives_ += negatives_;
    positives_per_line_.Add(positives_);
    negatives_per_line_.Add(negatives_);
    positives_ = negatives_ = 0;
  }
  void Write(LineSummary& summary) const {
    summary.positives = all_positives_;
    summary.negatives = all_negatives_;
    summary.positives_per_line = positives_per_line_;
    summary.negatives_per_line = negatives_per_line_;
  }

 private:
  uint64_t positives_ = 0;  // of the line
  uint64_t negatives_ = 0;
  uint64_t all_positives_ = 0;
  uint64_t all_negatives_ = 0;
  CountSpread positives_per_line_;
  CountSpread negatives_per_line_;
};

// Counts the examples of a file and forgets their texts. Only the end of the file shows what its
// scores are, so that positives and negatives are counted both by lists and by labels, and without
// those that have a score.
class CountingSink final : public ExampleSink {
 public:
  CountingSink(LineReader& reader, LineSummary& summary) : reader_(reader), summary_(summary) {}

  uint32_t QueryOfText(std::string_view text, std::string_view, uint64_t apart) override {
    return BeginLine(TextHash(text) ^ apart, text);
  }
  uint32_t QueryOfId(std::string_view id, std::string_view text) override {
    return BeginLine(TextHash(id), text);
  }
  uint32_t DocumentOfText(std::string_view text, std::string_view, size_t) override {
    return Document(TextHash(text), text);
  }
  uint32_t DocumentOfId(std::string_view id, std::string_view text, size_t) override {
    return Document(TextHash(id), text);
  }

  void Judge(uint32_t, uint32_t document, double grade, double score) override {
    const bool in_list = grade > 0;
    const bool by_label = std::isnan(score) ? in_list : score == 1;
    tally_.Add(score);
    by_list_.Add(in_list);
    by_label_.Add(by_label);
    if (std::isnan(score)) {
      without_scores_.Add(in_list);
      bare_.Add(reader_.line_number());
    }
    if (tally_.IsAgainstList(score, grade)) against_lists_.Add(reader_.line_number());
    AddPair(documents_of_line_[document], in_list, by_label);
    if (Shows()) {
      summary_.shown.push_back({.line = reader_.line_number(),
                                .query = query_text_,
                                .document = std::move(document_text_),
                                .is_positive = in_list,
                                .score = score});
    }
    if (std::isnan(score)) return;
    const bool first = summary_.scored++ == 0;
    summary_.lowest_score = first ? score : std::min(summary_.lowest_score, score);
    summary_.highest_score = first ? score : std::max(summary_.highest_score, score);
    CountScore(score);
  }

  void SetScores(const LineScores& scores) override { tally_.BeginLine(reader_, scores); }
  void CountIgnored(std::string_view key) override { ++summary_.ignored[std::string(key)]; }
  void CountSkipped() override { ++summary_.skipped; }

  // Ends the last line and writes the totals.
  void Finish() {
    EndLine();
    if (summary_.lines == 0) throw DataError(reader_.file(), 0, "", "holds no example");
    tally_.EndFile(reader_);
    summary_.queries = queries_.Estimate(queries_.size());
    summary_.documents = documents_.Estimate(documents_.size());
    summary_.is_exact = queries_.is_exact() && documents_.is_exact() && pairs_.is_exact();
    summary_.repeated_pairs = pairs_.Estimate(repeats_);
    summary_.scores = tally_.kind();
    summary_.meaning = tally_.Meaning();
    summary_.undecided = tally_.undecided();
    WriteByMeaning();
    if (summary_.meaning == ScoreMeaning::kLabels) Report(against_lists_, kAgainstLists);
    if (summary_.scores == ScoreKind::kPairs) {
      Report(bare_, "documents without a score where others have one, an error in training");
    }
  }

 private:
  // Says how often something was found, and where first.
  struct Count {
    uint64_t count = 0;
    int64_t first_line = 0;
    void Add(int64_t line) {
      if (count++ == 0) first_line = line;
    }
  };

  void Report(const Count& count, std::string_view kind) {
    reader_.warnings().Count(reader_.file(), kind, count.first_line, "", count.count);
  }

  // Lists and labels have shown a query's document as these.
  struct Seen {
    bool positive = false;
    bool negative = false;
    bool labelled_positive = false;
    bool labelled_negative = false;
  };

  void AddPair(uint64_t document, bool in_list, bool by_label) {
    bool is_new = false;
    Seen* pair = pairs_.At(PairHash(query_, document), &is_new);
    if (pair == nullptr) return;
    repeats_ += !is_new;
    (in_list ? pair->positive : pair->negative) = true;
    (by_label ? pair->labelled_positive : pair->labelled_negative) = true;
  }

  // Counts each score by itself while they are few.
  void CountScore(double score) {
    if (too_many_scores_) return;
    ++summary_.by_score[score];
    too_many_scores_ = summary_.by_score.size() > LineSummary::kMostScores;
    if (too_many_scores_) summary_.by_score.clear();
  }

  void WriteByMeaning() {
    const bool labels = summary_.meaning == ScoreMeaning::kLabels;
    const bool grades =
        summary_.meaning == ScoreMeaning::kGrades || summary_.meaning == ScoreMeaning::kUndecided;
    (labels ? by_label_ : grades ? without_scores_ : by_list_).Write(summary_);
    if (grades) summary_.graded = summary_.scored;
    summary_.contradicting_pairs = pairs_.EstimateIf([labels](const Seen& seen) {
      return labels ? seen.labelled_positive && seen.labelled_negative
                    : seen.positive && seen.negative;
    });
    for (ShownDocument& shown : summary_.shown) {
      if (std::isnan(shown.score)) continue;
      if (labels) shown.is_positive = shown.score == 1;
      shown.is_graded = grades;
    }
  }

  bool Shows() const {
    return summary_.lines < LineSummary::kShownLines &&
           documents_of_line_.size() <= LineSummary::kShownDocuments;
  }

  uint32_t BeginLine(uint64_t hash, std::string_view text) {
    EndLine();
    in_line_ = true;
    query_ = hash;
    queries_.At(hash);
    CountText(text);
    if (Shows()) query_text_ = text;
    return 0;
  }
  uint32_t Document(uint64_t hash, std::string_view text) {
    documents_.At(hash);
    CountText(text);
    documents_of_line_.push_back(hash);
    if (Shows()) document_text_ = text;
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
    for (SideCounts* counts : {&by_list_, &by_label_, &without_scores_}) counts->EndLine();
    documents_of_line_.clear();
  }

  LineReader& reader_;
  LineSummary& summary_;
  ScoreTally tally_;
  bool in_line_ = false;
  uint64_t query_ = 0;                       // of the line
  std::string query_text_;                   // of the line, where it is shown
  std::string document_text_;                // the last one, where it is shown
  std::vector<uint64_t> documents_of_line_;  // their hashes
  SideCounts by_list_, by_label_, without_scores_;
  Count against_lists_, bare_;
  bool too_many_scores_ = false;
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
  LineReader reader = OpenTrainingLines(path, ignored);
  JsonLineParser parser;
  std::vector<LineColumn> columns;
  std::unordered_map<std::string, size_t> places;  // every line may have keys of its own
  std::string_view line;
  for (uint64_t read = 0; read < LineSummary::kFirstLines && reader.Next(&line); ++read) {
    for (const JsonField& field : parser.Parse(reader, line)) {
      const auto [found, is_new] = places.try_emplace(std::string(field.key), columns.size());
      if (is_new) {
        columns.push_back({std::string(field.key), TypeOf(field), 1});
      } else {
        ++columns[found->second].lines;
      }
    }
  }
  return columns;
}

}  // namespace

LineSummary SummarizeLines(const std::filesystem::path& path, std::string_view format,
                           const LineRules& rules, Warnings& warnings) {
  LineSummary summary;
  summary.format = format;
  summary.columns = ColumnsOf(path);
  LineReader reader = OpenTrainingLines(path, warnings);
  CountingSink sink(reader, summary);
  ReadLines(reader, format, rules, sink);
  sink.Finish();
  return summary;
}

std::string_view ScoreMeaningName(ScoreMeaning meaning) {
  switch (meaning) {
    case ScoreMeaning::kLabels:
      return "labels";
    case ScoreMeaning::kGrades:
      return "grades";
    case ScoreMeaning::kUndecided:
      return "undecided";
    case ScoreMeaning::kTeacher:
      return "teacher";
    case ScoreMeaning::kNone:
      break;
  }
  return "none";
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
