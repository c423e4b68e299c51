// Reads adapter_config.json of a PEFT folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace tandem::weights {

inline constexpr const char* kAdapterConfig = "adapter_config.json";

struct AdapterSettings {
  int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;
  bool rank_stabilized = false;  // use_rslora (Kalajdzievski 2023)
  std::string base;              // base_model_name_or_path; "": not said
  std::vector<std::string> targets;

  // Returns the factor of B A: alpha / rank, or alpha / sqrt(rank).
  double scale() const;
};

// Reads `folder`/adapter_config.json. Throws ModelError where it is missing or broken, and for what
// changes the result and is not computed here: other kinds of adapters; DoRA, aLoRA, KaSA and other
// variants; alpha_pattern, rank_pattern, modules_to_save, biases; starts by which PEFT changes the
// base when it loads the adapter (init_lora_weights "pissa", "olora", "corda", "loftq", "lora_ga");
// and any key that is set and not known. Known are the keys of PEFT 0.21.
AdapterSettings ReadAdapterConfig(const std::filesystem::path& folder);

}  // namespace tandem::weights
