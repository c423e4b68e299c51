// Low-rank adapters as PEFT writes them: a folder with adapter_config.json and
// adapter_model.safetensors.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "weights/encoder_spec.h"
#include "weights/safetensors.h"
#include "weights/safetensors_writer.h"

namespace tandem::weights {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterWeights = "adapter_model.safetensors";

struct AdapterSettings {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  bool rank_stabilized = false;  // use_rslora (Kalajdzievski 2023)
  std::string base;              // base_model_name_or_path; "": not said
  std::vector<std::string> targets;

  // What B A is multiplied by: alpha / rank, or alpha / sqrt(rank).
  double scale() const;
};

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

// Reads an adapter for this encoder. `prefixes` are those of its architecture. Adapters of maps
// that the encoder does not compute (BERT's pooler) are left out, with a Note. Throws ModelError
// where files are missing or broken, for what Tandem does not compute (other kinds of adapters,
// DoRA, alpha_pattern, rank_pattern, modules_to_save, biases, ...), and for an adapter of another
// base: a map that this one lacks, or other shapes.
AdapterFolder ReadAdapterFolder(const std::filesystem::path& path, const EncoderSpec& spec,
                                std::span<const std::string_view> prefixes);

// Warns where the adapter says that its base has another name than this folder: names are paths or
// a hub's, which may differ for the same model; shapes decide.
void WarnOfOtherBase(const AdapterFolder& adapter, const std::filesystem::path& base);

// The names under which an adapter's A and B of a linear map are stored.
std::string DownName(const std::string& linear);  // "base_model.model.LINEAR.lora_A.weight"
std::string UpName(const std::string& linear);

// The shortest last components that name these maps and no other map of the folder: what PEFT's
// target_modules must hold. `others` are names of further modules that have weights.
std::vector<std::string> TargetModules(const EncoderSpec& spec,
                                       const std::vector<std::string>& linears,
                                       const std::vector<std::string>& others);

// Writes the folder complete or not at all; replaces an adapter folder that is there. `tensors`
// have the names above. Throws OutputError, UsageError where something else is in the way.
void WriteAdapterFolder(const std::filesystem::path& path, const AdapterSettings& settings,
                        std::span<const TensorToWrite> tensors);

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
