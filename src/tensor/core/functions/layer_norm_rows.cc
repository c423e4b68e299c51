#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "tensor/core/elements.h"
#include "tensor/core/functions/dispatch.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/reference/norm_loops.h"

namespace tandem::tensor {
namespace {

void Check(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  const auto fits = [&](const Tensor& parameter) {
    return parameter.dtype() == x.dtype() && parameter.sizes() == Shape{x.size(1)};
  };
  const bool real = x.dtype() == kFloat || x.dtype() == kDouble;
  if (x.dim() == 2 && real && fits(gamma) && (!beta.defined() || fits(beta)) && epsilon > 0) return;
  throw std::logic_error(
      fmt::format("LayerNormRows: expected x [n, m], float32 or float64, gamma and beta [m] of its "
                  "type and an epsilon above 0, found {}, {}, {} and {}",
                  x.Text(), gamma.Text(), beta.Text(), epsilon));
}

// The arguments of the rows of `x`, which are blocks of their own.
template <typename T>
loops::NormArguments<T> Arguments(const Tensor& x, const Tensor& gamma, const Tensor& beta,
                                  double epsilon) {
  return {.x = x.data_ptr<T>(),
          .rows = x.size(0),
          .blocks = 1,
          .width = x.size(1),
          .stride = x.size(1),
          .gamma = gamma.data_ptr<T>(),
          .beta = beta.defined() ? beta.data_ptr<T>() : nullptr,
          .gamma_plus = 0,
          .epsilon = epsilon,
          .centred = true};
}

template <typename T>
Tensor Normalized(const loops::NormArguments<T>& args) {
  const Tensor out = Empty({args.rows, args.width}, kTypeOf<T>);
  T* to = out.data_ptr<T>();
  internal::ForRows(args.rows, args.width, [&](int64_t first, int64_t past) {
    loops::NormArguments<T> part = args;
    part.x += first * args.width;
    part.rows = past - first;
    loops::Normalize(part, to + first * args.width);
  });
  return out;
}

// The gradients of x, gamma and beta (undefined: there is none). Their sums over rows are in the
// rows' order, so that one thread computes them.
template <typename T>
std::vector<Tensor> Gradients(const loops::NormArguments<T>& args, const Tensor& grad) {
  const Tensor grad_x = EmptyLike(grad);
  const Tensor sums = Zeros({2, args.width}, kDouble);
  auto* grad_gamma = sums.data_ptr<double>();
  double* grad_beta = args.beta == nullptr ? nullptr : grad_gamma + args.width;
  loops::NormalizeBackward(args, grad.data_ptr<T>(), grad_x.data_ptr<T>(), grad_gamma, grad_beta);
  return {grad_x, sums[0].to(grad.dtype()),
          grad_beta == nullptr ? Tensor() : sums[1].to(grad.dtype())};
}

}  // namespace

Tensor LayerNormRows(const Tensor& x, const Tensor& gamma, const Tensor& beta, double epsilon) {
  Check(x, gamma, beta, epsilon);
  if (const auto* device = internal::FunctionsFor("LayerNormRows", {&x, &gamma, &beta})) {
    return device->LayerNormRows(x, gamma, beta, epsilon);
  }
  const auto for_type = [is_double = x.dtype() == kDouble](const auto& body) {
    return is_double ? body(double{}) : body(float{});
  };
  const Tensor out = for_type(
      [&](auto zero) { return Normalized(Arguments<decltype(zero)>(x, gamma, beta, epsilon)); });
  if (!NeedsGradient({x, gamma, beta})) return out;
  return WithBackward("LayerNormRows", out, {x, gamma, beta},
                      [=, x = x.detach(), gamma = gamma.detach(),
                       beta = beta.defined() ? beta.detach() : Tensor()](const Tensor& grad) {
                        return for_type([&](auto zero) {
                          return Gradients(Arguments<decltype(zero)>(x, gamma, beta, epsilon),
                                           grad);
                        });
                      });
}

}  // namespace tandem::tensor
