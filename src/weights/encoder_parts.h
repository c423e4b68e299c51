// The parts of an encoder as recipes name them, and its linear maps: what may be frozen, and what
// low-rank adapters may be put on.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"

namespace tandem::weights {

// A part and the canonical names of its tensors.
struct EncoderPart {
  std::string name;  // "embeddings", "layers.0", ..., "relative_bias", "final_norm"
  std::vector<std::string> tensors;
};

// Lists the parts in the order of the computation; those that this encoder lacks are left out.
std::vector<EncoderPart> PartsOf(const EncoderSpec& spec);

// Says whether `pattern` names the part: its name, or "layers.A-B" for layers A to B.
bool NamesPart(std::string_view pattern, std::string_view part);
// The first layer that "layers.A-B" names and `parts` lack, as "layers.7"; "" where there is none,
// or the pattern is another one.
std::string MissingLayer(std::string_view pattern, const std::vector<EncoderPart>& parts);
// "embeddings, layers.0 to layers.5": for messages.
std::string PartsText(const std::vector<std::string>& parts);

// Canonical names of the encoder's linear maps, without ".weight": one for each part of a stacked
// map.
std::vector<std::string> LinearNames(const EncoderSpec& spec);

// Names the linear maps that `targets` are about, as PEFT reads target_modules: "all-linear" alone,
// or names, each of which is a map's whole name or its last components ("q_proj",
// "output.dense"). Maps of the parts in `frozen` are left out. Throws UsageError for a target that
// names no map, with the names that there are.
std::set<std::string> AdapterTargets(const EncoderSpec& spec, std::span<const std::string> targets,
                                     const std::set<std::string>& frozen_tensors);

// Names of linear weights and word tables: tensors that computing takes in the type in which they
// are stored, where they are frozen.
std::set<std::string> LargeTensors(const EncoderSpec& spec);

}  // namespace tandem::weights
