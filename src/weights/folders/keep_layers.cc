#include "weights/folders/keep_layers.h"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>

#include "base/error.h"
#include "weights/architecture.h"
#include "weights/settings/layer_kinds.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

Json FirstOf(const Json& list, int64_t count) {
  Json first = Json::array();
  for (const Json& item : list) {
    if (std::cmp_less(first.size(), count)) first.push_back(item);
  }
  return first;
}

// The encoder as its config.json says it, with another number of layers.
EncoderSpec SpecOf(const ModelFolder& folder, int64_t layers) {
  Settings config = folder.encoder_files().Read("config.json");
  config.Set(folder.encoder.layers_key, layers);
  if (const Json* kinds = config.Find(kLayerTypes.name)) {
    if (kinds->is_array()) config.Set(kLayerTypes.name, FirstOf(*kinds, layers));
  }
  return ReadEncoderSpec(config, folder.is_causal);
}

}  // namespace

void SetLayers(const std::string& key, int64_t layers, Json* config) {
  (*config)[key] = layers;
  const std::string kinds(kLayerTypes.name);
  if (config->contains(kinds) && (*config)[kinds].is_array()) {
    (*config)[kinds] = FirstOf((*config)[kinds], layers);
  }
}

void KeepLayers(ModelFolder* folder, int64_t layers) {
  const auto all = static_cast<int64_t>(folder->encoder.layers.size());
  if (layers < 1 || layers > all) {
    throw UsageError(fmt::format("is {}, but {} has {} layers; give a number from 1 to {}", layers,
                                 folder->path.native(), all, all));
  }
  if (layers == all) return;
  std::map<std::string, const TensorView*> views;
  for (const EncoderTensor& tensor : folder->encoder.tensors) views[tensor.name] = tensor.view;
  EncoderSpec spec = SpecOf(*folder, layers);
  for (EncoderTensor& tensor : spec.tensors) tensor.view = views.at(tensor.name);
  folder->encoder = std::move(spec);
  folder->kept_layers = layers;
  const auto is_dropped = [folder, layers](const TensorView* view) {
    const std::optional<int64_t> layer = LayerOf(view->name, folder->encoder);
    return layer && *layer >= layers;
  };
  for (const TensorView* view : folder->weights->tensors()) {
    if (is_dropped(view)) folder->dropped_tensors.insert(view);
  }
  std::erase_if(folder->carried_tensors, is_dropped);
}

}  // namespace tandem::weights
