// Thresholds as a file: what `tandem evaluate --thresholds --format json` prints, and
// `--apply-thresholds` reads.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json/json.h"

namespace tandem::app {

// What scores come from, and which queries they are of: what thresholds were chosen on, or are
// measured on.
struct ThresholdSource {
  std::string data;   // the last part of the path of a data set, or of judgements
  std::string split;  // "": judgements of a file
  size_t queries = 0;
  double relevance_level = 1;
  std::string run;    // the last part of its path; "": of a model
  std::string model;  // the last part of its path; "": of a run
  // Of a model only.
  std::string fingerprint;  // of weights and settings, 16 hexadecimal digits
  std::string similarity;   // "cosine" or "dot"
  std::string precision;
  size_t width = 0;  // E
  std::string query_prompt, document_prompt;
  size_t max_query_tokens = 0, max_document_tokens = 0;

  bool of_model() const { return !model.empty(); }
  std::string name() const;  // "mine, split dev"
};

// The member "chosen_on" or "measured_on".
Json JsonOf(const ThresholdSource& source);

struct SavedThreshold {
  std::string target;  // "precision=0.9"
  double threshold = 0;
};

struct SavedThresholds {
  std::string file;
  std::optional<ThresholdSource>
      chosen_on;                           // none: the file does not say, as those of old versions
  std::vector<SavedThreshold> thresholds;  // one or more
  std::vector<std::string> unmet;          // targets that no threshold met: left out
};

// Throws DataError, which names the file, where it is empty, is no JSON, has no thresholds, or has
// one that is no number; JSON has no NaN.
SavedThresholds ReadThresholds(const std::string& file);

// Compares what the thresholds were chosen with and what they are measured with. Throws UsageError
// where scores are of another model or similarity, for which the thresholds mean nothing. Warns of
// another precision, prompt, length or relevance level, where the data are those that they were
// chosen on, and where nothing says whose scores they are.
void CheckApplicable(const SavedThresholds& saved, const ThresholdSource& measured_on);

}  // namespace tandem::app
