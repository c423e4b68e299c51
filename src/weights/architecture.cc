#include "weights/architecture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"
#include "weights/settings_file.h"

namespace tandem::weights {
namespace {

std::vector<std::string_view> KnownModelTypes() {
  std::vector<std::string_view> types;
  for (const Architecture* architecture : Architectures()) {
    types.insert(types.end(), architecture->model_types.begin(), architecture->model_types.end());
  }
  return types;
}

const TensorView* FindSpelled(const WeightFiles& weights, const Architecture& architecture,
                              const std::string& name) {
  if (const TensorView* view = weights.Find(name)) return view;
  for (const std::string_view prefix : architecture.prefixes) {
    if (const TensorView* view = weights.Find(fmt::format("{}{}", prefix, name))) return view;
  }
  return nullptr;
}

// `name`, or it with the older spelling of a LayerNorm's weights.
const TensorView* FindNamed(const WeightFiles& weights, const Architecture& architecture,
                            const std::string& name) {
  if (const TensorView* view = FindSpelled(weights, architecture, name)) return view;
  for (const auto& [ending, older] : {std::pair("LayerNorm.weight", "LayerNorm.gamma"),
                                      std::pair("LayerNorm.bias", "LayerNorm.beta")}) {
    if (!name.ends_with(ending)) continue;
    const size_t stem = name.size() - std::string_view(ending).size();
    return FindSpelled(weights, architecture, name.substr(0, stem) + older);
  }
  return nullptr;
}

const TensorView* FindTensor(const WeightFiles& weights, const Architecture& architecture,
                             const EncoderTensor& tensor) {
  if (const TensorView* view = FindNamed(weights, architecture, tensor.name)) return view;
  for (const std::string& alias : tensor.aliases) {
    if (const TensorView* view = FindNamed(weights, architecture, alias)) return view;
  }
  return nullptr;
}

}  // namespace

const Architecture* FindArchitecture(std::string_view model_type) {
  for (const Architecture* architecture : Architectures()) {
    const auto& types = architecture->model_types;
    if (std::find(types.begin(), types.end(), model_type) != types.end()) return architecture;
  }
  return nullptr;
}

EncoderSpec ReadEncoderSpec(const std::filesystem::path& path) {
  const Settings config = Settings::Read(path);
  const std::string type = config.RequiredString("model_type");
  const Architecture* architecture = FindArchitecture(type);
  if (architecture == nullptr) {
    const std::vector<std::string_view> known = KnownModelTypes();
    throw ModelError(config.file(), "",
                     fmt::format("the architecture '{}' is not supported; supported: {}{}", type,
                                 fmt::join(known, ", "), DidYouMean(type, known)));
  }
  EncoderSpec spec = architecture->read(config);
  spec.architecture = architecture->name;
  spec.model_type = type;
  return spec;
}

void BindEncoderTensors(const WeightFiles& weights, EncoderSpec* spec) {
  const Architecture& architecture = *FindArchitecture(spec->model_type);
  for (EncoderTensor& tensor : spec->tensors) {
    tensor.view = FindTensor(weights, architecture, tensor);
    if (tensor.view == nullptr) {
      throw ModelError(
          weights.folder().native(), tensor.name,
          fmt::format("the weights lack it; config.json asks for {}", ShapeText(tensor.shape)));
    }
    const std::string& file = weights.FileOf(tensor.view->name).native();
    if (tensor.view->shape != tensor.shape) {
      throw ModelError(file, tensor.view->name,
                       fmt::format("has shape {}; {} expected from config.json",
                                   ShapeText(tensor.view->shape), ShapeText(tensor.shape)));
    }
    if (!IsComputable(tensor.view->dtype)) {
      throw ModelError(
          file, tensor.view->name,
          fmt::format("has type {}; F32, F16 or BF16 expected", DtypeName(tensor.view->dtype)));
    }
  }
}

}  // namespace tandem::weights
