// The portable implementation of pooling.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/where.h>

#include <limits>
#include <memory>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/operations/length_classes.h"
#include "libtorch/operations/portable_ops.h"
#include "libtorch/operations/portable_types.h"

namespace tandem::libtorch::portable {
namespace {

// Says where the rows of each text that are pooled begin and end, int64 [B] each.
struct PooledRows {
  at::Tensor starts;  // of the texts
  at::Tensor first;
  at::Tensor next;

  explicit PooledRows(const Tokens& tokens) {
    const at::Tensor bounds = tokens.sequence_starts.to(at::kLong);
    starts = bounds.narrow(0, 0, tokens.texts());
    next = bounds.narrow(0, 1, tokens.texts());
    first = tokens.prompt_tokens.defined()
                ? at::minimum(starts + tokens.prompt_tokens.to(at::kLong), next)
                : starts;
  }
  at::Tensor counts() const { return next - first; }
};

// The first (kCls) or the last row that is pooled; where none is, the text's first row or zeros.
at::Tensor RowPool(const at::Tensor& x, const PooledRows& rows, Pooling pooling) {
  const at::Tensor empty = rows.counts().eq(0);
  if (pooling == Pooling::kCls) {
    return x.index_select(0, at::where(empty, rows.starts, rows.first).to(x.device()));
  }
  return x.index_select(0, (rows.next - 1).to(x.device()))
      .masked_fill(empty.to(x.device()).unsqueeze(1), 0);
}

// The padded rows of all classes, [P, H]. Their readers give rows of padding no gradient.
at::Tensor PaddedRows(const at::Tensor& x, const LengthClasses& classes) {
  const at::Tensor rows = x.detach().index_select(0, classes.rows());
  if (!NeedsGradient({x})) return rows;
  return WithBackward("PaddedRows", rows, {x}, [places = classes.places()](const at::Tensor& grad) {
    return std::vector<at::Tensor>{grad.index_select(0, places)};
  });
}

// Pools rows [b, L, H] of texts of which those that `left_out`, bool [b, L], marks do not count.
at::Tensor PoolClass(const at::Tensor& rows, const at::Tensor& left_out, Pooling pooling) {
  const at::Tensor mask = left_out.unsqueeze(2);
  if (pooling == Pooling::kMax) {
    const at::Tensor none = left_out.all(1, /*keepdim=*/true);  // [b, 1]
    const at::Tensor counted = rows.masked_fill(mask, -std::numeric_limits<double>::infinity());
    const at::Tensor where = counted.detach().argmax(1, /*keepdim=*/true);
    return counted.gather(1, where).squeeze(1).masked_fill(none, 0);
  }
  const at::Tensor counted = rows.masked_fill(mask, 0);
  if (pooling != Pooling::kWeightedMean) {
    at::Tensor divisors = left_out.bitwise_not().sum({1}, true).to(rows.scalar_type());
    if (pooling == Pooling::kMeanSqrtLen) divisors = divisors.sqrt();
    return counted.sum(1) / divisors.masked_fill(divisors.eq(0), 1);
  }
  const at::Tensor weights = at::arange(1, rows.size(1) + 1, rows.options().requires_grad(false))
                                 .expand(left_out.sizes())
                                 .masked_fill(left_out, 0);
  const at::Tensor divisors = weights.sum({1}, true);
  return (counted * weights.unsqueeze(2)).sum(1) / divisors.masked_fill(divisors.eq(0), 1);
}

}  // namespace

at::Tensor Pool(const at::Tensor& x, const Tokens& tokens, Pooling pooling) {
  const at::Tensor wide = Wide(x);
  if (pooling == Pooling::kCls || pooling == Pooling::kLastToken) {
    return RowPool(wide, PooledRows(tokens), pooling);
  }
  const std::shared_ptr<const LengthClasses>& classes = tokens.classes;
  const at::Tensor padded = PaddedRows(wide, *classes);
  at::Tensor prompts;  // of the texts in the order of classes, [B]
  if (tokens.prompt_tokens.defined()) {
    prompts = tokens.prompt_tokens.index_select(0, classes->texts());
  }
  std::vector<at::Tensor> pooled;
  for (const LengthClasses::Class& texts : classes->classes()) {
    const int64_t count = texts.texts * texts.length;
    at::Tensor left_out =
        classes->padding().narrow(0, texts.first_row, count).view({texts.texts, texts.length});
    if (prompts.defined()) {
      const at::Tensor positions = at::arange(texts.length, prompts.options());
      left_out = left_out.bitwise_or(
          positions.lt(prompts.narrow(0, texts.first_text, texts.texts).unsqueeze(1)));
    }
    pooled.push_back(
        PoolClass(padded.narrow(0, texts.first_row, count).view({texts.texts, texts.length, -1}),
                  left_out, pooling));
  }
  return at::cat(pooled).index_select(0, classes->text_places());
}

}  // namespace tandem::libtorch::portable
