#include "model/training/training_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/log.h"
#include "base/process/memory.h"
#include "base/random.h"
#include "model/encoders/head.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "weights/architecture.h"
#include "weights/encoder_parts.h"

namespace tandem::model {
namespace {

using weights::EncoderPart;
using weights::ModelFolder;

// The modules after the encoder that have parameters.
std::vector<const weights::ModuleSource*> TrainableModules(const ModelFolder& folder) {
  std::vector<const weights::ModuleSource*> modules;
  for (const weights::HeadModule& module : folder.head) {
    if (const weights::ModuleSource* source = SourceOf(module)) modules.push_back(source);
  }
  return modules;
}

void Freeze(const EncoderPart& part, TrainingPlan* plan) {
  plan->frozen.insert(part.tensors.begin(), part.tensors.end());
}

// Freezes what options.freeze names.
void FreezeNamed(const ModelFolder& folder, const std::vector<EncoderPart>& parts,
                 const TrainingOptions& options, TrainingPlan* plan) {
  std::vector<std::string> names;
  for (const EncoderPart& part : parts) names.push_back(part.name);
  for (const weights::ModuleSource* module : TrainableModules(folder))
    names.push_back(module->folder);
  for (const std::string& pattern : options.freeze) {
    bool any = false;
    for (const EncoderPart& part : parts) {
      if (!weights::NamesPart(pattern, part.name)) continue;
      any = true;
      Freeze(part, plan);
    }
    for (const weights::ModuleSource* module : TrainableModules(folder)) {
      if (pattern != module->folder) continue;
      any = true;
      plan->frozen_modules.insert(pattern);
    }
    const std::string missing = weights::MissingLayer(pattern, parts);
    if (any && missing.empty()) continue;
    throw TrainingProblem("model.freeze",
                          fmt::format("\"{}\" names {} of {}; it has {}", pattern,
                                      any ? missing + ", which is no part" : std::string("no part"),
                                      folder.path.native(), weights::PartsText(names)));
  }
}

// Adapters that training goes on from. Adapters of frozen parts stay: without them the model would
// be another one than the adapter's.
void PlanStartedAdapters(const ModelFolder& folder, const std::filesystem::path& path,
                         TrainingPlan* plan) {
  plan->started_from = std::make_shared<const weights::AdapterFolder>(weights::ReadAdapterFolder(
      path, folder.encoder, weights::FindArchitecture(folder.encoder.model_type)->prefixes));
  weights::WarnOfOtherBase(*plan->started_from, folder.path);
  plan->adapter = plan->started_from->settings;
  for (const auto& [linear, pair] : plan->started_from->pairs) {
    plan->adapted.insert(linear);
    if (plan->frozen.contains(linear + ".weight")) plan->frozen_adapters.insert(linear);
  }
}

// B A of a rank above the map's smaller side is no richer than one of that rank.
void WarnOfWideRank(const ModelFolder& folder, const TrainingPlan& plan) {
  for (const std::string& linear : plan.adapted) {
    const weights::Shape& shape = folder.tensor(linear + ".weight").shape;
    const int64_t most = std::min(shape[0], shape[1]);
    if (plan.adapter.rank <= most) continue;
    Warn(
        fmt::format("rank {} of the adapters is more than {} of shape {} can use: rank {} reaches "
                    "every change of it",
                    plan.adapter.rank, linear, weights::ShapeText(shape), most));
    return;
  }
}

void PlanNewAdapters(const ModelFolder& folder, const LoraOptions& lora, TrainingPlan* plan) {
  plan->adapter = {.rank = lora.rank,
                   .alpha = lora.alpha,
                   .dropout = lora.dropout,
                   .rank_stabilized = lora.rank_stabilized,
                   .base = "",
                   .targets = {}};
  try {
    plan->adapted = weights::AdapterTargets(folder.encoder, lora.targets, plan->frozen);
  } catch (const UsageError& error) {
    throw TrainingProblem("lora.target_modules", error.what());
  }
}

void PlanAdapters(const ModelFolder& folder, const TrainingOptions& options, TrainingPlan* plan) {
  if (options.adapter.empty()) {
    PlanNewAdapters(folder, options.lora, plan);
  } else {
    PlanStartedAdapters(folder, options.adapter, plan);
  }
  WarnOfWideRank(folder, *plan);
}

// Bytes of the frozen linear weights in their file.
uint64_t FrozenBytes(const ModelFolder& folder, const TrainingPlan& plan) {
  uint64_t bytes = 0;
  for (const std::string& linear : weights::LinearNames(folder.encoder)) {
    if (!plan.frozen.contains(linear + ".weight")) continue;
    bytes += folder.tensor(linear + ".weight").view->bytes.size();
  }
  return bytes;
}

// Throws where nothing is left to train.
void CheckSomethingIsTrained(const ModelFolder& folder, const TrainingOptions& options,
                             const TrainingPlan& plan) {
  if (options.what == Trained::kNothing || plan.adapted.size() > plan.frozen_adapters.size() ||
      plan.frozen.size() < folder.encoder.tensors.size() ||
      plan.frozen_modules.size() < TrainableModules(folder).size()) {
    return;
  }
  if (options.what == Trained::kHead && TrainableModules(folder).empty()) {
    throw TrainingProblem("model.train",
                          fmt::format("is \"head\", but {} has no module with parameters after "
                                      "its encoder; model.projection makes one",
                                      folder.path.native()));
  }
  throw TrainingProblem("model.freeze", "leaves nothing to train");
}

// The file's memory as a tensor, or a copy of it where it is not aligned.
tensor::Tensor Stored(const weights::TensorView& view,
                      const std::shared_ptr<const weights::WeightFiles>& files) {
  const tensor::DType type = view.dtype == weights::Dtype::kF32   ? tensor::kFloat
                             : view.dtype == weights::Dtype::kF16 ? tensor::kHalf
                                                                  : tensor::kBFloat16;
  const size_t size = tensor::ElementSize(type);
  if (reinterpret_cast<uintptr_t>(view.bytes.data()) % size != 0) {
    tensor::Tensor copy = tensor::Empty(view.shape, type);
    std::copy(view.bytes.begin(), view.bytes.end(), static_cast<char*>(copy.data_ptr()));
    return copy;
  }
  return tensor::FromBlob(const_cast<char*>(view.bytes.data()), view.shape, type,  // only read
                          files);
}

tensor::Tensor NewDown(const std::string& linear, const tensor::Shape& shape, uint64_t seed) {
  const std::string purpose = "lora " + linear;
  RandomStream stream({.seed = seed, .purpose = purpose});
  tensor::Tensor values = tensor::Empty(shape, tensor::kFloat);
  const double bound = 1 / std::sqrt(static_cast<double>(shape[1]));
  auto* numbers = values.data_ptr<float>();
  for (int64_t i = 0; i < values.numel(); ++i) {
    numbers[i] = static_cast<float>(bound * (2 * stream.Uniform() - 1));
  }
  return values.set_requires_grad(true);
}

}  // namespace

std::filesystem::path AdapterOf(const TrainingOptions& options, std::string_view tower) {
  const std::filesystem::path& folder = options.adapter;
  if (options.what != Trained::kLora || folder.empty()) return {};
  const auto holds = [](const std::filesystem::path& path) {
    return std::filesystem::exists(path / weights::kAdapterConfig);
  };
  if (holds(folder)) return folder;
  const bool of_towers = holds(folder / "query") && holds(folder / "document");
  if (of_towers && !tower.empty()) return folder / tower;
  const char* problem = of_towers ? "holds adapters of two encoders: give its folder query or "
                                    "document, or model.towers = \"separate\""
                        : std::filesystem::exists(folder)
                            ? "has no adapter_config.json; give the folder of a PEFT adapter, as "
                              "`adapter/` of a run"
                            : "does not exist; give the folder of a PEFT adapter, as `adapter/` "
                              "of a run";
  throw TrainingProblem("model.adapter", fmt::format("\"{}\" {}", folder.native(), problem));
}

TrainingPlan PlanTraining(const ModelFolder& folder, const TrainingOptions& options) {
  const std::vector<EncoderPart> parts = weights::PartsOf(folder.encoder);
  TrainingPlan plan;
  FreezeNamed(folder, parts, options, &plan);
  if (options.what == Trained::kLora) PlanAdapters(folder, options, &plan);
  if (options.what != Trained::kAll) {
    for (const EncoderPart& part : parts) Freeze(part, &plan);
  }
  for (const weights::ModuleSource* module : TrainableModules(folder)) {
    // A projection that came with the adapter is trained on.
    const bool new_one = module->is_new() ||
                         (!options.adapter.empty() && module->folder == weights::kProjectionFolder);
    if (options.what == Trained::kNothing || (options.what == Trained::kLora && !new_one)) {
      plan.frozen_modules.insert(module->folder);
    }
  }
  CheckSomethingIsTrained(folder, options, plan);
  // Packed copies for both passes take as much as the weights each. An eighth of the memory leaves
  // room for activations; where the copies would take more, packing again for each use is cheap
  // beside the products of a chunk of some hundred tokens.
  plan.pack_on_use = options.pack_on_use.value_or(
      options.what != Trained::kNothing && 3 * FrozenBytes(folder, plan) > UsableMemory() / 8);
  return plan;
}

TensorSource TensorsOf(const ModelFolder& folder, const TrainingPlan& plan) {
  return [&folder, &plan, large = weights::LargeTensors(folder.encoder)](std::string_view name) {
    const weights::TensorView& view = *folder.tensor(name).view;
    const std::string key(name);
    const bool frozen = plan.frozen.contains(key);
    if (frozen && large.contains(key)) return Stored(view, folder.weights);
    tensor::Tensor copy = ParameterFrom(view);
    folder.weights->ReleasePages();  // so that there is never much of the file beside the copies
    return frozen ? copy.set_requires_grad(false) : copy;
  };
}

AdapterPlan AdaptersOf(const TrainingPlan& plan, uint64_t seed) {
  AdapterPlan adapters{.linears = plan.adapted,
                       .rank = plan.adapter.rank,
                       .scale = plan.adapter.scale(),
                       .dropout = plan.adapter.dropout,
                       .start = {}};
  adapters.start = [seed, folder = plan.started_from, frozen = plan.frozen_adapters](
                       const std::string& linear, bool up, const tensor::Shape& shape) {
    if (folder) {
      const weights::AdapterPair& pair = folder->pairs.at(linear);
      return ParameterFrom(up ? *pair.up : *pair.down).set_requires_grad(!frozen.contains(linear));
    }
    return up ? tensor::Zeros(shape, tensor::kFloat).set_requires_grad(true)
              : NewDown(linear, shape, seed);
  };
  return adapters;
}

}  // namespace tandem::model
