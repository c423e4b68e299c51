#include "data/lines/line_examples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "base/error.h"
#include "base/hashes/text_hash.h"
#include "data/lines/json_text.h"
#include "data/texts/empty_text.h"
#include "data/texts/slot_table.h"

namespace tandem::data {
namespace {

bool HasAnyScore(const Dataset& dataset) {
  for (const JudgedQuery& judged : dataset.judged) {
    for (const Judgement& judgement : judged.judgements) {
      if (judgement.has_score()) return true;
    }
  }
  return false;
}

bool HasAllScores(const Dataset& dataset) {
  for (const JudgedQuery& judged : dataset.judged) {
    for (const Judgement& judgement : judged.judgements) {
      if (!judgement.has_score()) return false;
    }
  }
  return true;
}

// The texts of one kind that lines mention.
class MentionedTexts {
 public:
  explicit MentionedTexts(const Texts& texts) : texts_(texts), mentioned_(texts.size()) {}

  void Add(uint32_t index) {
    if (mentioned_[index]) return;
    mentioned_[index] = true;
    ++count_;
    if (!texts_.title(index).empty()) ++titles_;
  }

  size_t count() const { return count_; }
  size_t titles() const { return titles_; }

  // Says how many of them have the text of another one before them.
  size_t Copies() const {
    SlotTable by_text;
    size_t copies = 0;
    for (uint32_t i = 0; i < mentioned_.size(); ++i) {
      if (!mentioned_[i]) continue;
      const uint64_t hash = TextHash(texts_.text(i));
      const auto same = [&](uint32_t other) { return texts_.text(other) == texts_.text(i); };
      if (by_text.Find(hash, same)) {
        ++copies;
      } else {
        by_text.Insert(hash, i);
      }
    }
    return copies;
  }

 private:
  const Texts& texts_;
  std::vector<bool> mentioned_;
  size_t count_ = 0;
  size_t titles_ = 0;
};

// Adds up what lines hold and what they leave out.
class LineCounter {
 public:
  LineCounter(const LineExamples& examples, const LineFormat& format, const WriteRequest& request)
      : examples_(examples),
        format_(format),
        request_(request),
        queries_(examples.dataset().queries),
        documents_(examples.dataset().documents) {}

  void Add(const LineExample& example) {
    const std::string_view id = examples_.dataset().queries.id(example.query);
    Count("documents with a grade below 0 (not judged), left out", example.unjudged, id);
    Count("documents graded above 0 but below the positives, left out", example.between, id);
    Count("negatives without text, left out", example.empty, id);
    if (example.size() == 0) {
      Count("judged queries without a document to write, left out", 1, id);
    } else if (example.positives.empty() && format_.needs_positive) {
      Count("judged queries without a positive, left out", 1, id);
    } else if (format_.negatives && example.negatives.size() < *format_.negatives) {
      Count("queries with fewer negatives than a line has, left out", 1, id);
    } else {
      AddWritten(example);
    }
  }

  WriteCounts Finish() {
    const Dataset& dataset = examples_.dataset();
    if (queries_.count() == 0) {
      throw DataError(dataset.file, 0, "",
                      fmt::format("nothing is left to write: {}",
                                  !format_.needs_positive ? "nothing is judged"
                                  : format_.negatives.value_or(0) == 0
                                      ? "no judged query has a positive, which every line needs"
                                      : "no judged query has a positive and as many negatives as "
                                        "every line needs"));
    }
    counts_.queries = queries_.count();
    counts_.documents = documents_.count();
    Count("documents that no line holds, left out", dataset.documents.size() - counts_.documents);
    Count("queries without judgement, left out", dataset.queries.size() - dataset.judged.size());
    if (!format_.has_titles) {
      Count("documents with a title, written as the start of the text", documents_.titles());
    }
    if (!format_.has_ids) CountCopies();
    if (!format_.has_prompt && !dataset.query_prompt.empty()) {
      Count(fmt::format("query prompts that the format has no place for, left out (give "
                        "model.query_prompt = \"{}\" in the recipe)",
                        dataset.query_prompt),
            1);
    }
    return counts_;
  }

 private:
  void AddWritten(const LineExample& example) {
    const bool with_negatives = format_.negatives != 0;
    queries_.Add(example.query);
    counts_.judgements += with_negatives ? example.size() : example.positives.size();
    for (const ExampleDocument& document : example.positives) documents_.Add(document.document);
    if (!with_negatives) {
      Count("negatives, left out", example.negatives.size());
      return;
    }
    for (const ExampleDocument& document : example.negatives) documents_.Add(document.document);
  }

  void Count(std::string_view kind, size_t count, std::string_view id = {}) {
    request_.warnings.Count(request_.output.native(), kind, 0, id, count);
  }

  void CountCopies() {
    Count("queries with the text of another one, which they become without ids", queries_.Copies());
    Count("documents with the text of another one, which they become without ids",
          documents_.Copies());
  }

  const LineExamples& examples_;
  const LineFormat& format_;
  const WriteRequest& request_;
  MentionedTexts queries_;
  MentionedTexts documents_;
  WriteCounts counts_;
};

}  // namespace

bool LineExample::has_all_scores() const {
  const auto has_score = [](const ExampleDocument& document) {
    return !std::isnan(document.score);
  };
  return std::all_of(positives.begin(), positives.end(), has_score) &&
         std::all_of(negatives.begin(), negatives.end(), has_score);
}

LineExamples::LineExamples(const Dataset& dataset, const WriteOptions& options)
    : dataset_(dataset), positive_grade_(options.positive_grade) {
  if (dataset.has_grades) {
    has_grades_ = !positive_grade_ && HasOtherGrades();
    if (has_grades_) scores_ = ScoreKind::kLists;
  } else {
    positive_grade_.reset();
    if (HasAnyScore(dataset)) scores_ = dataset.scores;
    are_scored_pairs_ = scores_ == ScoreKind::kPairs && HasAllScores(dataset);
  }
}

bool LineExamples::IsUnjudged(const Judgement& judgement) const {
  return dataset_.has_grades && dataset_.scores == ScoreKind::kNone && judgement.grade < 0;
}

bool LineExamples::HasOtherGrades() const {
  for (const JudgedQuery& judged : dataset_.judged) {
    for (const Judgement& judgement : judged.judgements) {
      if (judgement.grade != 0 && judgement.grade != 1 && !IsUnjudged(judgement)) return true;
    }
  }
  return false;
}

void LineExamples::Make(const JudgedQuery& judged, LineExample& example) const {
  example.query = judged.query;
  example.positives.clear();
  example.negatives.clear();
  example.unjudged = 0;
  example.between = 0;
  example.empty = 0;
  for (const Judgement& judgement : judged.judgements) {
    if (IsUnjudged(judgement)) {
      ++example.unjudged;
      continue;
    }
    const double score = has_grades_                   ? judgement.grade
                         : scores_ == ScoreKind::kNone ? kNoScore
                                                       : judgement.score;
    const ExampleDocument document{judgement.document, score};
    if (positive_grade_ ? judgement.grade >= *positive_grade_ : judgement.grade > 0) {
      example.positives.push_back(document);
    } else if (judgement.grade > 0) {
      ++example.between;
    } else if (IsEmptyText(dataset_.documents.text(judgement.document))) {
      ++example.empty;
    } else {
      example.negatives.push_back(document);
    }
  }
}

WriteCounts CountLines(const LineExamples& examples, const LineFormat& format,
                       const WriteRequest& request) {
  LineCounter counter(examples, format, request);
  LineExample example;
  for (const JudgedQuery& judged : examples.dataset().judged) {
    examples.Make(judged, example);
    counter.Add(example);
  }
  return counter.Finish();
}

void CountGradesBelow1(const LineExamples& examples, const LineExample& example,
                       const WriteRequest& request) {
  if (!examples.has_grades()) return;
  const auto below = std::count_if(example.positives.begin(), example.positives.end(),
                                   [](const ExampleDocument& one) { return one.score < 1; });
  request.warnings.Count(
      request.output.native(),
      "documents graded above 0 and below 1, positives of the lists unless their scores are taken "
      "for grades (data.scores = \"grades\")",
      0, examples.dataset().queries.id(example.query), static_cast<uint64_t>(below));
}

void CheckNoneApart(const LineExamples& examples, std::string_view format) {
  if (examples.scores() != ScoreKind::kMargins) return;
  std::unordered_set<uint64_t> seen;
  const Dataset& dataset = examples.dataset();
  for (const JudgedQuery& judged : dataset.judged) {
    if (seen.insert(TextHash(dataset.queries.text(judged.query))).second) continue;
    throw UsageError(
        fmt::format("{}: has margins to several positives of the query \"{}\", which cannot be "
                    "compared; lines of {} with one text are one query: write tevatron, or leave "
                    "the margins out (tandem convert --scores ignored)",
                    dataset.file, dataset.queries.id(judged.query), format));
  }
}

void AppendText(std::string& out, const Texts& texts, uint32_t index) {
  AppendJsonString(out, texts.text(index), texts.id(index));
}

void AppendProbabilities(std::string& out, double expected_grade) {
  out += '[';
  AppendJsonNumber(out, 1 - expected_grade);
  out += ',';
  AppendJsonNumber(out, expected_grade);
  out += ']';
}

}  // namespace tandem::data
