// The README.md of a model folder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::weights {

struct MeasureFact {
  std::string name;              // "ndcg@10"
  std::optional<double> before;  // the base model's value; none: it was not measured
  double after = 0;              // this model's
};

// The facts about training in a card; the card has no row for an empty field.
// The run that a model is of was stopped before its end.
struct StoppedRun {
  int64_t step = 0;
  int64_t steps = 0;  // of the whole run; 0: their number is not known

  bool operator==(const StoppedRun&) const = default;
};
// "at step 12 of 39".
std::string StoppedText(const StoppedRun& stopped);

struct ModelCard {
  std::string base_model;  // a name or a path; the card shows only its last part
  std::string objective;   // "mann_whitney"
  int64_t steps = 0;
  std::optional<StoppedRun> stopped;  // where its run was stopped; none: it came to its end
  // Further rows of the training table, in order: {"batch", "64"}, {"learning rate", "2e-05"}.
  std::vector<std::pair<std::string, std::string>> facts;
  // Says which texts this encoder of two encodes, "query" or "document"; empty: both.
  std::string tower;
  std::string measured_on;  // "squad-v1.1, split dev"
  std::vector<MeasureFact> measures;
};

// The facts that the folder itself gives.
struct CardSettings {
  int64_t embedding_width = 0;
  size_t max_query_tokens = 0;
  size_t max_document_tokens = 0;
  std::string similarity;  // "cosine" or "dot"
  std::string pooling;
  std::string license;   // the base model's, as its card says; empty: not known
  bool prompts = false;  // whether texts are encoded after prompts
};

// Markdown with YAML front matter (library_name, tags, pipeline_tag, base_model, license).
std::string ModelCardText(const ModelCard& card, const CardSettings& settings);

}  // namespace tandem::weights
