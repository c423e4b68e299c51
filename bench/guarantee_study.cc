// Tries guarantees on the queries of a run: each split at random chooses thresholds on one half of
// the queries and measures them on the other half; beside them stands the threshold of today, which
// `evaluate --thresholds` chooses on the first half.
//
//   guarantee_study RUN.trec QRELS [--splits 1000] [--recall 0.9] [--precision 0.9]
//                   [--confidence 0.95] [--no-answer 0.05] [--similarity cosine] [--name NAME]
//
// The run should be deep: below its last result of a query nothing is known, and counts as wrong;
// positives that it lacks count as missed. Prints a line of TSV for each threshold: what was
// promised, the mean of what came true over the splits, its lowest and highest, the share of the
// splits in which the promise was broken on the other half, and the share of splits that made none.
// `today`'s figures are those that it was chosen by, over all documents of all queries.
// Queries without an answer are the run's own without their positives (`calibrate --unanswerable
// held-out`).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/formats/qrels_file.h"
#include "data/formats/trec_run.h"
#include "eval/guarantees/guarantee_rows.h"
#include "eval/guarantees/no_answer_guarantee.h"
#include "eval/guarantees/precision_guarantee.h"
#include "eval/guarantees/recall_guarantee.h"

namespace tandem {
namespace {

using eval::GuaranteeRow;

struct StudyOptions {
  std::string run, qrels, name = "run", similarity = "cosine";
  size_t splits = 1000;
  double recall = 0.9, precision = 0.9, confidence = 0.95, no_answer = 0.05;
};

// The queries of a run, and what every split needs of them.
struct StudyData {
  std::vector<GuaranteeRow> rows;          // all documents
  std::vector<GuaranteeRow> positives;     // the positives alone, which recall needs
  std::vector<double> best_others;         // [rows]; -infinity: no other document
  std::vector<std::vector<double>> wrong;  // [rows][grid]
};

GuaranteeRow RowOf(const data::QueryJudgements& judged, const data::QueryResults& results) {
  std::map<std::string_view, double> grades;
  GuaranteeRow row{.query = judged.query};
  for (const data::GradedDocument& one : judged.judgements) {
    grades[one.document] = one.grade;
    row.positives += one.grade >= 1 ? 1 : 0;
  }
  double lowest = std::numeric_limits<double>::infinity();
  for (const data::ScoredDocument& one : results.results) {
    const auto grade = grades.find(one.document);
    row.documents.push_back({one.score, grade != grades.end() && grade->second >= 1});
    lowest = std::min(lowest, one.score);
  }
  row.known_above = lowest;
  eval::SortRow(0, &row);
  return row;
}

StudyData ReadStudyData(const StudyOptions& options, const std::vector<double>& grid) {
  const data::Run run = data::ReadTrecRun(options.run);
  const data::Qrels qrels = data::ReadQrels(options.qrels);
  StudyData all;
  for (const data::QueryJudgements& judged : qrels.queries()) {
    const data::QueryResults* results = run.Find(judged.query);
    if (results == nullptr) continue;
    GuaranteeRow row = RowOf(judged, *results);
    if (row.positives == 0) continue;
    GuaranteeRow few{.query = {}, .documents = {}, .positives = row.positives};
    double best = -std::numeric_limits<double>::infinity();
    for (const eval::LabelledDocument& one : row.documents) {
      if (one.positive) few.documents.push_back(one);
      if (!one.positive) best = std::max(best, one.score);
    }
    all.positives.push_back(std::move(few));
    all.best_others.push_back(best);
    all.wrong.push_back(eval::WrongShares(row, grid));
    all.rows.push_back(std::move(row));
  }
  return all;
}

// What one kind of threshold came to, over the splits.
class Outcome {
 public:
  void Add(double value, bool broken) {
    sum_ += value;
    lowest_ = std::min(lowest_, value);
    highest_ = std::max(highest_, value);
    broken_ += broken ? 1 : 0;
    ++count_;
  }
  void AddNone() { ++none_; }
  void Print(const std::string& name, const std::string& promise, double promised) const {
    const auto count = static_cast<double>(std::max<size_t>(1, count_));
    fmt::print("{}\t{}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\t{:.4f}\n", name, promise, promised,
               sum_ / count, lowest_, highest_, static_cast<double>(broken_) / count,
               static_cast<double>(none_) / static_cast<double>(none_ + count_));
  }

 private:
  double sum_ = 0, lowest_ = 1, highest_ = 0;
  size_t broken_ = 0, count_ = 0, none_ = 0;
};

// A document of any query.
struct PooledDocument {
  double score;
  uint32_t row;
  bool positive;
};

std::vector<PooledDocument> PoolOf(const std::vector<GuaranteeRow>& rows) {
  std::vector<PooledDocument> pool;
  for (uint32_t r = 0; r < rows.size(); ++r) {
    for (const auto& one : rows[r].documents) pool.push_back({one.score, r, one.positive});
  }
  std::sort(pool.begin(), pool.end(), [](const auto& a, const auto& b) {
    return a.score != b.score ? a.score > b.score : a.positive < b.positive;
  });
  return pool;
}

// Over all queries of a half: what is shown, and what of it is right, from a threshold on.
struct Pooled {
  double shown = 0, right = 0;
};

Pooled PooledAt(const std::vector<PooledDocument>& pool, const std::vector<bool>& in,
                double threshold) {
  Pooled at;
  for (const PooledDocument& one : pool) {
    if (one.score < threshold) break;
    if (!in[one.row]) continue;
    ++at.shown;
    at.right += one.positive ? 1 : 0;
  }
  return at;
}

// The thresholds of `evaluate --thresholds`: the lowest score of a positive with that precision
// over all queries, and the highest with that recall. (Ties within a level are not told apart
// here.)
struct TodaysThresholds {
  std::optional<double> precision, recall;
};

TodaysThresholds TodaysOf(const std::vector<PooledDocument>& pool, const std::vector<bool>& in,
                          double positives, const StudyOptions& options) {
  TodaysThresholds today;
  Pooled so_far;
  for (const PooledDocument& one : pool) {
    if (!in[one.row]) continue;
    ++so_far.shown;
    so_far.right += one.positive ? 1 : 0;
    if (!one.positive) continue;
    if (so_far.right / so_far.shown >= options.precision) today.precision = one.score;
    if (!today.recall && so_far.right / positives >= options.recall) today.recall = one.score;
  }
  return today;
}

struct Outcomes {
  Outcome recall, precision, no_answer, todays_recall, todays_precision;
};

// Chooses on the rows of `in`, and measures on the others.
class Split {
 public:
  Split(const StudyOptions& options, const StudyData& data, const std::vector<double>& grid,
        const std::vector<PooledDocument>& pool, std::vector<bool> in)
      : options_(options), data_(data), grid_(grid), pool_(pool), in_(std::move(in)) {
    for (size_t r = 0; r < in_.size(); ++r) others_.push_back(!in_[r]);
  }

  void Measure(Outcomes* outcomes) const {
    Recall(&outcomes->recall);
    Precision(&outcomes->precision);
    NoAnswer(&outcomes->no_answer);
    Today(outcomes);
  }

 private:
  template <typename Value>
  double MeanOfOthers(const Value& value) const {
    double sum = 0, count = 0;
    for (size_t r = 0; r < in_.size(); ++r) {
      if (in_[r]) continue;
      sum += value(r);
      ++count;
    }
    return sum / count;
  }

  void Recall(Outcome* outcome) const {
    std::vector<GuaranteeRow> rows;
    for (size_t r = 0; r < in_.size(); ++r) {
      if (in_[r]) rows.push_back(data_.positives[r]);
    }
    const auto chosen = eval::ChooseRecallThreshold(rows, 1 - options_.recall);
    if (!chosen.threshold) return outcome->AddNone();
    const double kept = 1 - MeanOfOthers([&](size_t r) {
                          return eval::MissedShare(data_.positives[r], *chosen.threshold);
                        });
    outcome->Add(kept, kept < options_.recall);
  }

  void Precision(Outcome* outcome) const {
    std::vector<double> totals(grid_.size());
    size_t queries = 0;
    for (size_t r = 0; r < in_.size(); ++r) {
      if (!in_[r]) continue;
      for (size_t g = 0; g < grid_.size(); ++g) totals[g] += data_.wrong[r][g];
      ++queries;
    }
    const double risk = 1 - options_.precision;
    const auto chosen = eval::FixedSequence(totals, queries, {risk, options_.confidence});
    if (!chosen) return outcome->AddNone();
    const double wrong = MeanOfOthers([&](size_t r) { return data_.wrong[r][*chosen]; });
    outcome->Add(1 - wrong, wrong > risk);
  }

  void NoAnswer(Outcome* outcome) const {
    std::vector<double> best;
    for (size_t r = 0; r < in_.size(); ++r) {
      if (in_[r]) best.push_back(data_.best_others[r]);
    }
    const auto threshold = eval::ChooseNoAnswerThreshold(best, options_.no_answer);
    if (!threshold) return outcome->AddNone();
    const double answered =
        MeanOfOthers([&](size_t r) { return data_.best_others[r] >= *threshold ? 1.0 : 0.0; });
    outcome->Add(answered, answered > options_.no_answer);
  }

  void Today(Outcomes* outcomes) const {
    double positives = 0, others = 0;
    for (size_t r = 0; r < in_.size(); ++r) {
      (in_[r] ? positives : others) += static_cast<double>(data_.positives[r].positives);
    }
    const TodaysThresholds today = TodaysOf(pool_, in_, positives, options_);
    if (today.recall) {
      const double recall = PooledAt(pool_, others_, *today.recall).right / others;
      outcomes->todays_recall.Add(recall, recall < options_.recall);
    } else {
      outcomes->todays_recall.AddNone();
    }
    const Pooled at = today.precision ? PooledAt(pool_, others_, *today.precision) : Pooled();
    if (at.shown == 0) return outcomes->todays_precision.AddNone();
    outcomes->todays_precision.Add(at.right / at.shown, at.right / at.shown < options_.precision);
  }

  const StudyOptions& options_;
  const StudyData& data_;
  const std::vector<double>& grid_;
  const std::vector<PooledDocument>& pool_;
  std::vector<bool> in_, others_;
};

void RunStudy(const StudyOptions& options) {
  const std::vector<double> grid = eval::PrecisionGrid(options.similarity);
  const StudyData data = ReadStudyData(options, grid);
  const std::vector<PooledDocument> pool = PoolOf(data.rows);
  std::vector<uint32_t> order(data.rows.size());
  for (uint32_t r = 0; r < order.size(); ++r) order[r] = r;
  Outcomes outcomes;
  for (size_t split = 0; split < options.splits; ++split) {
    RandomStream random({.seed = 1, .purpose = "split", .epoch = split});
    random.Shuffle(std::span(order));
    std::vector<bool> in(order.size());
    for (size_t i = 0; i < order.size() / 2; ++i) in[order[i]] = true;
    Split(options, data, grid, pool, std::move(in)).Measure(&outcomes);
  }
  fmt::print("set\tthreshold\tpromised\tmean\tlowest\thighest\tbroken\tnone\n");
  const std::string name = fmt::format("{} ({} queries)", options.name, data.rows.size());
  outcomes.recall.Print(name, "recall", options.recall);
  outcomes.todays_recall.Print(name, "recall, today", options.recall);
  outcomes.precision.Print(name, fmt::format("precision@{}", options.confidence),
                           options.precision);
  outcomes.todays_precision.Print(name, "precision, today", options.precision);
  outcomes.no_answer.Print(name, "no-answer", options.no_answer);
}

}  // namespace
}  // namespace tandem

int main(int argc, char** argv) {
  tandem::StudyOptions options;
  CLI::App app("Tries guarantees on random halves of a run's queries");
  app.add_option("run", options.run)->required();
  app.add_option("qrels", options.qrels)->required();
  app.add_option("--name", options.name);
  app.add_option("--similarity", options.similarity)->check(CLI::IsMember({"cosine", "dot"}));
  app.add_option("--splits", options.splits);
  app.add_option("--recall", options.recall);
  app.add_option("--precision", options.precision);
  app.add_option("--confidence", options.confidence);
  app.add_option("--no-answer", options.no_answer);
  CLI11_PARSE(app, argc, argv);
  try {
    tandem::RunStudy(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 1;
  }
}
