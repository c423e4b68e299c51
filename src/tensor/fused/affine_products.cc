#include "tensor/fused/affine_products.h"

#include <ATen/ops/empty.h>

#include "tensor/fused/layer_arguments.h"
#include "tensor/kernels/cpu/layers/layers.h"

namespace tandem::tensor {

at::Tensor AffineProduct(const at::Tensor& x, const Linear& linear) {
  const at::Tensor out = at::empty({x.size(0), linear.out()}, x.options().requires_grad(false));
  ForType(x, [&](auto zero) {
    using A = decltype(zero);
    cpu::RunAffineForward<A>(
        {.x = Data<A>(x), .rows = Rows(x), .affine = KernelAffine(linear, x), .out = Data<A>(out)},
        Threads());
  });
  return out;
}

at::Tensor AffineProductBackward(const at::Tensor& x, const Linear& linear, const at::Tensor& grad,
                                 const at::Tensor& other_grad_x, const LinearSums& sums) {
  const at::Tensor grad_x = EmptyLike(x);
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
