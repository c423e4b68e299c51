#include "train/run/checkpoint.h"

#include <fmt/format.h>

#include <cstring>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/files/atomic_folder.h"
#include "base/files/files.h"
#include "base/json/json_reader.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "weights/safetensors/safetensors.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::train {
namespace {

constexpr const char* kWeights = "weights.safetensors";
constexpr const char* kOptimizer = "optimizer.safetensors";
constexpr const char* kSampler = "sampler.safetensors";
constexpr const char* kState = "state.json";

struct NamedTensor {
  std::string name;
  tensor::Tensor value;  // float32, on any device
};

std::vector<NamedTensor> TensorsOf(std::span<const model::NamedParameter> parameters) {
  std::vector<NamedTensor> tensors;
  for (const model::NamedParameter& parameter : parameters) {
    tensors.push_back({parameter.name, parameter.value});
  }
  return tensors;
}

std::vector<NamedTensor> TensorsOf(std::span<const optim::StateTensor> states) {
  std::vector<NamedTensor> tensors;
  for (const optim::StateTensor& state : states) tensors.push_back({state.name, state.value});
  return tensors;
}

void WriteTensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  std::vector<tensor::Tensor> on_host;  // memory that `views` point to
  std::vector<weights::TensorToWrite> views;
  for (const NamedTensor& tensor : tensors) {
    on_host.push_back(tensor::OnCpu(tensor.value.detach()));
    const auto sizes = tensor.value.sizes();
    views.push_back(weights::Float32Tensor(tensor.name, weights::Shape(sizes.begin(), sizes.end()),
                                           {static_cast<const float*>(on_host.back().data_ptr()),
                                            static_cast<size_t>(tensor.value.numel())}));
  }
  weights::WriteSafetensors(path, views);
}

// Copies only the pages that differ. The system provides memory for a page of zeros only when the
// page is written to, so that zero moments, as of most of a vocabulary, take no memory.
void CopyWhatDiffers(std::string_view bytes, char* to) {
  constexpr size_t kPiece = 4096;
  for (size_t i = 0; i < bytes.size(); i += kPiece) {
    const std::string_view piece = bytes.substr(i, kPiece);
    if (std::memcmp(to + i, piece.data(), piece.size()) != 0) {
      std::memcpy(to + i, piece.data(), piece.size());
    }
  }
}

// Copies through memory on the host, because floats in a mapped file may be unaligned.
void CopyToDevice(std::string_view bytes, const tensor::Tensor& to) {
  const tensor::Tensor copy = tensor::Empty(to.sizes(), tensor::kFloat);
  std::memcpy(copy.data_ptr(), bytes.data(), bytes.size());
  to.detach().copy_(copy);
}

void ReadTensors(const std::filesystem::path& path, const std::vector<NamedTensor>& tensors) {
  const weights::SafetensorsFile file(path);
  for (const NamedTensor& tensor : tensors) {
    const weights::TensorView* view = file.Find(tensor.name);
    if (view == nullptr) {
      throw ModelError(path.native(), tensor.name, "is not in this checkpoint of another model");
    }
    const auto sizes = tensor.value.sizes();
    const weights::Shape shape(sizes.begin(), sizes.end());
    if (view->shape != shape || view->dtype != weights::Dtype::kF32) {
      throw ModelError(path.native(), tensor.name,
                       fmt::format("has shape {} in the model and {} here; the checkpoint is of "
                                   "another model",
                                   weights::ShapeText(shape), weights::ShapeText(view->shape)));
    }
    if (tensor.value.is_cpu()) {
      CopyWhatDiffers({view->bytes.data(), view->bytes.size()},
                      static_cast<char*>(tensor.value.data_ptr()));
    } else {
      CopyToDevice(view->bytes, tensor.value);
    }
    tensor.value.bump_version();
    file.ReleasePages();  // a mapped page that was read counts as this process's memory
  }
  if (file.tensors().size() != tensors.size()) {
    throw ModelError(path.native(), "",
                     fmt::format("has {} tensors, the model {}; the checkpoint is of another model",
                                 file.tensors().size(), tensors.size()));
  }
}

template <typename T>
constexpr weights::Dtype kDtypeOf = weights::Dtype::kF32;
template <>
constexpr weights::Dtype kDtypeOf<uint32_t> = weights::Dtype::kU32;
template <>
constexpr weights::Dtype kDtypeOf<uint8_t> = weights::Dtype::kU8;

void WriteArrays(const std::filesystem::path& path, std::span<const sampling::StateArray> arrays) {
  std::vector<weights::TensorToWrite> tensors;
  for (const sampling::StateArray& array : arrays) {
    std::visit(
        [&]<typename T>(const std::vector<T>& values) {
          tensors.push_back(
              {.name = array.name,
               .dtype = kDtypeOf<T>,
               .shape = {std::ssize(values)},
               .bytes = {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)}});
        },
        array.values);
  }
  weights::WriteSafetensors(path, tensors);
}

template <typename T>
sampling::StateArray ArrayOf(const weights::TensorView& tensor) {
  std::vector<T> values(tensor.elements());
  if (!values.empty()) std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return {tensor.name, std::move(values)};
}

}  // namespace

std::vector<model::NamedParameter> SavedParameters(model::DualEncoder& model,
                                                   const ObjectiveStates& states) {
  std::vector<model::NamedParameter> saved = model::TrainedOf(model.Parameters());
  for (model::NamedParameter& number : states.Numbers()) saved.push_back(std::move(number));
  return saved;
}

void SaveCheckpoint(const std::filesystem::path& folder,
                    std::span<const model::NamedParameter> parameters,
                    std::span<const optim::StateTensor> tensors, const Json& state,
                    std::span<const sampling::StateArray> sampler) {
  AtomicFolder atomic(folder);
  WriteTensors(atomic.staging() / kWeights, TensorsOf(parameters));
  WriteTensors(atomic.staging() / kOptimizer, TensorsOf(tensors));
  if (!sampler.empty()) WriteArrays(atomic.staging() / kSampler, sampler);
  WriteFileAtomically(atomic.staging() / kState, state.Sorted().Dump(1) + "\n");
  atomic.Commit();
}

void SaveWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters, const Json& state) {
  AtomicFolder atomic(folder);
  WriteTensors(atomic.staging() / kWeights, TensorsOf(parameters));
  WriteFileAtomically(atomic.staging() / kState, state.Sorted().Dump(1) + "\n");
  atomic.Commit();
}

Json ReadState(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kState;
  try {
    return ParseJson(ReadFile(path));
  } catch (const DataError& error) {
    throw ModelError(folder.native(), "",
                     fmt::format("is no complete checkpoint: {}", error.what()));
  } catch (const JsonTextError&) {
    throw ModelError(path.native(), "",
                     "is not the JSON that a run writes; remove this checkpoint's folder to go on "
                     "from the one before");
  }
}

CheckpointFacts FactsOf(const Json& state) {
  CheckpointFacts facts;
  const StateVisitor visit = StateVisitor::Reader(state);
  facts.inputs.VisitState(visit);
  visit.Member("ranks", facts.ranks, 1);
  const Json* const found = state.Find("loop");
  if (found == nullptr) return facts;
  const StateVisitor loop = StateVisitor::Reader(*found);
  loop.Member("metrics_bytes", facts.metrics_bytes, 0);
  loop.Member("best_step", facts.best_step, 0);
  loop.Member("base_value", facts.base_value);
  loop.Member("stopped_early", facts.stopped_early, false);
  loop.Member("progress", facts.progress, 0);
  loop.Member("progress_before", facts.progress_before, 0);
  return facts;
}

CheckpointFacts ReadFacts(const std::filesystem::path& folder) {
  return FactsOf(ReadState(folder));
}

bool HasTensors(const std::filesystem::path& folder) {
  return std::filesystem::exists(folder / kWeights) && std::filesystem::exists(folder / kOptimizer);
}

void DropTensors(const std::filesystem::path& folder) {
  for (const char* name : {kOptimizer, kSampler, kWeights}) {
    std::error_code error;
    std::filesystem::remove(folder / name, error);
    if (error) throw OutputError((folder / name).native(), "cannot be removed", error.value());
  }
}

void LoadWeights(const std::filesystem::path& folder,
                 std::span<const model::NamedParameter> parameters) {
  ReadTensors(folder / kWeights, TensorsOf(parameters));
}

void LoadTensors(const std::filesystem::path& folder, std::span<const optim::StateTensor> tensors) {
  ReadTensors(folder / kOptimizer, TensorsOf(tensors));
}

std::vector<sampling::StateArray> LoadSamplerArrays(const std::filesystem::path& folder) {
  std::vector<sampling::StateArray> arrays;
  if (!std::filesystem::exists(folder / kSampler)) return arrays;
  const weights::SafetensorsFile file(folder / kSampler);
  for (const weights::TensorView& tensor : file.tensors()) {
    if (tensor.dtype == weights::Dtype::kF32) {
      arrays.push_back(ArrayOf<float>(tensor));
    } else if (tensor.dtype == weights::Dtype::kU32) {
      arrays.push_back(ArrayOf<uint32_t>(tensor));
    } else if (tensor.dtype == weights::Dtype::kU8) {
      arrays.push_back(ArrayOf<uint8_t>(tensor));
    } else {
      throw ModelError((folder / kSampler).native(), tensor.name,
                       "has a type that no sampler keeps; the checkpoint is broken");
    }
  }
  return arrays;
}

}  // namespace tandem::train
