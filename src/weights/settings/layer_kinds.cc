#include "weights/settings/layer_kinds.h"

#include <fmt/format.h>

#include "weights/settings/settings_file.h"

namespace tandem::weights {

std::vector<bool> ReadSlidingLayers(const Settings& config, int64_t layers,
                                    const std::function<bool(int64_t)>& slides) {
  std::vector<bool> sliding;
  const Json* types = config.Find(kLayerTypes.name);
  if (types == nullptr) {
    for (int64_t i = 0; i < layers; ++i) sliding.push_back(slides(i));
    return sliding;
  }
  if (!types->is_array() || types->size() != static_cast<size_t>(layers)) {
    config.Fail(kLayerTypes.name, fmt::format("a list of {} names, one for each layer,", layers));
  }
  for (const Json& type : *types) {
    if (type != "full_attention" && type != "sliding_attention") {
      config.Fail(
          kLayerTypes.name,
          "names that are \"full_attention\" or \"sliding_attention\" (the supported ones)");
    }
    sliding.push_back(type == "sliding_attention");
  }
  return sliding;
}

}  // namespace tandem::weights
