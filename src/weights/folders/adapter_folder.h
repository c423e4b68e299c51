// Low-rank adapters as PEFT writes them: a folder with adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "weights/encoder_spec.h"
#include "weights/folders/adapter_config.h"
#include "weights/safetensors/safetensors.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::weights {

inline constexpr const char* kAdapterWeights = "adapter_model.safetensors";
// The ends of the names of A and of B.
inline constexpr std::string_view kLoraDown = ".lora_A.weight", kLoraUp = ".lora_B.weight";

// A [rank, K] and B [N, rank] of one linear map.
struct AdapterPair {
  const TensorView* down = nullptr;
  const TensorView* up = nullptr;
};

struct AdapterFolder {
  std::filesystem::path path;
  AdapterSettings settings;
  std::map<std::string, AdapterPair> pairs;  // by the linear map's canonical name
  std::shared_ptr<const SafetensorsFile> weights;
};

// Reads an adapter for this encoder. `prefixes` are those of its architecture. Adapters of modules
// that the encoder does not compute (BERT's pooler, heads of tasks), and copies of their weights
// and of the base's word table that PEFT saved beside them, are left out, with a Note. Throws
// ModelError as ReadAdapterConfig; where files are missing or broken; for numbers that are not
// finite, for shapes that contradict the rank and for two adapters of one map; and for an adapter
// of another base: a map that this one lacks, or other shapes.
AdapterFolder ReadAdapterFolder(const std::filesystem::path& path, const EncoderSpec& spec,
                                std::span<const std::string_view> prefixes);

// Warns where the adapter says that its base has another name than this folder: names are paths or
// a hub's, which may differ for the same model; shapes decide.
void WarnOfOtherBase(const AdapterFolder& adapter, const std::filesystem::path& base);

// Throws ModelError where the adapter's weights are missing; says what to do where they are there
// as adapter_model.bin.
void CheckAdapterFiles(const std::filesystem::path& path);

// The names under which an adapter's A and B of a linear map are stored.
std::string DownName(const std::string& linear);  // "base_model.model.LINEAR.lora_A.weight"
std::string UpName(const std::string& linear);

// The shortest last components that name these maps and no other map of the folder: what PEFT's
// target_modules must hold. `others` are names of further modules that have weights.
std::vector<std::string> TargetModules(const EncoderSpec& spec,
                                       const std::vector<std::string>& linears,
                                       const std::vector<std::string>& others);

// Writes the folder complete or not at all; replaces an adapter folder that is there. `tensors`
// have the names above. `write_more`, where given, writes further files into the folder it gets,
// before the whole appears. Throws OutputError, UsageError where something else is in the way.
void WriteAdapterFolder(
    const std::filesystem::path& path, const AdapterSettings& settings,
    std::span<const TensorToWrite> tensors,
    const std::function<void(const std::filesystem::path& folder)>& write_more = {});

// W + scale B A as little-endian float32 bytes, row-major, for W [N, K] as it is stored. Sums are
// double, and rounded once.
struct MergedWeight {
  TensorView weight;
  const float* down;  // [rank, K]
  const float* up;    // [N, rank]
  int64_t rank;
  double scale;

  std::string Bytes() const;
};

}  // namespace tandem::weights
