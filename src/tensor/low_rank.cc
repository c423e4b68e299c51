#include "tensor/low_rank.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/versions.h"

namespace tandem::tensor {
namespace {

constexpr int64_t kRankStep = 32;

int64_t StackedRank(const Adapter& adapter) {
  int64_t rank = 0;
  for (const Tensor& a : adapter.down) {
    if (a.defined()) rank += a.size(0);
  }
  return (rank + kRankStep - 1) / kRankStep * kRankStep;
}

// A map of zeros whose weight gradient is computed.
Linear ZeroMap(int64_t out, int64_t in) {
  return Linear({Zeros({out, in}, kFloat).set_requires_grad(true)}, {});
}

// Writes `scale` x [n, m] to columns [first, first + m) of `to`, float as x.
void CopyToColumns(const Tensor& x, double scale, int64_t first, const Tensor& to) {
  const auto factor = static_cast<float>(scale);
  const int64_t width = x.size(1);
  const float* from = x.data_ptr<float>();
  float* row = to.data_ptr<float>() + first;
  for (int64_t i = 0; i < x.size(0); ++i, from += width, row += to.size(1)) {
    std::transform(from, from + width, row, [factor](float value) { return value * factor; });
  }
  to.bump_version();
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
    const Tensor &a = adapter_.down[i], &b = adapter_.up[i];
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

uint64_t LowRank::version() const { return VersionOf(parameters_); }

void LowRank::AddTo(const Tensor& stacked) const {
  const NoGradGuard no_gradient;
  for (const Part& part : parts_) {
    const Tensor product = Product(part.b, part.a).to(kFloat);
    product.mul_(adapter_.scale);
    stacked.narrow(0, part.first_row, part.b.size(0)).add_(product);
  }
}

void LowRank::AppendProjected(const Tensor& weight, std::vector<Tensor>* gradients) const {
  if (!weight.defined()) {
    gradients->resize(gradients->size() + parameters_.size());
    return;
  }
  const NoGradGuard no_gradient;
  const auto rows = [&](const Part& part) {
    return weight.narrow(0, part.first_row, part.b.size(0));
  };
  for (const Part& part : parts_) {
    gradients->push_back(TransposedProduct(part.b, rows(part)));
    gradients->back().mul_(adapter_.scale);
  }
  for (const Part& part : parts_) {
    gradients->push_back(ProductTransposed(rows(part), part.a));
    gradients->back().mul_(adapter_.scale);
  }
}

void LowRank::Prepare(cpu::Type type, Passes passes) {
  const NoGradGuard no_gradient;
  if (stacked_version_ != version()) {
    if (!down_) {
      down_.emplace(ZeroMap(StackedRank(adapter_), in_));
      up_.emplace(ZeroMap(out_, StackedRank(adapter_)));
    }
    const Tensor down = down_->weights().front().detach(), up = up_->weights().front().detach();
    for (const Part& part : parts_) {
      const int64_t rank = part.a.size(0);
      down.narrow(0, part.first_rank, rank).copy_(part.a);
      CopyToColumns(part.b.to(kFloat), adapter_.scale, part.first_rank,
                    up.narrow(0, part.first_row, part.b.size(0)));
    }
    stacked_version_ = version();
  }
  down_->Prepare(type, passes);
  up_->Prepare(type, passes);
}

void LowRank::AppendParts(const Tensor& down, const Tensor& up,
                          std::vector<Tensor>* gradients) const {
  for (const Part& part : parts_) {
    gradients->push_back(down.narrow(0, part.first_rank, part.a.size(0)));
  }
  for (const Part& part : parts_) {
    const Tensor rows = up.narrow(0, part.first_row, part.b.size(0));
    gradients->push_back(Columns(rows, part.first_rank, part.a.size(0)));
    gradients->back().mul_(adapter_.scale);
  }
}

}  // namespace tandem::tensor
