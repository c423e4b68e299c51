// Attention in libtorch's operations.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tensor/reference/libtorch_ops.h"

namespace tandem::tensor::formulas {

at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout) {
  const int64_t hidden = qkv.size(1) / 3;
  const double scale = 1.0 / std::sqrt(static_cast<double>(hidden) / static_cast<double>(heads));
  const Tensor starts = tokens.HostStarts();
  const Tensor& keys = tokens.row_keys;
  const auto* first_rows = starts.data_ptr<int32_t>();
  std::vector<at::Tensor> texts;
  for (int64_t b = 0; b < tokens.texts(); ++b) {
    const int64_t first = first_rows[b], length = first_rows[b + 1] - first;
    // [3, heads, length, head width]
    const at::Tensor parts =
        qkv.narrow(0, first, length).view({length, 3, heads, hidden / heads}).permute({1, 2, 0, 3});
    at::Tensor probabilities =
        at::softmax(at::matmul(parts[0], parts[1].transpose(1, 2)) * scale, -1);
    if (dropout.active()) {
      std::vector<at::Tensor> masks;
      for (int64_t head = 0; head < heads; ++head) {
        masks.push_back(DropoutMask(keys.data_ptr<int64_t>() + first, length, length, dropout,
                                    static_cast<uint32_t>(head + 1), qkv.options()));
      }
      probabilities = probabilities * at::stack(masks);
    }
    texts.push_back(at::matmul(probabilities, parts[2]).transpose(0, 1).reshape({length, hidden}));
  }
  return at::cat(texts);
}

namespace {

// j - i for query i and key j, [length, length].
at::Tensor Distances(int64_t length, const at::Device& device) {
  const at::Tensor places = at::arange(length, at::TensorOptions(at::kLong).device(device));
  return places.unsqueeze(0) - places.unsqueeze(1);
}

// [heads, length, length]
at::Tensor BiasOf(const at::Tensor& table, int64_t max_distance, const at::Tensor& distances) {
  const int64_t length = distances.size(0);
  const at::Tensor buckets = at::empty({2 * length - 1}, at::kLong);
  for (int64_t d = 1 - length; d < length; ++d) {
    buckets.data_ptr<int64_t>()[d + length - 1] = RelativeBucket(d, table.size(0), max_distance);
  }
  const at::Tensor of_pairs =
      buckets.to(distances.device()).index_select(0, (distances + (length - 1)).flatten());
  return table.index_select(0, of_pairs).view({length, length, -1}).permute({2, 0, 1});
}

// Says where the rule keeps a key from a query, [length, length].
at::Tensor Hidden(const AttentionRule& rule, const at::Tensor& distances) {
  at::Tensor hidden = distances != distances;
  if (rule.causal) hidden = hidden | (distances > 0);
  if (rule.window > 0) hidden = hidden | (distances.abs() > rule.window);
  return hidden;
}

}  // namespace

at::Tensor Attention(const at::Tensor& qkv, const PackedTokens& tokens, const HeadShape& shape,
                     const AttentionRule& rule, const at::Tensor& bias_table, int64_t max_distance,
                     const Dropout& dropout) {
  const int64_t width = shape.head_width, group = shape.heads / shape.key_value_heads;
  const Tensor starts = tokens.HostStarts();
  const Tensor& keys = tokens.row_keys;
  const auto* first_rows = starts.data_ptr<int32_t>();
  std::vector<at::Tensor> texts;
  for (int64_t b = 0; b < tokens.texts(); ++b) {
    const int64_t first = first_rows[b], length = first_rows[b + 1] - first;
    // [heads, length, width]
    const at::Tensor all = qkv.narrow(0, first, length).view({length, -1, width}).transpose(0, 1);
    const at::Tensor q = all.narrow(0, 0, shape.heads);
    const at::Tensor k =
        all.narrow(0, shape.heads, shape.key_value_heads).repeat_interleave(group, 0);
    const at::Tensor v = all.narrow(0, shape.heads + shape.key_value_heads, shape.key_value_heads)
                             .repeat_interleave(group, 0);
    at::Tensor scores = at::matmul(q, k.transpose(1, 2)) * rule.scale;
    if (rule.soft_cap > 0) scores = at::tanh(scores / rule.soft_cap) * rule.soft_cap;
    const at::Tensor distances = Distances(length, qkv.device());
    if (bias_table.defined()) {
      const at::Tensor bias = BiasOf(bias_table, max_distance, distances);
      scores = scores + bias.to(scores.scalar_type());
    }
    scores = scores.masked_fill(Hidden(rule, distances), -std::numeric_limits<double>::infinity());
    at::Tensor probabilities = at::softmax(scores, -1);
    if (dropout.active()) {
      std::vector<at::Tensor> masks;
      for (int64_t head = 0; head < shape.heads; ++head) {
        masks.push_back(DropoutMask(keys.data_ptr<int64_t>() + first, length, length, dropout,
                                    static_cast<uint32_t>(head + 1), qkv.options()));
      }
      probabilities = probabilities * at::stack(masks);
    }
    texts.push_back(at::matmul(probabilities, v).transpose(0, 1).reshape({length, -1}));
  }
  return at::cat(texts);
}

}  // namespace tandem::tensor::formulas
