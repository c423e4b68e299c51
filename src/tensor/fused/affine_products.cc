#include "tensor/fused/affine_products.h"

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/fused/layer_arguments.h"
#include "tensor/kernels/cpu/layers/layers.h"

namespace tandem::tensor {

Tensor AffineProduct(const Tensor& x, const Linear& linear) {
  const Tensor out = Empty({x.size(0), linear.out()}, x.dtype());
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineForward<A>(
        {.x = Data<A>(x), .rows = Rows(x), .affine = KernelAffine(linear, x), .out = Data<A>(out)},
        Threads());
  });
  return out;
}

Tensor AffineProductBackward(const Tensor& x, const Linear& linear, const Tensor& grad,
                             const Tensor& other_grad_x, const LinearSums& sums) {
  const Tensor grad_x = EmptyLike(x);
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineBackward<A>({.x = Data<A>(x),
                               .grad_out = Data<A>(grad),
                               .other_grad_x = Data<A>(other_grad_x),
                               .rows = Rows(x),
                               .gradient = sums.Gradient(linear, x),
                               .grad_x = Data<A>(grad_x)},
                              Threads());
  });
  return grad_x;
}

}  // namespace tandem::tensor
