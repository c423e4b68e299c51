// The kernels of exact indexes and the forms of rows that they read, against loops.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "index/exact/possible_hits.h"
#include "index/exact/row_codes.h"
#include "index/kernels/code_products.h"
#include "index/kernels/find_at_least.h"
#include "index/kernels/row_scores.h"

namespace tandem::index {
namespace {

using tensor::cpu::Bf16;

float ValueOf(Bf16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

std::vector<float> RandomRow(size_t width, float scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<float> row(width);
  for (float& value : row) value = scale * normal(random);
  return row;
}

TEST(RowCodes, SayWhatTheyLose) {
  for (const float scale : {1.0F, 1e-20F, 1e-40F, 1e-44F, 1e37F}) {
    for (const size_t width : {1, 3, 384}) {
      const std::vector<float> row = RandomRow(width, scale, 1);
      const size_t padded = PaddedWidth(width);
      std::vector<int8_t> codes(padded, 9);
      const RowCode code = EncodeRow(row.data(), width, padded, codes.data());
      double residual = 0, length = 0;
      for (size_t i = 0; i < width; ++i) {
        const double lost = row[i] - static_cast<double>(code.scale) * codes[i];
        EXPECT_LE(std::fabs(lost), 0.5001 * code.scale) << scale;
        residual += lost / code.scale * (lost / code.scale);
        length += codes[i] * codes[i];
      }
      EXPECT_NEAR(code.residual, std::sqrt(residual), 1e-6);
      EXPECT_NEAR(code.length, std::sqrt(length), 1e-6);
      for (size_t i = width; i < padded; ++i) EXPECT_EQ(codes[i], 0);
    }
  }
}

TEST(RowCodes, ARowOfZerosHasNoScale) {
  const std::vector<float> row(40);
  std::vector<int8_t> codes(64, 9);
  const RowCode code = EncodeRow(row.data(), 40, 64, codes.data());
  EXPECT_EQ(code.scale, 0);
  EXPECT_EQ(code.residual, 0);
  EXPECT_EQ(codes, std::vector<int8_t>(64));
}

TEST(RowCodes, RoundedRowsSayWhatTheyLose) {
  std::vector<float> row = RandomRow(40, 1, 2);
  row[3] = 1 + 0x1p-8F;  // a tie, to even
  row[4] = 1 + 0x3p-8F;
  row[5] = -std::numeric_limits<float>::max();
  std::vector<Bf16> rounded(64, Bf16{7});
  const double lost = RoundRow(row.data(), 40, 64, rounded.data());
  EXPECT_EQ(ValueOf(rounded[3]), 1);
  EXPECT_EQ(ValueOf(rounded[4]), 1 + 0x1p-6F);
  EXPECT_EQ(rounded[5].bits, 0xFF7F);
  double sum = 0;
  for (size_t i = 0; i < 40; ++i) {
    sum += std::pow(static_cast<double>(row[i]) - ValueOf(rounded[i]), 2);
  }
  EXPECT_NEAR(lost / std::sqrt(sum), 1, 1e-12);
  for (size_t i = 40; i < 64; ++i) EXPECT_EQ(rounded[i].bits, 0);
}

// Codes and queries, some of them as large as they may be.
struct Problem {
  size_t width, rows, queries;
  std::vector<int8_t> codes;
  std::vector<float> scales, offsets;
  std::vector<int16_t> query;

  Problem(size_t width_of, size_t row_count, size_t query_count)
      : width(width_of), rows(row_count), queries(query_count) {
    std::mt19937 random(3);
    codes.resize(rows * width);
    scales.resize(rows);
    query.resize(queries * width);
    for (size_t i = 0; i < codes.size(); ++i) {
      codes[i] = static_cast<int8_t>(i < width ? -127 : static_cast<int>(random() % 255) - 127);
    }
    const int largest = static_cast<int>(std::min<size_t>(32767, 16'900'000 / width));
    for (size_t i = 0; i < query.size(); ++i) {
      query[i] = static_cast<int16_t>(
          i < width ? largest : static_cast<int>(random() % 65535) % (2 * largest + 1) - largest);
    }
    for (float& scale : scales) scale = static_cast<float>(random() % 100) / 16;
    for (size_t q = 0; q < queries; ++q) offsets.push_back(static_cast<float>(q) * 3);
  }
  CodeRows view() const { return {codes.data(), scales.data(), width}; }
  float Want(size_t row, size_t q) const {
    int64_t sum = 0;
    for (size_t i = 0; i < width; ++i) sum += codes[row * width + i] * query[q * width + i];
    return scales[row] * (static_cast<float>(sum) + offsets[q]);
  }
};

TEST(CodeScores, AreThoseOfALoop) {
  for (const size_t width : {32, 384, 1024}) {
    const Problem p(width, 13, 2);
    for (size_t q = 0; q < p.queries; ++q) {
      std::vector<float> scores(14, 7.0F);
      ScoreCodeRows(p.view(), 13, p.query.data() + q * width, p.offsets[q], scores.data());
      for (size_t r = 0; r < 13; ++r) EXPECT_EQ(scores[r], p.Want(r, q)) << width;
      EXPECT_EQ(scores[13], 7.0F);
    }
  }
}

TEST(CodeScores, OfABatchAreThoseOfALoop) {
  for (const size_t queries : {1, 5, 40}) {
    for (size_t rows = 1; rows < 28; ++rows) {
      const Problem p(96, rows, queries);
      const PackedCodeQueries packed(p.query.data(), queries, p.width);
      std::vector<float> offsets = p.offsets;
      offsets.resize(packed.columns());
      std::vector<uint32_t> list;
      for (size_t i = 0; i < rows; i += 2) list.push_back(static_cast<uint32_t>(rows - 1 - i));
      const RowBlock blocks[] = {{.first = 0, .count = rows},
                                 {.first = rows / 2, .count = rows - rows / 2},
                                 {.count = list.size(), .list = list.data()}};
      for (const RowBlock& block : blocks) {
        std::vector<float> scores(block.count * packed.columns());
        ScoreCodeBlock(p.view(), block, packed, offsets.data(), scores.data());
        for (size_t i = 0; i < block.count; ++i) {
          for (size_t q = 0; q < queries; ++q) {
            ASSERT_EQ(scores[i * packed.columns() + q], p.Want(block[i], q)) << rows << " rows";
          }
        }
      }
    }
  }
}

TEST(FindAtLeast, FindsWhatALoopFinds) {
  std::mt19937 random(4);
  for (size_t count = 0; count < 70; ++count) {
    std::vector<float> scores(count), limits(count);
    std::vector<uint32_t> want, found(count + kFoundPadding);
    for (size_t i = 0; i < count; ++i) {
      scores[i] = i % 11 == 3 ? std::nanf("") : static_cast<float>(random() % 5);
      limits[i] = static_cast<float>(random() % 5);
      if (scores[i] >= limits[i]) want.push_back(static_cast<uint32_t>(i));
    }
    found.resize(FindAtLeast(scores.data(), limits.data(), count, found.data()));
    EXPECT_EQ(found, want);
  }
}

// A row may be left out only where k others are better for certain.
TEST(PossibleHits, KeepEveryRowThatMayCount) {
  constexpr size_t kRows = 5000, kBest = 7;
  std::mt19937 random(5);
  std::vector<float> upper(kRows), weights(kRows);
  for (size_t i = 0; i < kRows; ++i) {
    weights[i] = static_cast<float>(random() % 50) / 10;
    upper[i] = static_cast<float>(random() % 1000) / 10;
  }
  const ScoreBound bound{.span = 2};
  PossibleHits candidates(kBest, kRows, weights.data(), bound);
  for (size_t i = 0; i < kRows; i += 100) {
    candidates.Offer(upper.data() + i, 50, static_cast<uint32_t>(i));
    for (size_t j = i + 50; j < i + 100; ++j) candidates.Add(upper[j], static_cast<uint32_t>(j));
  }
  std::vector<float> lower;
  for (size_t i = 0; i < kRows; ++i) lower.push_back(upper[i] - bound.span * weights[i]);
  std::ranges::nth_element(lower, lower.begin() + kBest - 1, std::greater<>());
  std::vector<bool> kept(kRows);
  for (const uint32_t row : candidates.rows()) kept[row] = true;
  for (size_t i = 0; i < kRows; ++i) {
    EXPECT_TRUE(kept[i] || upper[i] < lower[kBest - 1]) << i;
  }
  EXPECT_LT(candidates.rows().size(), kRows / 2);
}

}  // namespace
}  // namespace tandem::index
