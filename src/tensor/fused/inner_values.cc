#include "tensor/fused/inner_values.h"

#include <vector>

#include "tensor/backward_state.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/kernels/cpu/layers/layer_tiles.h"
#include "tensor/kernels/cpu/rows/activation_rows.h"
#include "tensor/kernels/cpu/rows/row_split.h"
#include "tensor/profile/operation_work.h"

namespace tandem::tensor {
namespace {

constexpr size_t kTileRows = 64;

struct Inner {
  Activation activation;
  bool gated;
  Tensor row_keys;  // undefined where nothing is dropped
  Dropout dropout;

  // Of the rows from `first` on.
  cpu::RowDropout DropoutFrom(size_t first) const {
    return cpu::RowDropoutFrom({Data<int64_t>(row_keys), dropout}, first);
  }
};

std::vector<Tensor> InnerValuesBackward(const Inner& inner, const Tensor& x, const Tensor& grad) {
  const ProfileScope scope("InnerValues backward", RowsWork(x.size(0), x.size(1), 3, x.dtype()));
  const Tensor grad_x = EmptyLike(x);
  const auto width = static_cast<size_t>(grad.size(1)), x_width = static_cast<size_t>(x.size(1));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::ForTilesOnThreads(Rows(x), kTileRows, Threads(), [&](size_t first, size_t count) {
      cpu::RunActivationBackward<A>({.activation = inner.activation,
                                     .gated = inner.gated,
                                     .before = Data<A>(x) + first * x_width,
                                     .dropout = inner.DropoutFrom(first),
                                     .grad_inner = Data<A>(grad) + first * width,
                                     .grad_before = Data<A>(grad_x) + first * x_width,
                                     .inner = nullptr},
                                    count, width);
    });
  });
  return {grad_x};
}

}  // namespace

Tensor InnerValues(const Tensor& x, Activation activation, bool gated, const PackedTokens& tokens,
                   const Dropout& dropout) {
  const ProfileScope scope("InnerValues", RowsWork(x.size(0), x.size(1), 2, x.dtype()));
  const Inner inner{activation, gated, dropout.active() ? tokens.row_keys : Tensor(), dropout};
  const int64_t inner_width = gated ? x.size(1) / 2 : x.size(1);
  const Tensor out = Empty({x.size(0), inner_width}, x.dtype());
  const auto width = static_cast<size_t>(inner_width), x_width = static_cast<size_t>(x.size(1));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::ForTilesOnThreads(Rows(x), kTileRows, Threads(), [&](size_t first, size_t count) {
      cpu::RunActivation<A>({activation, gated, Data<A>(x) + first * x_width,
                             inner.DropoutFrom(first), Data<A>(out) + first * width},
                            count, width);
    });
  });
  if (!NeedsGradient({x})) return out;
  return WithBackward("InnerValues", out, {x}, [inner, x = Detached(x)](const Tensor& grad) {
    return InnerValuesBackward(inner, x, grad);
  });
}

}  // namespace tandem::tensor
