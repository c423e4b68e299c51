// The catalogue of encoders. An entry reads config.json into an EncoderSpec; everything else
// (errors, loading, saving, `inspect`, LoRA, documentation, tests) runs over the table.
//
// A new architecture is one file in weights/architectures and one line in CMakeLists.txt.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"
#include "weights/safetensors/weight_files.h"
#include "weights/settings/config_keys.h"

namespace tandem::weights {

struct Architecture {
  std::string_view name;        // in messages and docs, "bert"
  std::string_view summary;     // one line: what is special about it, and models that have it
  std::string_view source;      // paper
  std::string_view tokenizers;  // that its models have, for docs
  std::span<const std::string_view> model_types;  // config.json's "model_type" that it reads
  // Names of tensors in files may begin with one of these: "bert." in files of task models.
  std::span<const std::string_view> prefixes;
  std::span<const ConfigKey> (*keys)();  // all that `read` looks at
  // Throws ModelError for a value that is missing, out of range or not supported.
  EncoderSpec (*read)(const Settings& config);
  // Says whether config.json's "is_causal" decides if a token reads the tokens after it.
  bool decoder = false;
};

// All entries, in the order of the documentation.
std::span<const Architecture* const> Architectures();

// The entry that reads this model_type; null: none does.
const Architecture* FindArchitecture(std::string_view model_type);

// Reads a config.json by the entry of its model_type. Throws ModelError for an architecture that is
// not known (naming the known model types, and the nearest), for quantised weights, and as
// Architecture::read does. Warns where config.json names code of the folder ("auto_map"), which is
// not run.
// `is_causal` replaces config.json's; UsageError where the encoder cannot be so.
EncoderSpec ReadEncoderSpec(const Settings& config, const std::optional<bool>& is_causal = {});
EncoderSpec ReadEncoderSpec(const std::filesystem::path& path,
                            const std::optional<bool>& is_causal = {});

// Fills in the views of the spec's tensors. A tensor may have its canonical name, an alias, each
// with one of the architecture's prefixes, or the older spelling of normalisation weights (gamma,
// beta). Throws ModelError for a tensor that is missing, has another shape or is not F32, F16 or
// BF16, and for weights of more layers than config.json has.
void BindEncoderTensors(const WeightFiles& weights, EncoderSpec* spec);
// The layer, from 0, that a tensor of this name (as files or canonically) belongs to; none: it is
// of no layer.
std::optional<int64_t> LayerOf(std::string_view name, const EncoderSpec& spec);
// Binds other tensors of a model whose encoder has this model_type.
void BindTensors(const WeightFiles& weights, std::string_view model_type,
                 std::vector<EncoderTensor>* tensors);

}  // namespace tandem::weights
