#include "weights/modules/prediction_head.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "weights/architecture.h"
#include "weights/classification_head.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

const ClassificationHead& HeadOf(const ModelFolder& folder) {
  std::vector<std::string_view> known;
  for (const ClassificationHead* head : ClassificationHeads()) {
    if (head->pooler_of.empty()) continue;
    if (head->pooler_of == folder.encoder.architecture) return *head;
    known.push_back(head->pooler_of);
  }
  throw UsageError(
      fmt::format("{}: its encoder ({}) has no prediction head that could follow pooling; "
                  "encoders with one: {}",
                  folder.path.native(), folder.encoder.model_type, fmt::join(known, ", ")));
}

Activation ActivationOf(const ClassificationSpec& spec, const Settings& config) {
  constexpr std::pair<std::string_view, Activation> kKnown[] = {{"gelu", Activation::kGelu},
                                                                {"relu", Activation::kRelu},
                                                                {"silu", Activation::kSilu},
                                                                {"tanh", Activation::kTanh}};
  std::vector<std::string_view> known;
  for (const auto& [name, activation] : kKnown) {
    if (spec.activation == name) return activation;
    known.push_back(name);
  }
  throw ModelError(config.file(), "",
                   fmt::format("the prediction head's activation is {}, which a Dense module of "
                               "sentence-transformers cannot have; model.head takes {}",
                               spec.activation, fmt::join(known, ", ")));
}

// The head's tensors, without the classifier's.
void BindHead(const ModelFolder& folder, ClassificationSpec* spec) {
  const std::string dense = spec->dense.names.front() + ".", norm = spec->norm.name + ".";
  std::erase_if(spec->tensors, [&](const EncoderTensor& tensor) {
    return !tensor.name.starts_with(dense) && !tensor.name.starts_with(norm);
  });
  try {
    BindTensors(*folder.weights, folder.encoder.model_type, &spec->tensors);
  } catch (const ModelError& error) {
    throw ModelError(folder.weights->folder().native(), "",
                     fmt::format("model.head takes the prediction head from the tensors {}weight "
                                 "and {}weight, as folders of {} and of masked language models "
                                 "have them: {}",
                                 dense, norm, spec->class_name, error.what()));
  }
}

std::map<std::string, const TensorView*, std::less<>> StartOf(const ClassificationSpec& spec,
                                                              const std::string& from,
                                                              const std::string& to) {
  std::map<std::string, const TensorView*, std::less<>> start;
  for (const EncoderTensor& tensor : spec.tensors) {
    if (!tensor.name.starts_with(from + ".")) continue;
    start[to + tensor.name.substr(from.size())] = tensor.view;
  }
  return start;
}

Dense DenseOf(const ClassificationSpec& spec, const Settings& config, int64_t hidden_size) {
  Dense dense;
  dense.folder = kHeadDenseFolder;
  dense.start = StartOf(spec, spec.dense.names.front(), "linear");
  dense.in_features = dense.out_features = hidden_size;
  dense.bias = spec.dense.bias;
  dense.activation = ActivationOf(spec, config);
  return dense;
}

LayerNorm NormOf(const ClassificationSpec& spec, const Settings& config, int64_t hidden_size) {
  if (spec.norm_epsilon != kLayerNormEpsilon) {
    throw ModelError(config.file(), "",
                     fmt::format("layer norms have the epsilon {}; model.head needs {}, the only "
                                 "one that a LayerNorm module of sentence-transformers has",
                                 spec.norm_epsilon, kLayerNormEpsilon));
  }
  LayerNorm norm;
  norm.folder = kHeadNormFolder;
  norm.start = StartOf(spec, spec.norm.name, "norm");
  norm.dimension = hidden_size;
  return norm;
}

// Says whether the modules after pooling begin with this head.
bool HasHead(const ModelFolder& folder, const ClassificationSpec& spec, const Settings& config) {
  if (folder.head.size() < 3) return false;
  const auto* dense = std::get_if<Dense>(&folder.head[1]);
  return dense != nullptr && std::holds_alternative<LayerNorm>(folder.head[2]) &&
         dense->in_features == dense->out_features && dense->bias == spec.dense.bias &&
         dense->activation == ActivationOf(spec, config);
}

// Makes the folder pool as the classifiers do.
void PoolAsClassifier(ModelFolder* folder, const ClassificationSpec& spec) {
  if (folder->has_modules) return;
  auto& pooling = std::get<Pooling>(folder->head.front());
  const PoolingMode mode = spec.mean ? PoolingMode::kMean : PoolingMode::kCls;
  if (pooling.modes.front() == mode) return;
  pooling.modes = {mode};
  Note(
      fmt::format("{}: pooling {}, as its classifiers pool before the prediction head "
                  "(classifier_pooling)",
                  folder->path.native(), PoolingModeName(mode)));
}

}  // namespace

void AddPredictionHead(ModelFolder* folder) {
  const ClassificationHead& head = HeadOf(*folder);
  const ModelFiles files = folder->encoder_files();
  const Settings& config = files.Read("config.json");
  ClassificationSpec spec = head.read(config, folder->encoder);
  spec.class_name = head.class_names.front();
  if (HasHead(*folder, spec, config)) {
    Note(fmt::format("{}: has the prediction head as modules already; model.head adds none",
                     folder->path.native()));
    return;
  }
  for (const HeadModule& module : folder->head) {
    const ModuleSource* source = SourceOf(module);
    if (source == nullptr) continue;
    throw UsageError(
        fmt::format("{}: has the module {} after its pooling, where the prediction "
                    "head would stand; leave model.head out, or give a base without "
                    "such modules",
                    folder->path.native(), source->folder));
  }
  BindHead(*folder, &spec);
  const int64_t hidden = folder->encoder.hidden_size;
  Dense dense = DenseOf(spec, config, hidden);
  LayerNorm norm = NormOf(spec, config, hidden);
  PoolAsClassifier(folder, spec);
  const auto behind_pooling = folder->head.insert(folder->head.begin() + 1, std::move(norm));
  folder->head.insert(behind_pooling, std::move(dense));
}

}  // namespace tandem::weights
