#include "tensor/reference_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <vector>

namespace tandem::tensor::reference {
namespace {

// 0 or KeepScale of the rate for each row and channel, [rows, width]. The fused kernels compute the
// same mask, without storing it.
at::Tensor DropoutMask(const int64_t* row_keys, int64_t rows, int64_t width, const Dropout& dropout,
                       uint32_t part, const at::TensorOptions& options) {
  const at::Tensor mask = at::empty({rows, width}, at::kDouble);
  auto* values = mask.data_ptr<double>();
  const uint64_t site_key = SiteKey(dropout, part);
  const uint32_t threshold = KeepThreshold(dropout.rate);
  for (int64_t r = 0; r < rows; ++r) {
    const uint64_t row_key = RowKey(site_key, static_cast<uint64_t>(row_keys[r]));
    for (int64_t c = 0; c < width; ++c) {
      const bool keep = ChannelBits(row_key, static_cast<uint32_t>(c)) >= threshold;
      values[r * width + c] = keep ? KeepScale(dropout.rate) : 0.0;
    }
  }
  return mask.to(options);
}

at::Tensor DropRows(const at::Tensor& x, const PackedTokens& tokens, const Dropout& dropout) {
  if (!dropout.active()) return x;
  const at::Tensor keys = tokens.row_keys.cpu();
  return x * DropoutMask(keys.data_ptr<int64_t>(), x.size(0), x.size(1), dropout, 0, x.options());
}

at::Tensor Norm(const at::Tensor& x, const LayerNorm& norm) {
  return at::layer_norm(x, {x.size(1)}, norm.gamma.to(x.scalar_type()),
                        norm.beta.to(x.scalar_type()), norm.epsilon);
}

}  // namespace

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  const at::Tensor sum = at::embedding(tables.word, tokens.ids) +
                         at::embedding(tables.position, tokens.positions) +
                         tables.type.select(0, 0);
  return DropRows(Norm(sum, norm).to(activation), tokens, dropout);
}

at::Tensor Affine(const at::Tensor& x, const Linear& linear) {
  return at::linear(x, linear.StackedWeightTensor().to(x.scalar_type()),
                    linear.StackedBiasTensor().to(x.scalar_type()));
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  return Norm(residual + DropRows(reference::Affine(x, linear), tokens, dropout), norm);
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const at::Tensor inner = at::gelu(reference::Affine(x, up));
  return Norm(x + DropRows(reference::Affine(inner, down), tokens, dropout), norm);
}

at::Tensor SelfAttention(const at::Tensor& qkv, const PackedTokens& tokens, int64_t heads,
                         const Dropout& dropout) {
  const int64_t hidden = qkv.size(1) / 3;
  const double scale = 1.0 / std::sqrt(static_cast<double>(hidden) / static_cast<double>(heads));
  const at::Tensor starts = tokens.sequence_starts.cpu();
  const at::Tensor keys = tokens.row_keys.cpu();
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

at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  const at::Tensor starts = tokens.sequence_starts.to(at::kLong);
  const at::Tensor first = starts.narrow(0, 0, tokens.texts());
  const at::Tensor next = starts.narrow(0, 1, tokens.texts());
  if (pooling == Pooling::kCls) return wide.index_select(0, first.to(x.device()));
  if (pooling == Pooling::kLastToken) return wide.index_select(0, (next - 1).to(x.device()));
  const at::Tensor lengths = (next - first).to(x.device());
  const at::Tensor owner = at::repeat_interleave(lengths);
  const at::Tensor sums =
      at::zeros({tokens.texts(), x.size(1)}, wide.options()).index_add(0, owner, wide);
  return sums / lengths.to(wide.scalar_type()).unsqueeze(1);
}

}  // namespace tandem::tensor::reference
