// Random runs with ties against pytrec_eval, with scores in single precision (trec_eval 9) and in
// double precision (trec_eval 10); the file is made by tools/golden/make_measure_golden.py.
#include <gtest/gtest.h>

#include "eval/measures/golden_run.h"

namespace tandem::eval {
namespace {

using nlohmann::json;

void CompareCase(const json& golden) {
  std::vector<Measure> measures;
  for (const auto& [name, values] : golden["values"].items()) {
    measures.push_back(ParseMeasure(name));
    EXPECT_EQ(measures.back().name(), name);
  }
  EvaluationOptions options;
  options.ranking.relevance_level = golden["relevance_level"];
  if (golden["score_precision"] == "single") {
    options.ranking.score_precision = ScorePrecision::kSingle;
  }
  const data::Run run = RunOf(golden);
  const Evaluation evaluation = EvaluateRun(run, QrelsOf(golden), measures, options);
  ASSERT_EQ(evaluation.queries.size(), golden["run"].size());
  ASSERT_EQ(measures.size(), 25U);
  for (const MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    for (size_t q = 0; q < evaluation.queries.size(); ++q) {
      const double wanted = golden["values"][name][evaluation.queries[q]];
      EXPECT_DOUBLE_EQ(*values.per_query[q], wanted)
          << name << " of " << evaluation.queries[q] << " at level "
          << options.ranking.relevance_level << ", " << golden["score_precision"];
    }
  }
}

TEST(PytrecEval, EqualOnRandomRunsWithTies) {
  const json cases = ReadGolden("pytrec_eval.json");
  ASSERT_EQ(cases.size(), 6U);
  for (const json& golden : cases) CompareCase(golden);
}

}  // namespace
}  // namespace tandem::eval
