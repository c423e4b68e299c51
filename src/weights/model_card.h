// The README.md of a model folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "weights/tandem_file.h"

namespace tandem::weights {

struct MeasureFact {
  std::string name;              // "ndcg@10"
  std::optional<double> before;  // of the base model; left out where not measured
  double after = 0;
};

// What a card tells; empty fields are left out.
struct ModelCard {
  std::string base_model;  // a name or a path, of which only the last part is written
  std::string objective;   // "mann_whitney"
  int64_t steps = 0;
  // Further rows of the training table, in order: {"batch", "64"}, {"learning rate", "2e-05"}.
  std::vector<std::pair<std::string, std::string>> facts;
  // Of a model with two encoders: which texts this one encodes, "query" or "document".
  std::string tower;
  std::string measured_on;  // "squad-v1.1, split dev"
  std::vector<MeasureFact> measures;
  std::optional<Calibration> calibration;  // written beside the card, in tandem.json
};

// What the folder itself says.
struct CardSettings {
  int64_t embedding_width = 0;
  int64_t max_tokens = 0;
  std::string similarity;  // "cosine" or "dot"
  std::string pooling;
  std::string license;   // of the base model, as its card says; empty: not known
  bool prompts = false;  // whether texts get prompts
};

// Markdown with YAML front matter (library_name, tags, pipeline_tag, base_model, license).
std::string ModelCardText(const ModelCard& card, const CardSettings& settings);

}  // namespace tandem::weights
