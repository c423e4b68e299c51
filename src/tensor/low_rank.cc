#include "tensor/low_rank.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <stdexcept>
#include <utility>

namespace tandem::tensor {
namespace {

constexpr int64_t kRankStep = 32;

int64_t StackedRank(const Adapter& adapter) {
  int64_t rank = 0;
  for (const at::Tensor& a : adapter.down) {
    if (a.defined()) rank += a.size(0);
  }
  return (rank + kRankStep - 1) / kRankStep * kRankStep;
}

// A map of zeros whose weight gradient is computed.
Linear Zeros(int64_t out, int64_t in) {
  return Linear({at::zeros({out, in}, at::kFloat).requires_grad_(true)}, {});
}

int64_t Sum(const std::vector<int64_t>& values) {
  int64_t sum = 0;
  for (const int64_t value : values) sum += value;
  return sum;
}

}  // namespace

LowRank::LowRank(Adapter adapter, int64_t in, const std::vector<int64_t>& outs)
    : adapter_(std::move(adapter)), in_(in), out_(Sum(outs)) {
  if (adapter_.down.size() != outs.size() || adapter_.up.size() != outs.size()) {
    throw std::logic_error("an adapter has one A and one B for each part of its map");
  }
  int64_t row = 0, rank = 0;
  for (size_t i = 0; i < outs.size(); row += outs[i++]) {
    const at::Tensor &a = adapter_.down[i], &b = adapter_.up[i];
    if (!a.defined()) continue;
    if (a.size(1) != in || b.size(0) != outs[i] || b.size(1) != a.size(0)) {
      throw std::logic_error("an adapter's A [R, K] and B [N, R] do not fit their map");
    }
    parts_.push_back({a, b, row, rank});
    rank += a.size(0);
  }
  for (const Part& part : parts_) parameters_.push_back(part.a);
  for (const Part& part : parts_) parameters_.push_back(part.b);
}

uint64_t LowRank::version() const {
  uint64_t version = 1;
  for (const at::Tensor& parameter : parameters_) {
    version += static_cast<uint64_t>(parameter._version());
  }
  return version;
}

void LowRank::AddTo(const at::Tensor& stacked) const {
  const at::NoGradGuard no_gradient;
  for (const Part& part : parts_) {
    stacked.narrow(0, part.first_row, part.b.size(0))
        .addmm_(part.b.detach(), part.a.detach(), 1, adapter_.scale);
  }
}

void LowRank::AppendProjected(const at::Tensor& weight, std::vector<at::Tensor>* gradients) const {
  if (!weight.defined()) {
    gradients->resize(gradients->size() + parameters_.size());
    return;
  }
  const auto rows = [&](const Part& part) {
    return weight.narrow(0, part.first_row, part.b.size(0));
  };
  for (const Part& part : parts_) {
    gradients->push_back(at::matmul(part.b.detach().t(), rows(part)).mul_(adapter_.scale));
  }
  for (const Part& part : parts_) {
    gradients->push_back(at::matmul(rows(part), part.a.detach().t()).mul_(adapter_.scale));
  }
}

void LowRank::Prepare(cpu::Type type, Passes passes) {
  const at::NoGradGuard no_gradient;
  if (stacked_version_ != version()) {
    if (!down_) {
      down_.emplace(Zeros(StackedRank(adapter_), in_));
      up_.emplace(Zeros(out_, StackedRank(adapter_)));
    }
    const at::Tensor down = down_->weights().front().detach(), up = up_->weights().front().detach();
    for (const Part& part : parts_) {
      const int64_t rank = part.a.size(0);
      down.narrow(0, part.first_rank, rank).copy_(part.a);
      up.narrow(0, part.first_row, part.b.size(0))
          .narrow(1, part.first_rank, rank)
          .copy_(part.b.detach() * adapter_.scale);
    }
    stacked_version_ = version();
  }
  down_->Prepare(type, passes);
  up_->Prepare(type, passes);
}

void LowRank::AppendParts(const at::Tensor& down, const at::Tensor& up,
                          std::vector<at::Tensor>* gradients) const {
  for (const Part& part : parts_) {
    gradients->push_back(down.narrow(0, part.first_rank, part.a.size(0)));
  }
  for (const Part& part : parts_) {
    gradients->push_back(up.narrow(0, part.first_row, part.b.size(0))
                             .narrow(1, part.first_rank, part.a.size(0))
                             .mul(adapter_.scale));
  }
}

}  // namespace tandem::tensor
