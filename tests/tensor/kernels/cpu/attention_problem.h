// Attention with its inputs, computed in each form.
//
// Error: max|got - want| / max(1, max|want|) for each array.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tensor/arithmetic.h"
#include "tensor/inputs.h"
#include "tensor/ops.h"

namespace tandem::tensor {

struct AttentionSetting {
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
struct AttentionProblem {
  AttentionSetting setting;
  PackedTokens tokens;
  Tensor qkv, table, grad_out;  // double

  explicit AttentionProblem(AttentionSetting from, uint64_t seed = 1) : setting(std::move(from)) {
    Inputs make(seed);
    tokens = make.Tokens(setting.lengths, 9);
    qkv = make.Make({tokens.tokens(), setting.shape.qkv_width()}, setting.size);
    grad_out = make.Make({tokens.tokens(), setting.shape.out_width()}, 1);
    if (setting.buckets > 0) table = make.Make({setting.buckets, setting.shape.heads}, 2);
  }
  Dropout Drop() const { return {.rate = setting.dropout, .seed = 42, .step = 7, .site = 3}; }
};

struct AttentionResult {
  Tensor out, grad_qkv, grad_table;
};

inline Tensor AttentionLeaf(const Tensor& x, DType type) {
  return x.defined() ? LeafOf(x, type) : x;
}

inline AttentionResult RunAttention(const AttentionProblem& problem, DType type) {
  const AttentionSetting& setting = problem.setting;
  const Tensor qkv = AttentionLeaf(problem.qkv, type);
  const Tensor table = AttentionLeaf(problem.table, type == kDouble ? type : kFloat);
  const Tensor out = Attention(qkv, problem.tokens, setting.shape, setting.rule,
                               {table, setting.max_distance}, problem.Drop());
  out.backward(problem.grad_out.to(type));
  return {out.detach(), qkv.grad(), table.defined() ? table.grad() : Tensor()};
}

inline AttentionResult RunReference(const AttentionProblem& problem, DType type = kDouble) {
  const UseReferenceOps reference;
  return RunAttention(problem, type);
}

inline void ExpectFormsEqualReference(const AttentionSetting& setting, uint64_t seed = 1) {
  const AttentionProblem problem(setting, seed);
  const AttentionResult want = RunReference(problem);
  for (const FormCase& c : FormCases()) {
    const UseForm form(c.form);
    const AttentionResult got = RunAttention(problem, c.activation);
    // Scores of the portable form are rounded to bf16, as the reference's are in bf16.
    AttentionResult usual;
    const bool rounds = c.form == Form::kPortable && c.activation == kBFloat16;
    if (rounds) usual = RunReference(problem, kBFloat16);
    const auto expect = [&](Tensor AttentionResult::*part, const char* name) {
      double bound = c.bound;
      if (rounds) bound = std::max(bound, 1.5 * Error(usual.*part, want.*part));
      EXPECT_LE(Error(got.*part, want.*part), bound)
          << setting.Name() << ", " << name << ", " << c.Name();
    };
    expect(&AttentionResult::out, "output");
    expect(&AttentionResult::grad_qkv, "gradient");
    if (setting.buckets > 0) expect(&AttentionResult::grad_table, "gradient of the bias");
  }
}

inline AttentionRule RuleOf(bool causal, int64_t window, double soft_cap = 0) {
  return {.scale = 0.2, .causal = causal, .window = window, .soft_cap = soft_cap};
}

}  // namespace tandem::tensor
