// Reads rotary positions from config.json, as transformers writes them before release 5
// ("rope_theta", "rope_scaling") and from then on ("rope_parameters").
#pragma once

#include <cstdint>
#include <string_view>

#include "weights/encoder_spec.h"
#include "weights/settings/config_keys.h"

namespace tandem::weights {

inline constexpr OtherKey kRopeParameters{
    "rope_parameters", "base and scaling of rotary positions, as transformers 5 writes them"};
inline constexpr OtherKey kRopeScaling{"rope_scaling",
                                       "their scaling in older files: default, linear or llama3"};

// The place in config.json that has the rotary positions of one kind of layer.
struct RotarySource {
  // The object of that name in rope_parameters; empty: rope_parameters is of all layers.
  std::string_view kind;
  std::string_view base_key;  // of the base in older files
  double base = 10'000;       // where no key says it
  bool scaled = true;         // whether the older rope_scaling is of this kind too
};

// Throws ModelError for a scaling that is not supported (naming those that are) or lacks a number.
// `head_width` must be even.
RotarySpec ReadRotary(const Settings& config, const RotarySource& source, int64_t head_width);

}  // namespace tandem::weights
