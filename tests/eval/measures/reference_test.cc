// Every measure against its definition, written without any thought of speed, on random runs with
// many ties, missing and further queries, negative grades and judged documents that were not found.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "eval/evaluate.h"

namespace tandem::eval {
namespace {

using Values = std::map<std::string, double>;   // of each document of a query: score or grade
using Queries = std::map<std::string, Values>;  // of each query

struct RandomRunAndGrades {
  Queries run;
  Queries grades;
};

// Documents in rank order.
std::vector<std::string> Ranked(const Values& scores) {
  std::vector<std::string> ranked;
  for (const auto& [document, score] : scores) ranked.push_back(document);
  std::sort(ranked.begin(), ranked.end(), [&](const std::string& a, const std::string& b) {
    return std::pair(scores.at(a), a) > std::pair(scores.at(b), b);
  });
  return ranked;
}

// One query, by definition.
class Reference {
 public:
  Reference(const Values& scores, const Values& grades)
      : scores_(scores), grades_(grades), ranked_(Ranked(scores)) {}

  double GradeAt(size_t rank) const { return Grade(ranked_.at(rank - 1)); }
  double Grade(const std::string& document) const {
    const auto found = grades_.find(document);
    return found == grades_.end() ? -1 : found->second;
  }
  size_t results() const { return ranked_.size(); }
  double Positives(double level) const { return CountJudged(level, 1e9); }
  double CountJudged(double from, double below) const {
    return static_cast<double>(std::count_if(grades_.begin(), grades_.end(), [&](const auto& one) {
      return one.second >= 0 && one.second >= from && one.second < below;
    }));
  }
  double Found(double level, size_t k) const {
    double found = 0;
    for (size_t r = 1; r <= std::min(k, results()); ++r) found += GradeAt(r) >= level;
    return found;
  }
  double AveragePrecision(double level, size_t k) const {
    double sum = 0;
    for (size_t r = 1; r <= std::min(k, results()); ++r) {
      if (GradeAt(r) >= level) sum += Found(level, r) / static_cast<double>(r);
    }
    return Positives(level) == 0 ? 0 : sum / Positives(level);
  }
  double ReciprocalRank(double level, size_t k) const {
    for (size_t r = 1; r <= std::min(k, results()); ++r) {
      if (GradeAt(r) >= level) return 1 / static_cast<double>(r);
    }
    return 0;
  }
  double Ndcg(size_t k, double (*gain)(double)) const {
    std::vector<double> best;
    for (const auto& [document, grade] : grades_) best.push_back(std::max(grade, 0.0));
    std::sort(best.rbegin(), best.rend());
    double ideal = 0, gained = 0;
    for (size_t r = 1; r <= std::min(k, best.size()); ++r) {
      ideal += gain(best[r - 1]) / std::log2(static_cast<double>(r) + 1);
    }
    for (size_t r = 1; r <= std::min(k, results()); ++r) {
      gained += gain(std::max(GradeAt(r), 0.0)) / std::log2(static_cast<double>(r) + 1);
    }
    return ideal == 0 ? 0 : gained / ideal;
  }
  double Bpref(double level) const {
    const double positives = Positives(level), negatives = CountJudged(0, level);
    double sum = 0;
    for (size_t r = 1; r <= results(); ++r) {
      if (GradeAt(r) < level) continue;
      double before = 0;
      for (size_t b = 1; b < r; ++b) before += GradeAt(b) >= 0 && GradeAt(b) < level;
      sum += before == 0 ? 1 : 1 - std::min(before, positives) / std::min(negatives, positives);
    }
    return positives == 0 ? 0 : sum / positives;
  }
  double Rbp(double level, double p, size_t k) const {
    double sum = 0;
    for (size_t r = 1; r <= std::min(k, results()); ++r) {
      if (GradeAt(r) >= level) sum += std::pow(p, static_cast<double>(r) - 1);
    }
    return (1 - p) * sum;
  }
  double Judged(size_t k) const {
    const auto depth = static_cast<double>(std::min(k, results()));
    return depth == 0 ? 0 : Found(0, k) / depth;
  }
  struct Shown {
    double precision = 0, recall = 0;
  };
  // Of the documents that score at least so much; 0 where there is nothing to divide by.
  Shown AtScore(double level, double least) const {
    double shown = 0, found = 0;
    for (const auto& [document, score] : scores_) {
      shown += score >= least;
      found += score >= least && Grade(document) >= level;
    }
    const double positives = Positives(level);
    return {shown == 0 ? 0 : found / shown, positives == 0 ? 0 : found / positives};
  }
  // Computes it from precision and recall of the documents that are shown.
  double F1(double level, double least) const {
    const auto [precision, recall] = AtScore(level, least);
    return precision + recall == 0 ? 0 : 2 * precision * recall / (precision + recall);
  }

 private:
  Values scores_;
  Values grades_;
  std::vector<std::string> ranked_;
};

constexpr size_t kAll = 1000;  // more than there are results
double Linear(double grade) { return grade; }
double Exponential(double grade) { return std::pow(2, grade) - 1; }

// The values that a measure's name asks for; `level` where it has no rel.
std::map<std::string, double> ByDefinition(const Reference& of, double level) {
  const double positives = of.Positives(level);
  return {
      {"ndcg", of.Ndcg(kAll, Linear)},
      {"ndcg@3", of.Ndcg(3, Linear)},
      {"ndcg_exp", of.Ndcg(kAll, Exponential)},
      {"ndcg_exp@3", of.Ndcg(3, Exponential)},
      {"map", of.AveragePrecision(level, kAll)},
      {"map@3", of.AveragePrecision(level, 3)},
      {"map(rel=2)", of.AveragePrecision(2, kAll)},
      {"mrr", of.ReciprocalRank(level, kAll)},
      {"mrr(rel=2)@3", of.ReciprocalRank(2, 3)},
      {"recall@3", positives == 0 ? 0 : of.Found(level, 3) / positives},
      {"precision@3", of.Found(level, 3) / 3},
      {"precision(rel=2)@20", of.Found(2, 20) / 20},
      {"success@3", of.Found(level, 3) > 0 ? 1.0 : 0.0},
      {"rprec", positives == 0 ? 0 : of.Found(level, static_cast<size_t>(positives)) / positives},
      {"bpref", of.Bpref(level)},
      {"bpref(rel=2)", of.Bpref(2)},
      {"rbp", of.Rbp(level, 0.8, kAll)},
      {"rbp(p=0.5,rel=2)@3", of.Rbp(2, 0.5, 3)},
      {"judged", of.Judged(kAll)},
      {"judged@3", of.Judged(3)},
      {"f1@2", of.F1(level, 2)},
      {"f1(rel=2)@1.5", of.F1(2, 1.5)},
      {"set_precision@2", of.AtScore(level, 2).precision},
      {"set_precision(rel=2)@1.5", of.AtScore(2, 1.5).precision},
      {"set_recall@2", of.AtScore(level, 2).recall},
      {"set_recall(rel=2)@1.5", of.AtScore(2, 1.5).recall},
  };
}

// Small cases are no simpler here: every choice is drawn as evenly as it gets.
template <typename T>
T Draw(const rc::Gen<T>& gen) {
  return *rc::gen::resize(rc::kNominalSize, gen);
}

// Few scores and few grades, so that ties are the rule; ids whose order in bytes is not that of
// their numbers. One query is sure to have a positive and a result, without which evaluating is an
// error.
RandomRunAndGrades MakeRunAndGrades() {
  RandomRunAndGrades random;
  const int queries = Draw(rc::gen::inRange(0, 6));
  for (int q = 0; q < queries; ++q) {
    const std::string query = fmt::format("q{}", q);
    for (int d = 0; d < 14; ++d) {
      const std::string document = fmt::format("{}", d);
      if (Draw(rc::gen::inRange(0, 3)) > 0) {
        random.run[query][document] = Draw(rc::gen::element(0.0, 1.0, 2.0, 2.0 + 1e-12));
      }
      if (Draw(rc::gen::inRange(0, 2)) > 0) {
        random.grades[query][document] = Draw(rc::gen::element(-1.0, 0.0, 1.0, 2.0, 3.0));
      }
    }
  }
  random.run["sure"] = {{"0", Draw(rc::gen::element(1.0, 2.0))}, {"1", 1}};
  random.grades["sure"] = {{"0", 2}};
  if (Draw(rc::gen::inRange(0, 2)) > 0) random.run["found only"] = {{"0", 2}, {"1", 1}};
  if (Draw(rc::gen::inRange(0, 2)) > 0) random.grades["judged only"] = {{"0", 2}, {"1", 1}};
  return random;
}

std::set<std::string> QueriesThatCount(const RandomRunAndGrades& random, bool complete) {
  std::set<std::string> queries;
  for (const auto& [query, grades] : random.grades) {
    if (complete || random.run.contains(query)) queries.insert(query);
  }
  return queries;
}

RC_GTEST_PROP(Reference, EveryMeasureEqualsItsDefinition, ()) {
  const RandomRunAndGrades random = MakeRunAndGrades();
  data::Run run;
  data::Qrels qrels;
  for (const auto& [query, scores] : random.run) {
    for (const auto& [document, score] : scores) {
      run.AddQuery(query).results.push_back({run.Keep(document), score});
    }
  }
  for (const auto& [query, grades] : random.grades) {
    for (const auto& [document, grade] : grades) qrels.Add(query, document, grade);
  }
  EvaluationOptions options;
  options.complete = Draw(rc::gen::inRange(0, 2)) > 0;
  options.ranking.relevance_level = Draw(rc::gen::element(1.0, 2.0));
  const std::set<std::string> queries = QueriesThatCount(random, options.complete);
  std::vector<Measure> measures;
  for (const auto& [name, value] : ByDefinition(Reference({}, {}), 1)) {
    measures.push_back(ParseMeasure(name));
    RC_ASSERT(measures.back().name() == name);
  }
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, options);
  RC_ASSERT(std::set<std::string>(evaluation.queries.begin(), evaluation.queries.end()) == queries);
  for (size_t q = 0; q < evaluation.queries.size(); ++q) {
    const std::string& query = evaluation.queries[q];
    const auto scores = random.run.find(query);
    const auto wanted = ByDefinition(
        Reference(scores == random.run.end() ? Values() : scores->second, random.grades.at(query)),
        options.ranking.relevance_level);
    for (const MeasureValues& values : evaluation.measures) {
      const double difference = std::abs(*values.per_query[q] - wanted.at(values.measure.name()));
      if (!(difference < 1e-12)) RC_FAIL(values.measure.name() + " of " + query);
    }
  }
}

}  // namespace
}  // namespace tandem::eval
