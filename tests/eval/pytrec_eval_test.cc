// Random runs with ties against pytrec_eval; the file is made by tools/make_measure_golden.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "eval/evaluate.h"

namespace tandem::eval {
namespace {

using nlohmann::json;

void CompareCase(const json& golden) {
  data::Run run;
  for (const auto& [query, results] : golden["run"].items()) {
    data::QueryResults& added = run.AddQuery(query);
    for (const auto& [document, score] : results.items()) {
      added.results.push_back({run.Keep(document), score.get<double>()});
    }
  }
  data::Qrels qrels;
  for (const auto& [query, judgements] : golden["qrels"].items()) {
    for (const auto& [document, grade] : judgements.items()) {
      qrels.Add(query, document, grade.get<double>());
    }
  }
  std::vector<Measure> measures;
  for (const auto& [name, values] : golden["values"].items()) {
    measures.push_back(ParseMeasure(name));
  }
  EvaluationOptions options;
  options.ranking.relevance_level = golden["relevance_level"];
  const Evaluation evaluation = EvaluateRun(run, qrels, measures, options);
  ASSERT_EQ(evaluation.queries.size(), golden["run"].size());
  ASSERT_EQ(measures.size(), 17U);
  for (const MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    for (size_t q = 0; q < evaluation.queries.size(); ++q) {
      const double wanted = golden["values"][name][evaluation.queries[q]];
      EXPECT_DOUBLE_EQ(*values.per_query[q], wanted)
          << name << " of " << evaluation.queries[q] << " at level "
          << options.ranking.relevance_level;
    }
  }
}

TEST(PytrecEval, EqualOnRandomRunsWithTies) {
  const json cases = json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/eval/pytrec_eval.json"));
  ASSERT_EQ(cases.size(), 3U);
  for (const json& golden : cases) CompareCase(golden);
}

}  // namespace
}  // namespace tandem::eval
