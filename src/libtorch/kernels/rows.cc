#include "libtorch/kernels/rows.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "libtorch/graph.h"
#include "libtorch/kernels/launch.h"

namespace tandem::libtorch::kernels {
namespace {

using portable::DropsFrom;
using portable::RowStep;

constexpr int64_t kWidest = 1024;  // of rows that a warp holds in its registers
// Most blocks that sum gradients of parameters: two for each processor of an H100.
constexpr int64_t kMostBlocks = 2 * 132;

// A step whose tensors have no history, in one piece of memory each.
RowStep Plain(const RowStep& step) {
  const auto plain = [](const at::Tensor& x) { return x.defined() ? x.detach().contiguous() : x; };
  RowStep own = step;
  own.x = plain(step.x);
  own.residual = plain(step.residual);
  own.norm.gamma = plain(step.norm.gamma);
  own.norm.beta = plain(step.norm.beta);
  return own;
}

int64_t NormNumber(const portable::Norm& norm) {
  switch (norm.kind) {
    case tensor::Norm::Kind::kLayerNorm:
      return 1;
    case tensor::Norm::Kind::kRms:
      return 2;
    case tensor::Norm::Kind::kRmsPlusOne:
      return 3;
  }
  throw std::logic_error("a norm without a name");
}

int64_t DropNumber(const RowStep& step) {
  if (!step.drops()) return 0;
  return step.dropped == DropsFrom::kX ? 1 : 2;
}

Kernel RowKernel(const RowStep& step, const char* function) {
  return {kRowsSource,
          function,
          {Option("IN", NumberOf(step.x.scalar_type())), Option("OUT", NumberOf(step.result)),
           Option("WIDTH", step.x.size(1)), Option("RESIDUAL", step.residual.defined()),
           Option("NORM", NormNumber(step.norm)), Option("BETA", step.norm.beta.defined()),
           Option("DROP", DropNumber(step))}};
}

// What both passes need.
RowArguments RowArgumentsOf(const RowStep& step, const at::Tensor& moments) {
  return {.x = PointerOf(step.x),
          .residual = PointerOf(step.residual),
          .gamma = static_cast<const float*>(PointerOf(step.norm.gamma)),
          .beta = static_cast<const float*>(PointerOf(step.norm.beta)),
          .row_keys = static_cast<const long long*>(PointerOf(step.row_keys)),
          .rows = step.x.size(0),
          .epsilon = static_cast<float>(step.norm.epsilon),
          .dropout = ArgumentsOf(step.dropout),
          .out = nullptr,
          .moments = moments.data_ptr<float>(),
          .grad = nullptr,
          .grad_x = nullptr,
          .grad_residual = nullptr,
          .partial = nullptr};
}

int64_t BlocksOf(const RowStep& step) { return (step.x.size(0) + kRowsABlock - 1) / kRowsABlock; }

// `moments`, float [T, 2], is written.
at::Tensor NormForward(const RowStep& step, const at::Tensor& moments) {
  const at::Tensor out = at::empty(step.x.sizes(), step.x.options().dtype(step.result));
  RowArguments arguments = RowArgumentsOf(step, moments);
  arguments.out = out.data_ptr();
  const Grid grid{.x = BlocksOf(step), .threads = 32 * kRowsABlock};
  Launch(RowKernel(step, "RowsForward"), grid, step.x.device(), arguments);
  return out;
}

// The gradients of x, the residual, gamma and beta.
std::vector<at::Tensor> NormBackward(const RowStep& step, const at::Tensor& moments,
                                     const at::Tensor& grad) {
  const int64_t blocks = std::min(BlocksOf(step), kMostBlocks);
  const at::Tensor grad_x = at::empty_like(step.x);
  const bool two = step.residual.defined() && DropNumber(step) == 1;
  const at::Tensor grad_residual = two ? at::empty_like(step.x) : grad_x;
  const at::Tensor partial = at::empty({blocks, 2, step.x.size(1)}, step.norm.gamma.options());
  RowArguments arguments = RowArgumentsOf(step, moments);
  arguments.grad = grad.data_ptr();
  arguments.grad_x = grad_x.data_ptr();
  arguments.grad_residual = grad_residual.data_ptr();
  arguments.partial = partial.data_ptr<float>();
  Launch(RowKernel(step, "RowsBackward"), {.x = blocks, .threads = 32 * kRowsABlock},
         step.x.device(), arguments);
  const at::Tensor sums = partial.sum(0);
  return {grad_x, step.residual.defined() ? grad_residual : at::Tensor(), sums.select(0, 0),
          step.norm.beta.defined() ? sums.select(0, 1) : at::Tensor()};
}

// residual + drop(x) without a norm.
at::Tensor DropForward(const RowStep& step, const at::Tensor& x, const at::Tensor& residual) {
  const at::Tensor out = at::empty_like(x);
  const Grid grid{.x = (x.numel() / 4 + kDropThreads - 1) / kDropThreads, .threads = kDropThreads};
  Launch({kElementsSource, "DropForward", {Option("IN", NumberOf(x.scalar_type()))}}, grid,
         x.device(), PointerOf(x), PointerOf(residual), PointerOf(step.row_keys),
         static_cast<long long>(x.size(0)), static_cast<int>(x.size(1)), ArgumentsOf(step.dropout),
         PointerOf(out));
  return out;
}

at::Tensor DropRows(const RowStep& step, const RowStep& own) {
  const at::Tensor out = DropForward(own, own.x, own.residual);
  if (!NeedsGradient({step.x, step.residual})) return out;
  // The masks are computed again from the keys, so that the step's own rows need not be kept.
  const RowStep keys{.row_keys = own.row_keys, .dropout = own.dropout};
  return WithBackward("DropRows", out, {step.x, step.residual}, [keys](const at::Tensor& grad) {
    return std::vector<at::Tensor>{DropForward(keys, grad, {}), grad};
  });
}

}  // namespace

bool ServesRows(const RowStep& step) {
  const at::Tensor& x = step.x;
  if (!Serve(x.device()) || x.dim() != 2 || x.size(1) % 4 != 0) return false;
  if (NumberOf(x.scalar_type()) < 0 || NumberOf(step.result) < 0) return false;
  if (step.residual.defined() && step.residual.scalar_type() != x.scalar_type()) return false;
  if (!step.norm.defined()) return step.row_keys.defined() && step.result == x.scalar_type();
  const auto is_float = [](const at::Tensor& parameter) {
    return !parameter.defined() || parameter.scalar_type() == at::kFloat;
  };
  return x.size(1) <= kWidest && is_float(step.norm.gamma) && is_float(step.norm.beta);
}

at::Tensor DoRows(const RowStep& step) {
  const RowStep own = Plain(step);
  if (!step.norm.defined()) return DropRows(step, own);
  const at::Tensor moments = at::empty({own.x.size(0), 2}, own.norm.gamma.options());
  const at::Tensor out = NormForward(own, moments);
  const std::vector<at::Tensor> inputs = {step.x, step.residual, step.norm.gamma, step.norm.beta};
  if (!NeedsGradient(inputs)) return out;
  return WithBackward("Rows", out, inputs, [own, moments](const at::Tensor& grad) {
    return NormBackward(own, moments, grad);
  });
}

}  // namespace tandem::libtorch::kernels
