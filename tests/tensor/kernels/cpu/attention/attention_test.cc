// Attention in its general form: the fused kernels against the reference form in float64, outputs
// and all gradients; the reference's gradients against central differences.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "tensor/kernels/cpu/attention_problem.h"

namespace tandem::tensor {
namespace {

// Every mask, with and without bias and cap, over texts shorter and longer than blocks and chunks.
TEST(Attention, EveryRuleEqualsTheReference) {
  for (const bool causal : {false, true}) {
    for (const int64_t window : {0, 1, 3, 64, 1000}) {
      for (const int64_t buckets : {0, 32}) {
        for (const double soft_cap : {0.0, 2.0}) {
          ExpectFormsEqualReference({.lengths = {1, 97, 33, 2},
                                     .shape = {4, 2, 32},
                                     .rule = RuleOf(causal, window, soft_cap),
                                     .buckets = buckets,
                                     .dropout = buckets > 0 ? 0.0 : 0.2});
        }
      }
    }
  }
}

// Widths from 16 to 256, that are and are not multiples of 32, and every grouping of heads.
TEST(Attention, EveryWidthAndGroupEqualsTheReference) {
  for (const int64_t width : {16, 32, 48, 64, 80, 96, 128, 256}) {
    for (const HeadShape& shape :
         {HeadShape{3, 3, width}, HeadShape{4, 2, width}, HeadShape{3, 1, width}}) {
      ExpectFormsEqualReference({.lengths = {5, 1, 70},
                                 .shape = shape,
                                 .rule = {.scale = 1 / std::sqrt(static_cast<double>(width)),
                                          .causal = width % 32 == 0,
                                          .window = width % 48 == 0 ? 7 : 0},
                                 .dropout = 0.1,
                                 .size = 1});
    }
  }
}

// Texts over several chunks of keys, which hold fewer keys of wide heads.
TEST(Attention, TextsOfSeveralChunksEqualTheReference) {
  struct {
    int64_t width;
    std::vector<int64_t> lengths;
  } const texts[] = {{32, {530}}, {64, {257, 3, 256}}, {256, {129, 65}}};
  for (const auto& [width, lengths] : texts) {
    for (const AttentionRule& rule : {RuleOf(false, 0), RuleOf(true, 0), RuleOf(false, 64)}) {
      ExpectFormsEqualReference({.lengths = lengths,
                                 .shape = {2, 1, width},
                                 .rule = rule,
                                 .buckets = width == 64 ? 32 : 0,
                                 .size = width == 256 ? 0.5 : 1.5});
    }
  }
}

TEST(Attention, RandomSettingsEqualTheReference) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    Inputs make(500 + seed);
    AttentionSetting setting;
    for (int64_t text = make.Between(1, 4); text > 0; --text) {
      setting.lengths.push_back(make.Between(0, 3) == 0 ? make.Between(1, 4)
                                                        : make.Between(1, 300));
    }
    const int64_t groups = make.Between(1, 3);
    setting.shape = {groups * make.Between(1, 3), groups, 16 * make.Between(1, 8)};
    setting.rule = {.scale = 0.01 * static_cast<double>(make.Between(1, 30)),
                    .causal = make.Between(0, 1) == 1,
                    .window = make.Between(0, 1) * make.Between(1, 330),
                    .soft_cap = static_cast<double>(make.Between(0, 1) * make.Between(1, 30))};
    setting.buckets = make.Between(0, 2) == 0 ? 4 * make.Between(1, 16) : 0;
    setting.max_distance = make.Between(64, 200);
    setting.dropout = 0.25 * static_cast<double>(make.Between(0, 2));
    ExpectFormsEqualReference(setting, seed);
  }
}

// Stretches of queries and of keys, where blocks, chunks and tasks begin and end.
TEST(Attention, ALongTextEqualsTheReference) {
  for (const int64_t window : {0, 64}) {
    ExpectFormsEqualReference({.lengths = {2100},
                               .shape = {1, 1, 32},
                               .rule = RuleOf(/*causal=*/true, window),
                               .size = 1});
  }
}

// Scores whose exponentials would overflow, rising along the text, so that maxima rise from chunk
// to chunk and earlier sums are scaled down to nothing.
TEST(Attention, LargeScoresThatRiseAlongTheTextAreExact) {
  const std::vector<int64_t> lengths = {700, 690, 680, 300};  // more than threads
  AttentionProblem problem({.lengths = lengths, .shape = {1, 1, 64}, .rule = {.scale = 1}});
  for (int64_t row = 0; row < problem.tokens.tokens(); ++row) {
    const int64_t token = problem.tokens.positions[row].item<int64_t>();
    problem.qkv[row].narrow(0, 0, 64).fill_(1);
    problem.qkv[row].narrow(0, 64, 64).fill_(static_cast<double>(token / 64) / 4 - 1);
  }
  const AttentionResult want = RunReference(problem);
  for (const Case& c : Cases()) {
    const AttentionResult got = RunAttention(problem, c.activation);
    EXPECT_LE(Error(got.out, want.out), c.bound) << Name(c.activation);
    EXPECT_LE(Error(got.grad_qkv, want.grad_qkv), c.bound) << Name(c.activation);
  }
}

TEST(Attention, ReferenceGradientsAreCentralDifferences) {
  const UseReferenceOps reference;
  for (const bool causal : {false, true}) {
    const AttentionProblem problem({.lengths = {7, 3},
                                    .shape = {2, 1, 16},
                                    .rule = RuleOf(causal, 2, 1.5),
                                    .buckets = 8,
                                    .max_distance = 6,
                                    .dropout = 0.2});
    const AttentionResult at_point = RunAttention(problem, kDouble);
    const auto value = [](const AttentionProblem& moved) {
      const std::vector<double> out =
          DoublesOf(Attention(moved.qkv, moved.tokens, moved.setting.shape, moved.setting.rule,
                              {moved.table, moved.setting.max_distance}, moved.Drop()));
      const std::vector<double> weights = DoublesOf(moved.grad_out);
      return std::inner_product(out.begin(), out.end(), weights.begin(), 0.0);
    };
    const auto expect = [&](Tensor AttentionProblem::*input, const Tensor& gradient, int64_t step) {
      const Tensor flat = gradient.flatten();
      for (int64_t i = 0; i < flat.size(0); i += step) {
        const auto moved_by = [&](double by) {
          AttentionProblem moved = problem;
          moved.*input = (problem.*input).clone();
          (moved.*input).data_ptr<double>()[i] += by;
          return value(moved);
        };
        const double difference = (moved_by(1e-5) - moved_by(-1e-5)) / 2e-5;
        EXPECT_NEAR(flat[i].item<double>(), difference, 1e-6) << i;
      }
    };
    expect(&AttentionProblem::qkv, at_point.grad_qkv, 7);
    expect(&AttentionProblem::table, at_point.grad_table, 1);
  }
}

}  // namespace
}  // namespace tandem::tensor
