#include "tensor/linear.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <utility>

#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/fused/kernel_arguments.h"
#include "tensor/low_rank.h"
#include "tensor/profile/operation_work.h"
#include "tensor/shared_copies.h"
#include "tensor/versions.h"

namespace tandem::tensor {
namespace {

// Moves the tensors' values to one block of memory, in order.
void MoveToOneBlock(const std::vector<Tensor>& parts) {
  if (parts.size() == 1) return;
  std::vector<Tensor> values;
  for (const Tensor& part : parts) values.push_back(part.detach());
  const Tensor block = Cat(values);
  int64_t first = 0;
  for (const Tensor& part : parts) {
    part.set_data(block.narrow(0, first, part.size(0)));
    first += part.size(0);
  }
}

// Says whether the tensors follow each other in one block of memory.
bool AreInOneBlock(const std::vector<Tensor>& parts) {
  int64_t offset = parts.front().storage_offset();
  for (const Tensor& part : parts) {
    if (!part.SharesStorage(parts.front()) || part.dtype() != parts.front().dtype() ||
        part.storage_offset() != offset) {
      return false;
    }
    offset += part.numel();
  }
  return true;
}

// The tensors, in float where their types differ.
std::vector<Tensor> OfOneType(std::vector<Tensor> parts) {
  const DType type = parts.front().dtype();
  const bool same = std::all_of(parts.begin(), parts.end(),
                                [&](const Tensor& part) { return part.dtype() == type; });
  if (same) return parts;
  for (Tensor& part : parts) part = part.to(kFloat);
  return parts;
}

// Says whether kernels pack weights straight from this memory.
bool IsStored(const Tensor& weight) {
  return weight.dtype() == kFloat || weight.dtype() == kBFloat16;
}

cpu::StoredRows StoredRowsOf(const Tensor& weight) {
  return {weight.data_ptr(), weight.size(0),
          weight.dtype() == kFloat ? cpu::Type::kFloat : cpu::Type::kBf16};
}

// The parts as one tensor along the first dimension, `rows` in all, without history: a view of
// their memory where that is one block, else a copy.
Tensor Stacked(const std::vector<Tensor>& parts, int64_t rows) {
  const Tensor first = parts.front().detach();
  if (AreInOneBlock(parts)) {
    const size_t offset = static_cast<size_t>(first.storage_offset()) * ElementSize(first.dtype());
    return {first.storage(), offset, first.sizes().WithRows(rows), first.dtype()};
  }
  std::vector<Tensor> values;
  for (const Tensor& part : OfOneType(parts)) values.push_back(part.detach());
  return Cat(values);
}

bool WantGradient(const std::vector<Tensor>& parameters) {
  return std::any_of(parameters.begin(), parameters.end(),
                     [](const Tensor& parameter) { return parameter.requires_grad(); });
}

bool IsFloatLike(const Tensor& x) {
  return x.dtype() == kFloat || x.dtype() == kBFloat16 || x.dtype() == kHalf;
}

// A rough count; kernels may add a little.
uint64_t BytesOf(int64_t elements, cpu::Type type) {
  return static_cast<uint64_t>(elements) * (type == cpu::Type::kFloat ? 4 : 2);
}

constexpr Pass kPasses[] = {Pass::kForward, Pass::kBackward};

bool Includes(Passes passes, Pass pass) {
  return passes == Passes::kBoth || (passes == Passes::kForward) == (pass == Pass::kForward);
}

}  // namespace

struct Linear::State {
  struct PackedCopy {
    std::shared_ptr<cpu::PackedMatrix> matrix;
    uint64_t version = 0;  // of the weights that it was packed from; 0: nothing is packed
  };

  std::vector<Tensor> weights;
  std::vector<Tensor> biases;
  int64_t in = 0;
  int64_t out = 0;
  std::shared_ptr<LowRank> low_rank;     // null: no adapter
  std::shared_ptr<PackBuffers> buffers;  // null: copies are kept
  int slot = 0;
  uint64_t id = 0;  // of this map among all

  std::mutex prepare;                                      // held by Prepare
  PackedCopy copies[2][2];                                 // by Pass, then by cpu::Type
  cpu::Multiplier multiplier = cpu::Multiplier::kFastest;  // of all copies
  struct TypedCopy {
    Tensor values;
    uint64_t version = 0;
  };
  std::mutex typed;  // held while the copies below are looked at
  TypedCopy typed_weight, typed_bias;
  Tensor stacked_bias;
  uint64_t stacked_bias_version = 0;

  PackedCopy& Copy(Pass pass, cpu::Type type) {
    return copies[static_cast<int>(pass)][static_cast<int>(type)];
  }
  bool SuitsKernels() const {
    return weights.front().is_cpu() && IsFloatLike(weights.front()) && FitsKernels(in) &&
           FitsKernels(out);
  }
  bool Merges(cpu::Type type) const {
    return low_rank && (type == cpu::Type::kFloat || multiplier == cpu::Multiplier::kInt8) &&
           low_rank->adapter().dropout == 0;
  }
  // The version of all that a packed copy is made from.
  uint64_t Version(cpu::Type type) const {
    return VersionOf(weights) + (Merges(type) ? low_rank->version() : 0);
  }
  void Free(Pass pass);
  std::shared_ptr<cpu::PackedMatrix> NewCopy(Pass pass, cpu::Type type) const;
  void Fill(Pass pass, cpu::PackedMatrix* copy) const;
  void Pack(Pass pass, cpu::Type type);
  const cpu::PackedMatrix& Packed(Pass pass, cpu::Type type);
};

void Linear::State::Free(Pass pass) {
  for (PackedCopy& copy : copies[static_cast<int>(pass)]) {
    if (copy.matrix) copy = {};
  }
}

std::shared_ptr<cpu::PackedMatrix> Linear::State::NewCopy(Pass pass, cpu::Type type) const {
  const bool transposed = pass == Pass::kForward;
  return std::make_shared<cpu::PackedMatrix>(transposed ? in : out, transposed ? out : in, type,
                                             multiplier);
}

// The forward pass multiplies by the transpose of the stacked weights.
void Linear::State::Fill(Pass pass, cpu::PackedMatrix* copy) const {
  const ProfileScope scope("pack weights",
                           RowsWork(in, out, copy->type() == cpu::Type::kFloat ? 2 : 1.5, kFloat));
  const bool transposed = pass == Pass::kForward;
  if (!Merges(copy->type()) && !WantGradient(weights) &&
      std::all_of(weights.begin(), weights.end(), IsStored)) {
    std::vector<cpu::StoredRows> parts;
    for (const Tensor& weight : weights) parts.push_back(StoredRowsOf(weight));
    copy->PackStored(parts, in, transposed);
    return;
  }
  const NoGradGuard no_gradient;
  Tensor stacked = Stacked(weights, out);
  if (Merges(copy->type())) {
    stacked = stacked.dtype() == kFloat ? stacked.clone() : stacked.to(kFloat);
    low_rank->AddTo(stacked);
  }
  stacked = stacked.to(kFloat);
  copy->Pack(stacked.data_ptr<float>(), transposed ? 1 : in, transposed ? in : 1);
}

void Linear::State::Pack(Pass pass, cpu::Type type) {
  PackedCopy& copy = Copy(pass, type);
  const uint64_t version = Version(type);
  if (copy.version == version) return;
  const auto make = [&] {
    auto made = NewCopy(pass, type);
    Fill(pass, made.get());
    return made;
  };
  if (WantGradient(weights) || Merges(type)) {
    if (!copy.matrix) copy.matrix = NewCopy(pass, type);
    Fill(pass, copy.matrix.get());
  } else {
    std::vector<const void*> memory;
    for (const Tensor& weight : weights) memory.push_back(weight.data_ptr());
    copy.matrix = SharedCopies::Get({memory, version, pass, type, multiplier}, make);
  }
  copy.version = version;
}

const cpu::PackedMatrix& Linear::State::Packed(Pass pass, cpu::Type type) {
  if (buffers && SuitsKernels()) {
    const bool transposed = pass == Pass::kForward;
    return buffers->Get(
        {slot, pass, transposed ? in : out, transposed ? out : in, type, multiplier},
        {id, Version(type)}, [&](cpu::PackedMatrix* copy) { Fill(pass, copy); });
  }
  const PackedCopy& copy = Copy(pass, type);
  if (copy.version != Version(type)) {
    throw std::logic_error(
        fmt::format("a layer's weights are {} for the {} pass in {}; call Prepare first",
                    copy.version == 0 ? "not packed" : "newer than those that were packed",
                    pass == Pass::kForward ? "forward" : "backward",
                    multiplier == cpu::Multiplier::kInt8 ? "int8"
                    : type == cpu::Type::kFloat          ? "fp32"
                                                         : "bf16"));
  }
  return *copy.matrix;
}

Linear::Linear(std::vector<Tensor> weights, std::vector<Tensor> biases)
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
  static std::atomic<uint64_t> maps = 0;
  state_->id = ++maps;
  state_->weights = std::move(weights);
  state_->biases = std::move(biases);
  Moved();
}

void Linear::Moved() {
  for (const Pass pass : kPasses) state_->Free(pass);
  // What was computed of the old memory is freed.
  state_->stacked_bias_version = 0;
  state_->typed_weight = state_->typed_bias = {};
  if (WantGradient(state_->weights)) MoveToOneBlock(state_->weights);
  if (!state_->biases.empty()) MoveToOneBlock(state_->biases);
}

void Linear::Adapt(Adapter adapter) {
  std::vector<int64_t> outs;
  for (const Tensor& weight : state_->weights) outs.push_back(weight.size(0));
  state_->low_rank = std::make_shared<LowRank>(std::move(adapter), state_->in, outs);
}

bool Linear::AdaptsBeside(const Tensor& x) const {
  return low_rank() != nullptr && !state_->Merges(KernelType(x));
}

const LowRank* Linear::low_rank() const { return base_ ? nullptr : state_->low_rank.get(); }

Linear Linear::Base() const {
  Linear base = *this;
  base.base_ = true;
  return base;
}

void Linear::PackOnUse(std::shared_ptr<PackBuffers> buffers, int slot) {
  state_->buffers = std::move(buffers);
  state_->slot = slot;
  for (const Pass pass : kPasses) state_->Free(pass);
}

uint64_t Linear::PackedBytes(cpu::Type type) const {
  return state_->SuitsKernels() ? BytesOf(state_->in * state_->out, type) : 0;
}

int64_t Linear::in() const { return state_->in; }
int64_t Linear::out() const { return state_->out; }
const std::vector<Tensor>& Linear::weights() const { return state_->weights; }
const std::vector<Tensor>& Linear::biases() const { return state_->biases; }

std::vector<Tensor> Linear::parameters() const {
  std::vector<Tensor> all = weights();
  all.insert(all.end(), biases().begin(), biases().end());
  if (const LowRank* adapter = low_rank()) {
    all.insert(all.end(), adapter->parameters().begin(), adapter->parameters().end());
  }
  return all;
}

bool Linear::WantsWeightGradient() const {
  return WantGradient(weights()) ||
         (low_rank() != nullptr && WantGradient(low_rank()->parameters()));
}

bool Linear::WantsBiasGradient() const { return WantGradient(biases()); }

void Linear::AppendGradients(const Tensor& weight, const Tensor& bias,
                             std::vector<Tensor>* gradients) const {
  const auto append = [&](const Tensor& stacked, const std::vector<Tensor>& parts) {
    int64_t first = 0;
    for (const Tensor& part : parts) {
      const bool wanted = stacked.defined() && part.requires_grad();
      gradients->push_back(wanted ? stacked.narrow(0, first, part.size(0)) : Tensor());
      first += part.size(0);
    }
  };
  append(weight, weights());
  append(bias, biases());
  if (const LowRank* adapter = low_rank()) adapter->AppendProjected(weight, gradients);
}

void Linear::Prepare(cpu::Type type, Passes passes, cpu::Multiplier multiplier) {
  const std::lock_guard lock(state_->prepare);
  if (multiplier == cpu::Multiplier::kInt8 && passes != Passes::kForward) {
    throw std::logic_error("weights of eight bits are for forward passes");
  }
  if (state_->multiplier != multiplier) {
    for (const Pass pass : kPasses) state_->Free(pass);
    state_->multiplier = multiplier;
  }
  for (const Pass pass : kPasses) {
    if (!Includes(passes, pass)) state_->Free(pass);
  }
  if (!state_->SuitsKernels()) return;
  if (!state_->buffers) {
    for (const Pass pass : kPasses) {
      if (Includes(passes, pass)) state_->Pack(pass, type);
    }
  }
  if (state_->low_rank && !state_->Merges(type)) state_->low_rank->Prepare(type, passes);
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

namespace {

// The parts as one tensor of this type: a view of their memory where it is that, else `kept`, which
// is made anew unless it is theirs.
template <typename TypedCopy>
Tensor StackedIn(DType type, const std::vector<Tensor>& parts, int64_t rows, TypedCopy* kept) {
  const Tensor& first = parts.front();
  if (first.dtype() == type && AreInOneBlock(parts)) return Stacked(parts, rows);
  const uint64_t version = VersionOf(parts);
  if (kept->version != version || kept->values.dtype() != type ||
      kept->values.device() != first.device()) {
    *kept = {Stacked(parts, rows).to(type), version};
  }
  return kept->values;
}

}  // namespace

Tensor Linear::WeightIn(DType type) const {
  const std::lock_guard lock(state_->typed);
  return StackedIn(type, weights(), state_->out, &state_->typed_weight);
}

Tensor Linear::BiasIn(DType type) const {
  if (biases().empty()) return {};
  const std::lock_guard lock(state_->typed);
  return StackedIn(type, biases(), state_->out, &state_->typed_bias);
}

}  // namespace tandem::tensor
