// Attention in its general form: the fused kernels against the reference form in float64, outputs
// and all gradients; the reference's gradients against central differences.
//
// Error = max|got - want| / max(1, max|want|) for each array.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensor/inputs.h"
#include "tensor/kernels/cpu/attention_mask.h"
#include "tensor/ops.h"
#include "tensor/profile.h"

namespace tandem::tensor {
namespace {

double Error(const at::Tensor& got, const at::Tensor& want) {
  return (got.to(at::kDouble) - want).abs().max().item<double>() /
         std::max(1.0, want.abs().max().item<double>());
}

struct Setting {
  std::vector<int64_t> lengths;
  HeadShape shape;
  AttentionRule rule;
  int64_t buckets = 0;  // of the bias; 0: none
  int64_t max_distance = 128;
  double dropout = 0;
  double size = 1.5;  // of queries, keys and values

  std::string Name() const {
    return fmt::format(
        "{} texts, the first of {} tokens, {}/{} heads of {}, scale {}, window {}{}, cap {}, {} "
        "buckets, dropout {}",
        lengths.size(), lengths[0], shape.heads, shape.key_value_heads, shape.head_width,
        rule.scale, rule.window, rule.causal ? " causal" : "", rule.soft_cap, buckets, dropout);
  }
};

// A setting with its inputs.
struct Problem {
  Setting setting;
  PackedTokens tokens;
  at::Tensor qkv, table, grad_out;  // double

  explicit Problem(Setting from, uint64_t seed = 1) : setting(std::move(from)) {
    Inputs make(seed);
    tokens = make.Tokens(setting.lengths, 9);
    qkv = make.Make({tokens.tokens(), setting.shape.qkv_width()}, setting.size);
    grad_out = make.Make({tokens.tokens(), setting.shape.out_width()}, 1);
    if (setting.buckets > 0) table = make.Make({setting.buckets, setting.shape.heads}, 2);
  }
  Dropout Drop() const { return {.rate = setting.dropout, .seed = 42, .step = 7, .site = 3}; }
};

struct Result {
  at::Tensor out, grad_qkv, grad_table;
};

at::Tensor Leaf(const at::Tensor& x, at::ScalarType type) {
  return x.defined() ? x.to(type, false, /*copy=*/true).requires_grad_(true) : x;
}

Result RunFused(const Problem& problem, at::ScalarType type) {
  const Setting& setting = problem.setting;
  const at::Tensor qkv = Leaf(problem.qkv, type);
  const at::Tensor table = Leaf(problem.table, type == at::kDouble ? type : at::kFloat);
  const at::Tensor out = Attention(qkv, problem.tokens, setting.shape, setting.rule,
                                   {table, setting.max_distance}, problem.Drop());
  out.backward(problem.grad_out.to(type));
  return {out.detach(), qkv.grad(), table.defined() ? table.grad() : at::Tensor()};
}

Result RunReference(const Problem& problem, at::ScalarType type = at::kDouble) {
  const UseReferenceOps reference;
  return RunFused(problem, type);
}

void ExpectFusedEqualsReference(const Setting& setting, uint64_t seed = 1) {
  const Problem problem(setting, seed);
  const Result want = RunReference(problem);
  for (const Case& c : Cases()) {
    const Result got = RunFused(problem, c.activation);
    EXPECT_LE(Error(got.out, want.out), c.bound) << setting.Name() << ", " << c.activation;
    EXPECT_LE(Error(got.grad_qkv, want.grad_qkv), c.bound)
        << setting.Name() << ", gradient, " << c.activation;
    if (setting.buckets == 0) continue;
    EXPECT_LE(Error(got.grad_table, want.grad_table), c.bound)
        << setting.Name() << ", gradient of the bias, " << c.activation;
  }
}

AttentionRule RuleOf(bool causal, int64_t window, double soft_cap = 0) {
  return {.scale = 0.2, .causal = causal, .window = window, .soft_cap = soft_cap};
}

// Every mask, with and without bias and cap, over texts shorter and longer than blocks and chunks.
TEST(Attention, EveryRuleEqualsTheReference) {
  for (const bool causal : {false, true}) {
    for (const int64_t window : {0, 1, 3, 64, 1000}) {
      for (const int64_t buckets : {0, 32}) {
        for (const double soft_cap : {0.0, 2.0}) {
          ExpectFusedEqualsReference({.lengths = {1, 97, 33, 2},
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
      ExpectFusedEqualsReference({.lengths = {5, 1, 70},
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
      ExpectFusedEqualsReference({.lengths = lengths,
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
    Setting setting;
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
    ExpectFusedEqualsReference(setting, seed);
  }
}

// Stretches of queries and of keys, where blocks, chunks and tasks begin and end.
TEST(Attention, ALongTextEqualsTheReference) {
  for (const int64_t window : {0, 64}) {
    ExpectFusedEqualsReference({.lengths = {2100},
                                .shape = {1, 1, 32},
                                .rule = RuleOf(/*causal=*/true, window),
                                .size = 1});
  }
}

// Scores whose exponentials would overflow, rising along the text, so that maxima rise from chunk
// to chunk and earlier sums are scaled down to nothing.
TEST(Attention, LargeScoresThatRiseAlongTheTextAreExact) {
  const std::vector<int64_t> lengths = {700, 690, 680, 300};  // more than threads
  Problem problem({.lengths = lengths, .shape = {1, 1, 64}, .rule = {.scale = 1}});
  for (int64_t row = 0; row < problem.tokens.tokens(); ++row) {
    const int64_t token = problem.tokens.positions[row].item<int64_t>();
    problem.qkv[row].narrow(0, 0, 64).fill_(1);
    problem.qkv[row].narrow(0, 64, 64).fill_(static_cast<double>(token / 64) / 4 - 1);
  }
  const Result want = RunReference(problem);
  for (const Case& c : Cases()) {
    const Result got = RunFused(problem, c.activation);
    EXPECT_LE(Error(got.out, want.out), c.bound) << c.activation;
    EXPECT_LE(Error(got.grad_qkv, want.grad_qkv), c.bound) << c.activation;
  }
}

TEST(Attention, ReferenceGradientsAreCentralDifferences) {
  const UseReferenceOps reference;
  for (const bool causal : {false, true}) {
    const Problem problem({.lengths = {7, 3},
                           .shape = {2, 1, 16},
                           .rule = RuleOf(causal, 2, 1.5),
                           .buckets = 8,
                           .max_distance = 6,
                           .dropout = 0.2});
    const Result at_point = RunFused(problem, at::kDouble);
    const auto value = [](const Problem& moved) {
      return (Attention(moved.qkv, moved.tokens, moved.setting.shape, moved.setting.rule,
                        {moved.table, moved.setting.max_distance}, moved.Drop()) *
              moved.grad_out)
          .sum()
          .item<double>();
    };
    const auto expect = [&](at::Tensor Problem::*input, const at::Tensor& gradient, int64_t step) {
      const at::Tensor flat = gradient.flatten();
      for (int64_t i = 0; i < flat.size(0); i += step) {
        const auto moved_by = [&](double by) {
          Problem moved = problem;
          moved.*input = (problem.*input).clone();
          (moved.*input).data_ptr<double>()[i] += by;
          return value(moved);
        };
        const double difference = (moved_by(1e-5) - moved_by(-1e-5)) / 2e-5;
        EXPECT_NEAR(flat[i].item<double>(), difference, 1e-6) << i;
      }
    };
    expect(&Problem::qkv, at_point.grad_qkv, 7);
    expect(&Problem::table, at_point.grad_table, 1);
  }
}

// A text's output and gradients are the same bytes alone and among others, whatever these hold.
TEST(Attention, ATextDoesNotSeeItsNeighbours) {
  const int usual = at::get_num_threads();
  at::set_num_threads(1);  // so that memory of one text's task is reused for the next one
  for (const Case& c : Cases()) {
    for (const int64_t window : {0, 5}) {
      const Setting setting{.lengths = {300, 41, 7},
                            .shape = {4, 2, 32},
                            .rule = RuleOf(window > 0, window),
                            .buckets = window == 0 ? 16 : 0};
      Problem all(setting);
      all.qkv.narrow(0, 0, 300) *= 64;
      const Result together = RunFused(all, c.activation);
      int64_t first = 0;
      for (const int64_t length : setting.lengths) {
        Problem one = all;
        one.setting.lengths = {length};
        one.tokens = Inputs(1).Tokens({length}, 9);
        one.qkv = all.qkv.narrow(0, first, length);
        one.grad_out = all.grad_out.narrow(0, first, length);
        const Result alone = RunFused(one, c.activation);
        EXPECT_TRUE(at::equal(alone.out, together.out.narrow(0, first, length))) << length;
        EXPECT_TRUE(at::equal(alone.grad_qkv, together.grad_qkv.narrow(0, first, length)))
            << length;
        first += length;
      }
    }
  }
  at::set_num_threads(usual);
}

// Without a rule, long texts have other kernels than short ones: each text by its own length.
TEST(Attention, ShortAndLongTextsWithoutARule) {
  const Setting setting{
      .lengths = {513, 20, 512}, .shape = {2, 2, 16}, .rule = {.scale = 0.25}, .dropout = 0.1};
  ExpectFusedEqualsReference(setting);
  const Problem all(setting);
  Problem one = all;
  one.setting.lengths = {20};
  one.tokens = Inputs(1).Tokens({20}, 9);
  one.qkv = all.qkv.narrow(0, 513, 20);
  one.grad_out = all.grad_out.narrow(0, 513, 20);
  one.setting.dropout = 0;
  Problem without = all;
  without.setting.dropout = 0;
  for (const Case& c : Cases()) {
    const Result alone = RunFused(one, c.activation), together = RunFused(without, c.activation);
    EXPECT_TRUE(at::equal(alone.out, together.out.narrow(0, 513, 20))) << c.activation;
    EXPECT_TRUE(at::equal(alone.grad_qkv, together.grad_qkv.narrow(0, 513, 20))) << c.activation;
  }
}

// What a query cannot read changes nothing that it gives.
TEST(Attention, HiddenKeysChangeNothing) {
  for (const Case& c : Cases()) {
    for (const bool causal : {false, true}) {
      const Setting setting{
          .lengths = {200}, .shape = {2, 1, 32}, .rule = RuleOf(causal, 10), .buckets = 0};
      Problem problem(setting);
      const at::Tensor before = RunFused(problem, c.activation).out;
      problem.qkv[100].narrow(0, 64, 64) += 3;  // the key and the value of token 100
      const at::Tensor after = RunFused(problem, c.activation).out;
      for (int64_t query = 0; query < 200; ++query) {
        const bool reads = query >= (causal ? 100 : 90) && query <= 110;
        EXPECT_EQ(at::equal(before[query], after[query]), !reads) << query << ", " << c.activation;
      }
    }
  }
}

TEST(Attention, AnyNumberOfThreadsGivesTheSameBytes) {
  const int usual = at::get_num_threads();
  const Problem problem({.lengths = {2100, 1, 17, 300, 299},
                         .shape = {4, 2, 16},
                         .rule = RuleOf(true, 100),
                         .buckets = 32,
                         .dropout = 0.1});
  for (const Case& c : Cases()) {
    Result first;
    for (const int threads : {1, 2, 3}) {
      at::set_num_threads(threads);
      const Result result = RunFused(problem, c.activation);
      if (threads == 1) first = result;
      EXPECT_TRUE(at::equal(result.out, first.out)) << threads;
      EXPECT_TRUE(at::equal(result.grad_qkv, first.grad_qkv)) << threads;
      EXPECT_TRUE(at::equal(result.grad_table, first.grad_table)) << threads;
    }
  }
  at::set_num_threads(usual);
}

TEST(Attention, ANanIsShownWhereItIsRead) {
  for (const Case& c : Cases()) {
    Problem problem({.lengths = {70}, .shape = {1, 1, 32}, .rule = RuleOf(false, 4)});
    problem.qkv[40][32 + 3] = std::nan("");  // a key
    const at::Tensor out = RunFused(problem, c.activation).out.to(at::kDouble);
    for (int64_t query = 0; query < 70; ++query) {
      const bool reads = std::abs(query - 40) <= 4;
      EXPECT_EQ(std::isnan(out[query][0].item<double>()), reads) << query << ", " << c.activation;
    }
  }
}

// A frozen table gets no gradient; a table of another type gets one of its own.
TEST(Attention, TablesOfAnyTypeAndFrozenOnes) {
  const Problem problem(
      {.lengths = {20}, .shape = {2, 2, 16}, .rule = RuleOf(false, 0), .buckets = 8});
  const Setting& setting = problem.setting;
  const at::Tensor want = RunReference(problem).grad_table;
  const auto gradient_of = [&](const at::Tensor& table) {
    const at::Tensor qkv = Leaf(problem.qkv, at::kFloat);
    Attention(qkv, problem.tokens, setting.shape, setting.rule, {table, 128}, {})
        .backward(problem.grad_out.to(at::kFloat));
    EXPECT_TRUE(qkv.grad().defined());
    return table.grad();
  };
  EXPECT_FALSE(gradient_of(problem.table.to(at::kFloat)).defined());
  const at::Tensor narrow = gradient_of(Leaf(problem.table, at::kBFloat16));
  EXPECT_EQ(narrow.scalar_type(), at::kBFloat16);
  EXPECT_LE(Error(narrow, want), 1e-2);
  // Only the table is trained.
  const at::Tensor table = Leaf(problem.table, at::kFloat);
  Attention(problem.qkv.to(at::kFloat), problem.tokens, setting.shape, setting.rule, {table, 128},
            {})
      .backward(problem.grad_out.to(at::kFloat));
  EXPECT_LE(Error(table.grad(), want), 2e-5);
}

TEST(Attention, ShapesThatDoNotFitAreRefused) {
  const PackedTokens tokens = Inputs(1).Tokens({4}, 9);
  const at::Tensor qkv = at::zeros({4, 8 * 16});
  const AttentionRule rule;
  EXPECT_NO_THROW(Attention(qkv, tokens, {4, 2, 16}, rule, {}, {}));
  EXPECT_THROW(Attention(qkv, tokens, {3, 2, 16}, rule, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 4, 16}, rule, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, rule, {at::zeros({8, 2})}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, {.scale = 0}, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, {.window = -1}, {}, {}), std::logic_error);
}

// A width that kernels do not take is computed all the same.
TEST(Attention, AnOddWidthRunsInTheReferenceForm) {
  const Problem problem({.lengths = {5, 9}, .shape = {2, 1, 20}, .rule = RuleOf(true, 0)});
  const Result want = RunReference(problem), got = RunFused(problem, at::kFloat);
  EXPECT_LE(Error(got.out, want.out), 2e-5);
  EXPECT_LE(Error(got.grad_qkv, want.grad_qkv), 2e-5);
}

// The pairs that a mask lets be read, counted one by one.
TEST(Attention, MasksAndWorkCountPairsThatAreRead) {
  for (const size_t length : {1, 2, 7, 20}) {
    for (const size_t window : {0, 1, 3, 6, 19, 50}) {
      for (const bool causal : {false, true}) {
        const cpu::AttentionMask mask{causal, window};
        double pairs = 0;
        for (size_t query = 0; query < length; ++query) {
          const cpu::TokenRange keys = mask.KeysOf(query, length);
          for (size_t key = 0; key < length; ++key) {
            const size_t distance = query > key ? query - key : key - query;
            const bool reads = (!causal || key <= query) && (window == 0 || distance <= window);
            EXPECT_EQ(key >= keys.begin && key < keys.end, reads);
            const cpu::TokenRange readers = mask.QueriesOf({key, key + 1}, length);
            EXPECT_EQ(query >= readers.begin && query < readers.end, reads);
            pairs += reads ? 1 : 0;
          }
        }
        Profile profile;
        const ActiveProfile active(&profile);
        const auto tokens = static_cast<int64_t>(length);
        Attention(at::zeros({tokens, 8 * 16}), Inputs(1).Tokens({tokens}, 9), {4, 2, 16},
                  {.causal = causal, .window = static_cast<int64_t>(window)}, {}, {});
        ASSERT_EQ(profile.operations().size(), 1U);
        EXPECT_EQ(profile.operations()[0].work.flops, 4 * pairs * 4 * 16);
        EXPECT_EQ(profile.operations()[0].work.bytes, 4.0 * (8 + 4) * 16 * tokens);
      }
    }
  }
}

}  // namespace
}  // namespace tandem::tensor
