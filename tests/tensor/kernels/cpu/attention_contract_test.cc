// What attention promises of texts, threads, NaN, tables and shapes, whatever computes it.
#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/core/parallel.h"
#include "tensor/fused_only.h"
#include "tensor/kernels/cpu/attention/attention_mask.h"
#include "tensor/kernels/cpu/attention_problem.h"
#include "tensor/profile/profile.h"

namespace tandem::tensor {
namespace {

// A text's output and gradients are the same bytes alone and among others, whatever these hold.
TEST(Attention, ATextDoesNotSeeItsNeighbours) {
  const int usual = ThreadCount();
  SetThreadCount(1);  // so that memory of one text's task is reused for the next one
  for (const Case& c : Cases()) {
    for (const int64_t window : {0, 5}) {
      const AttentionSetting setting{.lengths = {300, 41, 7},
                                     .shape = {4, 2, 32},
                                     .rule = RuleOf(window > 0, window),
                                     .buckets = window == 0 ? 16 : 0};
      AttentionProblem all(setting);
      all.qkv.narrow(0, 0, 300).mul_(64);
      const AttentionResult together = RunAttention(all, c.activation);
      int64_t first = 0;
      for (const int64_t length : setting.lengths) {
        AttentionProblem one = all;
        one.setting.lengths = {length};
        one.tokens = Inputs(1).Tokens({length}, 9);
        one.qkv = all.qkv.narrow(0, first, length);
        one.grad_out = all.grad_out.narrow(0, first, length);
        const AttentionResult alone = RunAttention(one, c.activation);
        EXPECT_TRUE(SameBytes(alone.out, together.out.narrow(0, first, length))) << length;
        EXPECT_TRUE(SameBytes(alone.grad_qkv, together.grad_qkv.narrow(0, first, length)))
            << length;
        first += length;
      }
    }
  }
  SetThreadCount(usual);
}

// Long texts have other kernels than short ones where there is no rule: each text by its own
// length.
TEST(Attention, ShortAndLongTextsWithoutARule) {
  const AttentionSetting setting{
      .lengths = {513, 20, 512}, .shape = {2, 2, 16}, .rule = {.scale = 0.25}, .dropout = 0.1};
  ExpectFormsEqualReference(setting);
  const AttentionProblem all(setting);
  AttentionProblem one = all;
  one.setting.lengths = {20};
  one.tokens = Inputs(1).Tokens({20}, 9);
  one.qkv = all.qkv.narrow(0, 513, 20);
  one.grad_out = all.grad_out.narrow(0, 513, 20);
  one.setting.dropout = 0;
  AttentionProblem without = all;
  without.setting.dropout = 0;
  for (const Case& c : Cases()) {
    const AttentionResult alone = RunAttention(one, c.activation),
                          together = RunAttention(without, c.activation);
    EXPECT_TRUE(SameBytes(alone.out, together.out.narrow(0, 513, 20))) << Name(c.activation);
    EXPECT_TRUE(SameBytes(alone.grad_qkv, together.grad_qkv.narrow(0, 513, 20)))
        << Name(c.activation);
  }
}

// What a query cannot read changes nothing that it gives.
TEST(Attention, HiddenKeysChangeNothing) {
  for (const Case& c : Cases()) {
    for (const bool causal : {false, true}) {
      const AttentionSetting setting{
          .lengths = {200}, .shape = {2, 1, 32}, .rule = RuleOf(causal, 10), .buckets = 0};
      AttentionProblem problem(setting);
      const Tensor before = RunAttention(problem, c.activation).out;
      // The key and the value of token 100.
      problem.qkv[100].narrow(0, 64, 64).add_(Full({64}, 3, kDouble));
      const Tensor after = RunAttention(problem, c.activation).out;
      for (int64_t query = 0; query < 200; ++query) {
        const bool reads = query >= (causal ? 100 : 90) && query <= 110;
        EXPECT_EQ(SameBytes(before[query], after[query]), !reads)
            << query << ", " << Name(c.activation);
      }
    }
  }
}

TEST(Attention, AnyNumberOfThreadsGivesTheSameBytes) {
  SKIP_UNLESS_FUSED();  // libtorch sums in another order with other numbers of threads
  const int usual = ThreadCount();
  const AttentionProblem problem({.lengths = {2100, 1, 17, 300, 299},
                                  .shape = {4, 2, 16},
                                  .rule = RuleOf(true, 100),
                                  .buckets = 32,
                                  .dropout = 0.1});
  for (const Case& c : Cases()) {
    AttentionResult first;
    for (const int threads : {1, 2, 3}) {
      SetThreadCount(threads);
      const AttentionResult result = RunAttention(problem, c.activation);
      if (threads == 1) first = result;
      EXPECT_TRUE(SameBytes(result.out, first.out)) << threads;
      EXPECT_TRUE(SameBytes(result.grad_qkv, first.grad_qkv)) << threads;
      EXPECT_TRUE(SameBytes(result.grad_table, first.grad_table)) << threads;
    }
  }
  SetThreadCount(usual);
}

TEST(Attention, ANanIsShownWhereItIsRead) {
  for (const Case& c : Cases()) {
    AttentionProblem problem({.lengths = {70}, .shape = {1, 1, 32}, .rule = RuleOf(false, 4)});
    problem.qkv[40][32 + 3].fill_(std::nan(""));  // a key
    const Tensor out = RunAttention(problem, c.activation).out.to(kDouble);
    for (int64_t query = 0; query < 70; ++query) {
      const bool reads = std::abs(query - 40) <= 4;
      EXPECT_EQ(std::isnan(out[query][0].item<double>()), reads)
          << query << ", " << Name(c.activation);
    }
  }
}

// A frozen table gets no gradient; a table of another type gets one of its own.
TEST(Attention, TablesOfAnyTypeAndFrozenOnes) {
  const AttentionProblem problem(
      {.lengths = {20}, .shape = {2, 2, 16}, .rule = RuleOf(false, 0), .buckets = 8});
  const AttentionSetting& setting = problem.setting;
  const Tensor want = RunReference(problem).grad_table;
  const auto gradient_of = [&](const Tensor& table) {
    const Tensor qkv = AttentionLeaf(problem.qkv, kFloat);
    Attention(qkv, problem.tokens, setting.shape, setting.rule, {table, 128}, {})
        .backward(problem.grad_out.to(kFloat));
    EXPECT_TRUE(qkv.grad().defined());
    return table.grad();
  };
  EXPECT_FALSE(gradient_of(problem.table.to(kFloat)).defined());
  const Tensor narrow = gradient_of(AttentionLeaf(problem.table, kBFloat16));
  EXPECT_EQ(narrow.dtype(), kBFloat16);
  EXPECT_LE(Error(narrow, want), 1e-2);
  // Only the table is trained.
  const Tensor table = AttentionLeaf(problem.table, kFloat);
  Attention(problem.qkv.to(kFloat), problem.tokens, setting.shape, setting.rule, {table, 128}, {})
      .backward(problem.grad_out.to(kFloat));
  EXPECT_LE(Error(table.grad(), want), 2e-5);
}

TEST(Attention, ShapesThatDoNotFitAreRefused) {
  const PackedTokens tokens = Inputs(1).Tokens({4}, 9);
  const Tensor qkv = Zeros({4, 8 * 16}, kFloat);
  const AttentionRule rule;
  EXPECT_NO_THROW(Attention(qkv, tokens, {4, 2, 16}, rule, {}, {}));
  EXPECT_THROW(Attention(qkv, tokens, {3, 2, 16}, rule, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 4, 16}, rule, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, rule, {Zeros({8, 2}, kFloat)}, {}),
               std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, {.scale = 0}, {}, {}), std::logic_error);
  EXPECT_THROW(Attention(qkv, tokens, {4, 2, 16}, {.window = -1}, {}, {}), std::logic_error);
}

// A width that kernels do not take is computed all the same.
TEST(Attention, AnOddWidthRunsInTheReferenceForm) {
  const AttentionProblem problem({.lengths = {5, 9}, .shape = {2, 1, 20}, .rule = RuleOf(true, 0)});
  const AttentionResult want = RunReference(problem), got = RunAttention(problem, kFloat);
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
        Attention(Zeros({tokens, 8 * 16}, kFloat), Inputs(1).Tokens({tokens}, 9), {4, 2, 16},
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
