#include "libtorch/kernels/pool.h"

#include <ATen/ops/empty.h>

#include <optional>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/kernels/launch.h"

namespace tandem::libtorch::kernels {
namespace {

using portable::Pooling;
using portable::Tokens;

// None: no kernel pools so.
std::optional<PoolKind> KindOf(Pooling pooling) {
  switch (pooling) {
    case Pooling::kMean:
      return kMean;
    case Pooling::kMeanSqrtLen:
      return kMeanSqrtLen;
    case Pooling::kWeightedMean:
      return kWeightedMean;
    case Pooling::kCls:
    case Pooling::kLastToken:
    case Pooling::kMax:
      return std::nullopt;
  }
  return std::nullopt;
}

// Runs "PoolForward" or "PoolBackward" for activations of `type`.
void Run(const char* function, const at::Tensor& from, const at::Tensor& to, const Tokens& tokens,
         PoolKind kind, at::ScalarType type) {
  const int64_t width = from.size(1);
  Launch({kElementsSource, function, {Option("IN", NumberOf(type))}},
         {.x = tokens.texts(),
          .y = (width + kPoolColumns - 1) / kPoolColumns,
          .threads = kPoolColumns},
         from.device(), PointerOf(from), PointerOf(tokens.sequence_starts),
         PointerOf(tokens.prompt_tokens), static_cast<int>(width), static_cast<int>(kind),
         PointerOf(to));
}

}  // namespace

bool ServesPool(const at::Tensor& x, Pooling pooling) {
  return Serve(x.device()) && NumberOf(x.scalar_type()) >= 0 && KindOf(pooling).has_value();
}

at::Tensor Pool(const at::Tensor& x, const Tokens& tokens, Pooling pooling) {
  const at::Tensor rows = x.detach().contiguous();
  const PoolKind kind = KindOf(pooling).value();
  const at::Tensor out =
      at::empty({tokens.texts(), rows.size(1)}, rows.options().dtype(at::kFloat));
  Run("PoolForward", rows, out, tokens, kind, rows.scalar_type());
  if (!NeedsGradient({x})) return out;
  const auto backward = [tokens, kind, sizes = rows.sizes().vec(),
                         options = rows.options()](const at::Tensor& grad) {
    const at::Tensor grad_rows = at::empty(sizes, options);
    Run("PoolBackward", grad, grad_rows, tokens, kind, grad_rows.scalar_type());
    return std::vector<at::Tensor>{grad_rows};
  };
  return WithBackward("Pool", out, {x}, backward);
}

}  // namespace tandem::libtorch::kernels
