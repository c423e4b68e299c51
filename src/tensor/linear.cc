#include "tensor/linear.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "tensor/operation_work.h"

namespace tandem::tensor {
namespace {

// Moves the tensors' numbers to one piece of memory, one tensor behind the other.
void LayTogether(const std::vector<at::Tensor>& parts) {
  if (parts.size() == 1) return;
  std::vector<at::Tensor> values;
  for (const at::Tensor& part : parts) values.push_back(part.detach());
  const at::Tensor together = at::cat(values);
  int64_t first = 0;
  for (const at::Tensor& part : parts) {
    part.set_data(together.narrow(0, first, part.size(0)));
    first += part.size(0);
  }
}

bool LieTogether(const std::vector<at::Tensor>& parts) {
  int64_t offset = parts.front().storage_offset();
  for (const at::Tensor& part : parts) {
    if (!part.is_contiguous() || !part.storage().is_alias_of(parts.front().storage()) ||
        part.storage_offset() != offset) {
      return false;
    }
    offset += part.numel();
  }
  return true;
}

// The parts as one tensor along the first dimension, `rows` in all, without history; their own
// memory where they lie together.
at::Tensor Stacked(const std::vector<at::Tensor>& parts, int64_t rows) {
  const at::Tensor first = parts.front().detach();
  if (LieTogether(parts)) {
    std::vector<int64_t> sizes = first.sizes().vec();
    sizes[0] = rows;
    return first.as_strided(sizes, first.strides());
  }
  std::vector<at::Tensor> values;
  for (const at::Tensor& part : parts) values.push_back(part.detach());
  return at::cat(values);
}

}  // namespace

Linear::Linear(std::vector<at::Tensor> weights, std::vector<at::Tensor> biases)
    : weights_(std::move(weights)), biases_(std::move(biases)) {
  if (weights_.empty() || weights_.size() != biases_.size()) {
    throw std::logic_error("Linear takes as many biases as weights, at least one");
  }
  in_ = weights_.front().size(1);
  for (size_t i = 0; i < weights_.size(); ++i) {
    if (weights_[i].size(1) != in_ || biases_[i].numel() != weights_[i].size(0)) {
      throw std::logic_error("Linear takes weights of one width, and biases that fit them");
    }
    out_ += weights_[i].size(0);
  }
  LayTogether(weights_);
  LayTogether(biases_);
}

std::vector<at::Tensor> Linear::parameters() const {
  std::vector<at::Tensor> all = weights_;
  all.insert(all.end(), biases_.begin(), biases_.end());
  return all;
}

// Changes whenever any of the tensors was written to; never 0.
uint64_t Linear::Version(const std::vector<at::Tensor>& tensors) const {
  uint64_t version = 1;
  for (const at::Tensor& tensor : tensors) version += static_cast<uint64_t>(tensor._version());
  return version;
}

const cpu::PackedMatrix& Linear::Pack(Packed* packed, cpu::Type type, bool transposed) {
  const uint64_t version = Version(weights_);
  if (packed->version == version) return *packed->matrix;
  const ProfileScope scope("pack weights",
                           RowsWork(in_, out_, type == cpu::Type::kFloat ? 2 : 1.5, at::kFloat));
  if (!packed->matrix) {
    packed->matrix.emplace(transposed ? in_ : out_, transposed ? out_ : in_, type);
  }
  const at::Tensor stacked = Stacked(weights_, out_);
  packed->matrix->Pack(stacked.data_ptr<float>(), transposed ? 1 : in_, transposed ? in_ : 1);
  packed->version = version;
  return *packed->matrix;
}

// A step needs each form once, and of all layers together they are as large as the weights: what
// one pass has packed goes when the other begins.
void Linear::Drop(Packed (&forms)[2]) {
  for (Packed& form : forms) {
    if (form.matrix) form = {};
  }
}

const cpu::PackedMatrix& Linear::Forward(cpu::Type type) {
  Drop(backward_);
  return Pack(&forward_[static_cast<int>(type)], type, true);
}

const cpu::PackedMatrix& Linear::Backward(cpu::Type type) {
  Drop(forward_);
  return Pack(&backward_[static_cast<int>(type)], type, false);
}

const float* Linear::StackedBias() {
  const uint64_t version = Version(biases_);
  if (stacked_bias_version_ != version) {
    stacked_bias_ = Stacked(biases_, out_);
    stacked_bias_version_ = version;
  }
  return stacked_bias_.data_ptr<float>();
}

at::Tensor Linear::StackedWeightTensor() const {
  return weights_.size() == 1 ? weights_.front() : at::cat(weights_);
}

at::Tensor Linear::StackedBiasTensor() const {
  return biases_.size() == 1 ? biases_.front() : at::cat(biases_);
}

}  // namespace tandem::tensor
