#include "libtorch/objective/device_math.h"

#include <ATen/ops/ones_like.h>
#include <ATen/ops/where.h>

namespace tandem::libtorch {

SoftplusTensors SoftplusOf(const at::Tensor& x) {
  const at::Tensor e = x.abs().neg_().exp_();
  return {x.clamp_min(0).add_(e.log1p()), at::where(x.ge(0), at::ones_like(e), e).div_(e.add(1))};
}

at::Tensor Allowed(const at::Tensor& x, const at::Tensor& mask) {
  return x.masked_fill(mask.logical_not(), 0);
}

std::vector<double> ToVector(const at::Tensor& numbers) {
  const at::Tensor host = numbers.to(at::kCPU).contiguous();
  const auto* values = host.data_ptr<double>();
  return {values, values + host.numel()};
}

void AddToCells(const at::Tensor& matrix, const at::Tensor& cells, const at::Tensor& values) {
  const at::Tensor flat = matrix.view(-1);
  flat.index_copy_(0, cells, flat.index_select(0, cells).add_(values));
}

}  // namespace tandem::libtorch
