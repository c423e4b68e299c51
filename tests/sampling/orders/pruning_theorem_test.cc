// OPERA's Theorem 1, in draws: training on the pairs that static pruning keeps sees more correct
// pairs than training on all of them exactly where the kept pairs are purer than all are.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "sampling/pruning/keep.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

constexpr uint32_t kNoisyQueries = 400, kNoisyPositives = 5;
constexpr double kDrawnPairs = 10'000;
constexpr double kKeptShare = 0.25;

// Pairs with labels of which some are wrong, and a base model's scores of them.
struct NoisyWorld {
  // A correct pair scores higher by `skill` on average; below 0 the scores mislead.
  NoisyWorld(double correct_share, float skill, uint64_t seed)
      : examples(PlainExamples(kNoisyQueries, kNoisyPositives)) {
    for (uint64_t pair = 0; pair < kNoisyQueries * kNoisyPositives; ++pair) {
      correct.push_back(Pseudo(seed, pair, 0, 1) < correct_share);
      scores.push_back(Pseudo(seed + 1000, pair, 0, 1) + (correct.back() ? skill : 0));
    }
  }

  double Purity(const std::vector<bool>& kept) const {
    double pairs = 0, right = 0;
    for (size_t pair = 0; pair < kept.size(); ++pair) {
      if (!kept[pair]) continue;
      ++pairs;
      right += correct[pair] ? 1 : 0;
    }
    return right / pairs;
  }

  // The correct share of kDrawnPairs pairs that a sampler draws.
  double DrawnPurity(const SamplerInfo& info, const Settings& settings, uint64_t seed) const {
    const auto sampler = info.make(examples, {.seed = seed,
                                              .batch = 50,
                                              .params = ParamsOf(info, settings),
                                              .scores = {scores, scores}});
    double drawn = 0, right = 0;
    while (drawn < kDrawnPairs) {
      const Batch batch = sampler->Next();
      for (size_t row = 0; row < batch.rows(); ++row) {
        ++drawn;
        right += correct[batch.documents[row]] ? 1 : 0;  // documents are numbered as pairs are
      }
    }
    return right / drawn;
  }

  Examples examples;
  std::vector<bool> correct;
  std::vector<float> scores;
};

TEST(PruningTheorem, StaticPruningHelpsExactlyWhereTheKeptPairsArePurer) {
  // A share of so many draws is within this of what it estimates, but for one case of a million.
  constexpr double kError = 4.9 * 0.5 / 100;
  int helped = 0, harmed = 0;
  for (const double correct_share : {0.3, 0.5, 0.7}) {
    for (const float skill : {-0.5F, -0.2F, 0.2F, 0.5F}) {
      const NoisyWorld world(correct_share, skill, 11);
      const std::vector<bool> all(world.correct.size(), true);
      const double whole = world.Purity(all);
      const double kept =
          world.Purity(BestPairs({world.scores}, KeptCount(world.correct.size(), kKeptShare)));
      ASSERT_GT(std::abs(kept - whole), 2 * kError);  // else the draws could not tell them apart
      const double from_all = world.DrawnPurity(kUniform, {}, 3);
      const double from_kept = world.DrawnPurity(kStaticPruning, {{"keep", kKeptShare}}, 3);
      EXPECT_NEAR(from_all, whole, kError) << correct_share << " " << skill;
      EXPECT_NEAR(from_kept, kept, kError) << correct_share << " " << skill;
      EXPECT_EQ(from_kept > from_all, kept > whole) << correct_share << " " << skill;
      ++(kept > whole ? helped : harmed);
    }
  }
  EXPECT_EQ(helped, 6);
  EXPECT_EQ(harmed, 6);
}

}  // namespace
}  // namespace tandem::sampling
