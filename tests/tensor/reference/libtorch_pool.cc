// Pooling in libtorch's operations.
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "libtorch/bridge.h"
#include "tensor/reference/libtorch_ops.h"

namespace tandem::tensor::formulas {
namespace {

// Says where the rows of each text that are pooled begin and end, int64 [B] each.
struct PooledRows {
  at::Tensor starts;  // of the texts
  at::Tensor first;
  at::Tensor next;

  explicit PooledRows(const PackedTokens& tokens);
  at::Tensor counts() const;
};

PooledRows::PooledRows(const PackedTokens& tokens) {
  const at::Tensor bounds = libtorch::AsTorch(tokens.sequence_starts).to(at::kLong);
  starts = bounds.narrow(0, 0, tokens.texts());
  next = bounds.narrow(0, 1, tokens.texts());
  first = tokens.prompt_tokens.defined()
              ? at::minimum(starts + libtorch::AsTorch(tokens.prompt_tokens).to(at::kLong), next)
              : starts;
}

at::Tensor PooledRows::counts() const { return next - first; }

// The first (kCls) or the last row that is pooled; where none is, the text's first row or zeros.
at::Tensor RowPool(const at::Tensor& x, const PooledRows& rows, Pooling pooling) {
  const at::Tensor empty = rows.counts().eq(0);
  if (pooling == Pooling::kCls) {
    return x.index_select(0, at::where(empty, rows.starts, rows.first).to(x.device()));
  }
  return x.index_select(0, (rows.next - 1).to(x.device()))
      .masked_fill(empty.to(x.device()).unsqueeze(1), 0);
}

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
  const at::Tensor positions = libtorch::AsTorch(tokens.positions).to(at::kLong);
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

}  // namespace tandem::tensor::formulas
