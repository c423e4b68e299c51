#include "tensor/linear.h"

#include <ATen/ops/cat.h>
#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tensor/kernel_arguments.h"
#include "tensor/operation_work.h"

namespace tandem::tensor {
namespace {

// Moves the tensors' values to one block of memory, in order.
void MoveToOneBlock(const std::vector<at::Tensor>& parts) {
  if (parts.size() == 1) return;
  std::vector<at::Tensor> values;
  for (const at::Tensor& part : parts) values.push_back(part.detach());
  const at::Tensor block = at::cat(values);
  int64_t first = 0;
  for (const at::Tensor& part : parts) {
    part.set_data(block.narrow(0, first, part.size(0)));
    first += part.size(0);
  }
}

// Whether the tensors follow each other in one block of memory.
bool AreInOneBlock(const std::vector<at::Tensor>& parts) {
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

// The parts as one tensor along the first dimension, `rows` in all, without history: a view of
// their memory where that is one block, else a copy.
at::Tensor Stacked(const std::vector<at::Tensor>& parts, int64_t rows) {
  const at::Tensor first = parts.front().detach();
  if (AreInOneBlock(parts)) {
    std::vector<int64_t> sizes = first.sizes().vec();
    sizes[0] = rows;
    return first.as_strided(sizes, first.strides());
  }
  std::vector<at::Tensor> values;
  for (const at::Tensor& part : parts) values.push_back(part.detach());
  return at::cat(values);
}

// Changes whenever any of the tensors was written to; never 0.
uint64_t VersionOf(const std::vector<at::Tensor>& tensors) {
  uint64_t version = 1;
  for (const at::Tensor& tensor : tensors) version += static_cast<uint64_t>(tensor._version());
  return version;
}

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackward};

bool Includes(Passes passes, Pass pass) {
  return passes == Passes::kBoth || (passes == Passes::kForward) == (pass == Pass::kForward);
}

}  // namespace

struct Linear::State {
  struct PackedCopy {
    std::optional<cpu::PackedMatrix> matrix;
    uint64_t version = 0;  // of the weights that it was packed from; 0: nothing is packed
  };

  std::vector<at::Tensor> weights;
  std::vector<at::Tensor> biases;
  int64_t in = 0;
  int64_t out = 0;

  std::mutex prepare;       // held by Prepare
  PackedCopy copies[2][2];  // by Pass, then by cpu::Type
  at::Tensor stacked_bias;
  uint64_t stacked_bias_version = 0;

  PackedCopy& Copy(Pass pass, cpu::Type type) {
    return copies[static_cast<int>(pass)][static_cast<int>(type)];
  }
  bool SuitsKernels() const {
    return weights.front().is_cpu() && weights.front().scalar_type() == at::kFloat &&
           FitsKernels(in) && FitsKernels(out);
  }
  void Free(Pass pass);
  void Pack(Pass pass, cpu::Type type);
  const cpu::PackedMatrix& Packed(Pass pass, cpu::Type type);
};

void Linear::State::Free(Pass pass) {
  for (PackedCopy& copy : copies[static_cast<int>(pass)]) {
    if (copy.matrix) copy = {};
  }
}

void Linear::State::Pack(Pass pass, cpu::Type type) {
  PackedCopy& copy = Copy(pass, type);
  const uint64_t version = VersionOf(weights);
  if (copy.version == version) return;
  const ProfileScope scope("pack weights",
                           RowsWork(in, out, type == cpu::Type::kFloat ? 2 : 1.5, at::kFloat));
  const bool transposed = pass == Pass::kForward;
  if (!copy.matrix) copy.matrix.emplace(transposed ? in : out, transposed ? out : in, type);
  const at::Tensor stacked = Stacked(weights, out);
  copy.matrix->Pack(stacked.data_ptr<float>(), transposed ? 1 : in, transposed ? in : 1);
  copy.version = version;
}

const cpu::PackedMatrix& Linear::State::Packed(Pass pass, cpu::Type type) {
  const PackedCopy& copy = Copy(pass, type);
  if (copy.version != VersionOf(weights)) {
    throw std::logic_error(
        fmt::format("a layer's weights are {} for the {} pass in {}; call Prepare first",
                    copy.version == 0 ? "not packed" : "newer than those that were packed",
                    pass == Pass::kForward ? "forward" : "backward",
                    type == cpu::Type::kFloat ? "fp32" : "bf16"));
  }
  return *copy.matrix;
}

Linear::Linear(std::vector<at::Tensor> weights, std::vector<at::Tensor> biases)
    : state_(std::make_shared<State>()) {
  if (weights.empty() || (!biases.empty() && weights.size() != biases.size())) {
    throw std::logic_error("Linear takes at least one weight, and as many biases or none");
  }
  state_->in = weights.front().size(1);
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i].size(1) != state_->in ||
        (!biases.empty() && biases[i].numel() != weights[i].size(0))) {
      throw std::logic_error("Linear takes weights of one width, and biases that fit them");
    }
    state_->out += weights[i].size(0);
  }
  state_->weights = std::move(weights);
  state_->biases = std::move(biases);
  MoveToOneBlock(state_->weights);
  if (!state_->biases.empty()) MoveToOneBlock(state_->biases);
}

int64_t Linear::in() const { return state_->in; }
int64_t Linear::out() const { return state_->out; }
const std::vector<at::Tensor>& Linear::weights() const { return state_->weights; }
const std::vector<at::Tensor>& Linear::biases() const { return state_->biases; }

std::vector<at::Tensor> Linear::parameters() const {
  std::vector<at::Tensor> all = weights();
  all.insert(all.end(), biases().begin(), biases().end());
  return all;
}

void Linear::Prepare(cpu::Type type, Passes passes) {
  const std::lock_guard lock(state_->prepare);
  for (const Pass pass : kPasses) {
    if (!Includes(passes, pass)) state_->Free(pass);
  }
  if (!state_->SuitsKernels()) return;
  for (const Pass pass : kPasses) {
    if (Includes(passes, pass)) state_->Pack(pass, type);
  }
  const uint64_t version = VersionOf(state_->biases);
  if (state_->biases.empty() || state_->stacked_bias_version == version) return;
  state_->stacked_bias = Stacked(state_->biases, state_->out);
  state_->stacked_bias_version = version;
}

const cpu::PackedMatrix& Linear::Forward(cpu::Type type) const {
  return state_->Packed(Pass::kForward, type);
}

const cpu::PackedMatrix& Linear::Backward(cpu::Type type) const {
  return state_->Packed(Pass::kBackward, type);
}

const float* Linear::StackedBias() const {
  if (state_->biases.empty()) return nullptr;
  if (state_->stacked_bias_version != VersionOf(state_->biases)) {
    throw std::logic_error("a layer's biases are newer than its last Prepare");
  }
  return state_->stacked_bias.data_ptr<float>();
}

at::Tensor Linear::StackedWeightTensor() const {
  return weights().size() == 1 ? weights().front() : at::cat(weights());
}

at::Tensor Linear::StackedBiasTensor() const {
  if (biases().empty()) return {};
  return biases().size() == 1 ? biases().front() : at::cat(biases());
}

}  // namespace tandem::tensor
