// Says which layers read all tokens and which a window of them.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "weights/settings/config_keys.h"

namespace tandem::weights {

inline constexpr OtherKey kLayerTypes{"layer_types",
                                      "full_attention or sliding_attention, one for each layer"};

// Says for each of `layers` layers whether it slides: what layer_types says, else `slides(index)`.
// Throws ModelError for a list of another length and for a kind that is not supported.
std::vector<bool> ReadSlidingLayers(const Settings& config, int64_t layers,
                                    const std::function<bool(int64_t)>& slides);

}  // namespace tandem::weights
