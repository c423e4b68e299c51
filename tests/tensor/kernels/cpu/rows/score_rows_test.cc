#include "tensor/kernels/cpu/rows/score_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tensor/kernels/cpu/kernel_values.h"

namespace tandem::tensor::cpu {
namespace {

// Few different values, so that many equal the limit.
std::vector<float> Scores(size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<float> scores(count);
  for (float& score : scores) score = static_cast<float>(random() % 7);
  return scores;
}

using ScoresWithRows = std::vector<std::pair<float, uint32_t>>;

// Appends in steps of `capacity` rows, as a search does that empties its arrays between them.
ScoresWithRows Found(const std::vector<float>& scores, float limit, size_t capacity) {
  constexpr float kUntouched = 12345;
  ScoresWithRows found;
  for (size_t read = 0; read < scores.size();) {
    std::vector<float> kept(capacity + kScorePadding + 1, kUntouched);
    std::vector<uint32_t> rows(capacity + kScorePadding);
    ScoredRows to{kept.data(), rows.data(), 0};
    const size_t more = AppendAtLeast(
        {scores.data() + read, scores.size() - read, 100 + static_cast<uint32_t>(read)}, limit,
        capacity, to);
    EXPECT_TRUE(more > 0 || to.size >= capacity);
    EXPECT_LT(to.size, capacity + kScorePadding);
    EXPECT_EQ(kept.back(), kUntouched);
    read += more;
    for (size_t i = 0; i < to.size; ++i) found.emplace_back(kept[i], rows[i]);
  }
  return found;
}

TEST(ScoreRows, AppendAtLeastFindsWhatALoopFinds) {
  for (size_t count = 0; count < 70; ++count) {
    const std::vector<float> scores = Scores(count);
    for (const float limit : {-1.0F, 3.0F, 6.0F, 7.0F, -kInfinity, kInfinity}) {
      ScoresWithRows want;
      for (uint32_t i = 0; i < count; ++i) {
        if (scores[i] >= limit) want.emplace_back(scores[i], 100 + i);
      }
      for (const size_t capacity : {1, 5, 16, 40, 100}) {
        EXPECT_EQ(Found(scores, limit, capacity), want) << count << " scores, limit " << limit;
      }
    }
  }
}

TEST(ScoreRows, ANanIsNeverAtLeastTheLimit) {
  std::vector<float> scores(35, 1);
  scores[0] = scores[20] = scores[34] = kNan;
  EXPECT_EQ(Found(scores, -kInfinity, 100).size(), 32U);
  EXPECT_TRUE(Found(scores, kNan, 100).empty());
}

TEST(ScoreRows, KeepAtLeastKeepsTheOrder) {
  for (size_t count = 0; count < 70; ++count) {
    for (const float limit : {-1.0F, 3.0F, 6.0F, 7.0F}) {
      std::vector<float> scores = Scores(count);
      std::vector<uint32_t> rows(count);
      ScoresWithRows want;
      for (uint32_t i = 0; i < count; ++i) {
        rows[i] = 7 * i;
        if (scores[i] >= limit) want.emplace_back(scores[i], rows[i]);
      }
      scores.resize(count + kScorePadding);
      rows.resize(count + kScorePadding);
      ScoredRows kept{scores.data(), rows.data(), count};
      KeepAtLeast(limit, kept);
      ScoresWithRows got;
      for (size_t i = 0; i < kept.size; ++i) got.emplace_back(scores[i], rows[i]);
      EXPECT_EQ(got, want) << count << " scores, limit " << limit;
    }
  }
}

TEST(ScoreRows, KthLargestIsThatOfSorting) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const size_t count : {1, 2, 15, 16, 17, 100, 403}) {
    for (const int kind : {0, 1, 2, 3}) {
      std::vector<float> scores = kind == 0 ? Scores(count) : std::vector<float>(count, -2.5F);
      if (kind >= 2) std::generate(scores.begin(), scores.end(), [&] { return normal(random); });
      if (kind == 3) {
        scores.front() = kInfinity;
        scores.back() = -kInfinity;
      }
      std::vector<float> sorted = scores;
      std::sort(sorted.begin(), sorted.end(), std::greater<>());
      for (size_t k = 1; k <= count; k += 1 + count / 7) {
        EXPECT_EQ(KthLargest(scores.data(), count, k), sorted[k - 1]) << k << " of " << count;
      }
      EXPECT_EQ(KthLargest(scores.data(), count, count), sorted.back());
    }
  }
}

TEST(ScoreRows, AllFiniteSeesEveryPlace) {
  for (size_t count = 0; count < 40; ++count) {
    std::vector<float> values(count, std::numeric_limits<float>::max());
    EXPECT_TRUE(AllFinite(values.data(), count));
    for (size_t i = 0; i < count; ++i) {
      for (const float broken : {kInfinity, -kInfinity, kNan}) {
        std::vector<float> changed = values;
        changed[i] = broken;
        EXPECT_FALSE(AllFinite(changed.data(), count)) << i << " of " << count;
      }
    }
  }
}

TEST(ScoreRows, DotProductIsThatOfDoubles) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (const size_t count : {0, 1, 15, 16, 17, 63, 64, 65, 100, 384}) {
    std::vector<float> a(count), b(count);
    double want = 0, sizes = 0;
    for (size_t i = 0; i < count; ++i) {
      a[i] = normal(random);
      b[i] = normal(random);
      want += static_cast<double>(a[i]) * b[i];
      sizes += std::fabs(static_cast<double>(a[i]) * b[i]);
    }
    EXPECT_NEAR(DotProduct(a.data(), b.data(), count), want, 1e-6 * sizes) << count;
  }
}

}  // namespace
}  // namespace tandem::tensor::cpu
