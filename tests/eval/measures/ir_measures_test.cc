// Random runs against ir_measures, under the names that it writes: two without ties, for measures
// whose providers there break ties in ways of their own, and two with ties against the gdeval.pl
// that it ships. The file is made by tools/golden/make_measure_golden.py.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "eval/measures/golden_run.h"

namespace tandem::eval {
namespace {

using nlohmann::json;

size_t CompareIrCase(const json& golden) {
  std::vector<std::string> theirs;
  std::vector<Measure> measures;
  for (const auto& [name, values] : golden["values"].items()) {
    theirs.push_back(name);
    measures.push_back(ParseMeasure(name));
  }
  const data::Run run = RunOf(golden);
  const Evaluation evaluation = EvaluateRun(run, QrelsOf(golden), measures, {});
  EXPECT_EQ(evaluation.queries.size(), golden["run"].size());
  // gdeval.pl prints five digits.
  const double tolerance = 0.50001 * std::pow(10, -golden["digits"].get<double>());
  size_t above_zero = 0;
  for (size_t m = 0; m < measures.size(); ++m) {
    for (size_t q = 0; q < evaluation.queries.size(); ++q) {
      const double wanted = golden["values"][theirs[m]][evaluation.queries[q]];
      EXPECT_NEAR(*evaluation.measures[m].per_query[q], wanted, tolerance)
          << theirs[m] << " of " << evaluation.queries[q];
      above_zero += wanted > 0;
    }
  }
  return above_zero;
}

TEST(IrMeasures, EqualOnRandomRuns) {
  const json cases = ReadGolden("ir_measures.json");
  ASSERT_EQ(cases.size(), 4U);
  std::set<std::string> names;
  for (const json& golden : cases) {
    EXPECT_GT(CompareIrCase(golden), 0U);
    for (const auto& [name, values] : golden["values"].items()) names.insert(name);
  }
  EXPECT_EQ(names.size(), 29U);
}

}  // namespace
}  // namespace tandem::eval
