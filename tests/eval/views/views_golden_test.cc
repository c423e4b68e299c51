// The numbers of embedding views against scikit-learn and SciPy; the file is made by
// tools/golden/make_views_golden.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/files/files.h"
#include "eval/views/principal_components.h"
#include "eval/views/space_measures.h"
#include "eval/views/tower_separability.h"
#include "eval/views/tsne.h"
#include "eval/views/views_rows.h"

namespace tandem::eval {
namespace {

using nlohmann::json;

void ComparePlane(const UnitRows& both, const json& golden) {
  const PrincipalPlane plane = ProjectOnPlane(both, 1);
  ASSERT_EQ(golden["points"].size(), plane.points.size());
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_NEAR(plane.explained[c], golden["explained"][c], 1e-9);
    for (size_t i = 0; i < both.size(); ++i) {
      EXPECT_NEAR(plane.points[i][c], golden["points"][i][c], 1e-7) << i;
    }
  }
}

// scikit-learn looks for a perplexity to 1e-5 only, and in single precision.
void CompareAffinities(const UnitRows& both, const json& golden) {
  const std::vector<double> affinities = TsneAffinities(both, golden["perplexity"], 1);
  size_t at = 0;
  for (size_t i = 0; i < both.size(); ++i) {
    for (size_t j = i + 1; j < both.size(); ++j) {
      const double wanted = golden["affinities"][at++];
      EXPECT_NEAR(affinities[i * both.size() + j], wanted, 1e-8 + 5e-5 * wanted);
    }
  }
  EXPECT_EQ(at, golden["affinities"].size());
}

TEST(ViewsGolden, EqualScikitLearnAndScipy) {
  const json cases = json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/eval/views.json"));
  ASSERT_EQ(cases.size(), 2U);
  for (const json& golden : cases) {
    const size_t width = golden["width"];
    const UnitRows queries = Unit(golden["queries"], width);
    const UnitRows positives = Unit(golden["positives"], width);
    EXPECT_NEAR(*Alignment(queries, positives), golden["alignment"], 1e-12);
    EXPECT_NEAR(*Uniformity(queries, 1), golden["uniformity_queries"], 1e-12);
    EXPECT_NEAR(*Uniformity(positives, 1), golden["uniformity_positives"], 1e-12);
    EXPECT_NEAR(*CentroidGap(queries, positives), golden["centroid_gap"], 1e-12);
    EXPECT_NEAR(*LinearSeparability(queries, positives,
                                    {.folds = queries.size(), .shrinkage = golden["shrinkage"]}),
                golden["separability"], 1e-12);
    UnitRows both = queries;
    both.Append(positives);
    ComparePlane(both, golden);
    CompareAffinities(both, golden);
  }
}

}  // namespace
}  // namespace tandem::eval
