#include "tensor/reference/reference_ops.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <stdexcept>
#include <vector>

#include "tensor/fused/adapted_ops.h"
#include "tensor/low_rank.h"

namespace tandem::tensor::reference {

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

at::Tensor Activate(const at::Tensor& x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return at::gelu(x);
    case Activation::kGeluTanh:
      return at::gelu(x, "tanh");
    case Activation::kRelu:
      return at::relu(x);
    case Activation::kSilu:
      return at::silu(x);
  }
  throw std::logic_error("an activation without a name");
}

at::Tensor EmbeddingSum(const PackedTokens& tokens, const EmbeddingTables& tables) {
  at::Tensor sum = at::embedding(tables.word, tokens.ids);
  if (tables.position.defined()) {
    sum = sum + at::embedding(tables.position, tokens.positions + tables.position_offset);
  }
  if (tables.type.defined()) {
    sum = sum + (tokens.types.defined() ? at::embedding(tables.type, tokens.types)
                                        : tables.type.select(0, 0));
  }
  return sum;
}

namespace {

at::Tensor Normalized(const at::Tensor& x, const LayerNorm& norm) {
  const at::Tensor beta = norm.beta.defined() ? norm.beta.to(x.scalar_type()) : at::Tensor();
  return at::layer_norm(x, {x.size(1)}, norm.gamma.to(x.scalar_type()), beta, norm.epsilon);
}

}  // namespace

at::Tensor EmbeddingNorm(const PackedTokens& tokens, const EmbeddingTables& tables,
                         const LayerNorm& norm, const Dropout& dropout, at::ScalarType activation) {
  return DropRows(Normalized(EmbeddingSum(tokens, tables), norm).to(activation), tokens, dropout);
}

at::Tensor LowRankProduct(const at::Tensor& x, const Linear& linear) {
  const Adapter& adapter = linear.low_rank()->adapter();
  const at::Tensor read = AdapterDropout::Drop(x, adapter);
  const at::ScalarType type = x.scalar_type();
  std::vector<at::Tensor> parts;
  for (size_t i = 0; i < adapter.down.size(); ++i) {
    if (adapter.down[i].defined()) {
      const at::Tensor narrow = at::linear(read, adapter.down[i].to(type));
      parts.push_back(at::linear(narrow, adapter.up[i].to(type)) * adapter.scale);
    } else {
      parts.push_back(at::zeros({x.size(0), linear.weights()[i].size(0)}, x.options()));
    }
  }
  return at::cat(parts, 1);
}

at::Tensor Affine(const at::Tensor& x, const Linear& linear) {
  const at::Tensor bias = linear.biases().empty() ? at::Tensor() : at::cat(linear.biases());
  const at::Tensor out = at::linear(x, at::cat(linear.weights()).to(x.scalar_type()),
                                    bias.defined() ? bias.to(x.scalar_type()) : bias);
  return linear.low_rank() == nullptr ? out : out + LowRankProduct(x, linear);
}

at::Tensor AffineNorm(const at::Tensor& x, const at::Tensor& residual, const Linear& linear,
                      const LayerNorm& norm, const PackedTokens& tokens, const Dropout& dropout) {
  return Normalized(residual + DropRows(reference::Affine(x, linear), tokens, dropout), norm);
}

at::Tensor FeedForwardNorm(const at::Tensor& x, const Linear& up, const Linear& down,
                           Activation activation, const LayerNorm& norm, const PackedTokens& tokens,
                           const Dropout& dropout) {
  const at::Tensor inner = Activate(reference::Affine(x, up), activation);
  return Normalized(x + DropRows(reference::Affine(inner, down), tokens, dropout), norm);
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

PooledRows::PooledRows(const PackedTokens& tokens) {
  const at::Tensor bounds = tokens.sequence_starts.to(at::kLong);
  starts = bounds.narrow(0, 0, tokens.texts());
  next = bounds.narrow(0, 1, tokens.texts());
  first = tokens.prompt_tokens.defined()
              ? at::minimum(starts + tokens.prompt_tokens.to(at::kLong), next)
              : starts;
}

at::Tensor PooledRows::counts() const { return next - first; }

at::Tensor RowPool(const at::Tensor& x, const PooledRows& rows, Pooling pooling) {
  const at::Tensor empty = rows.counts().eq(0);
  if (pooling == Pooling::kCls) {
    return x.index_select(0, at::where(empty, rows.starts, rows.first).to(x.device()));
  }
  return x.index_select(0, (rows.next - 1).to(x.device()))
      .masked_fill(empty.to(x.device()).unsqueeze(1), 0);
}

namespace {

// The largest number of each column. Where several are equal, the first gets the gradient.
at::Tensor MaxPool(const at::Tensor& x, const PooledRows& rows) {
  std::vector<at::Tensor> pooled;
  for (int64_t b = 0; b < rows.first.size(0); ++b) {
    const auto first = rows.first[b].item<int64_t>(), count = rows.counts()[b].item<int64_t>();
    if (count == 0) {
      pooled.push_back(at::zeros({x.size(1)}, x.options()));
      continue;
    }
    const at::Tensor text = x.narrow(0, first, count);
    pooled.push_back(text.gather(0, text.detach().argmax(0, /*keepdim=*/true)).squeeze(0));
  }
  return at::stack(pooled);
}

// What each row of `x` weighs in the sum of its text: 1, its position from 1, or 0 for a prompt's.
at::Tensor SumWeights(const at::Tensor& x, const PackedTokens& tokens, const PooledRows& rows,
                      Pooling pooling) {
  const at::Tensor lengths = rows.next - rows.starts;
  const at::Tensor positions = tokens.positions.to(at::kLong);
  const at::Tensor weights =
      pooling == Pooling::kWeightedMean ? positions + 1 : at::ones_like(positions);
  const at::Tensor prompts = at::repeat_interleave(rows.first - rows.starts, lengths);
  return weights.masked_fill(positions.lt(prompts), 0).to(x.options());
}

}  // namespace

at::Tensor Pool(const at::Tensor& x, const PackedTokens& tokens, Pooling pooling) {
  const at::Tensor wide = x.scalar_type() == at::kBFloat16 ? x.to(at::kFloat) : x;
  const PooledRows rows(tokens);
  if (pooling == Pooling::kMax) return MaxPool(wide, rows);
  if (pooling == Pooling::kCls || pooling == Pooling::kLastToken) {
    return RowPool(wide, rows, pooling);
  }
  const at::Tensor weights = SumWeights(wide, tokens, rows, pooling);
  const at::Tensor owner = at::repeat_interleave(rows.next - rows.starts).to(x.device());
  const at::Tensor zeros = at::zeros({tokens.texts(), x.size(1)}, wide.options());
  const at::Tensor sums = zeros.index_add(0, owner, wide * weights.unsqueeze(1));
  at::Tensor divisors = zeros.select(1, 0).index_add(0, owner, weights);
  if (pooling == Pooling::kMeanSqrtLen) divisors = divisors.sqrt();
  return sums / divisors.masked_fill(divisors.eq(0), 1).unsqueeze(1);
}

}  // namespace tandem::tensor::reference
