// Which examples come next.
//
// A sampler proposes batches without end; the training loop decides when to stop. It sees numbers
// only, and hears back what became of its batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "config/params.h"
#include "sampling/batch.h"
#include "sampling/examples.h"

namespace tandem::sampling {

struct SamplerOptions {
  uint64_t seed = 1;
  size_t batch = 64;           // queries
  size_t negatives = 0;        // judged negatives of each query, or with `graded_own` any labelled
  bool no_duplicates = true;   // no query text and no document text twice in a batch
  bool graded_own = false;     // own documents may have any grade; else they are positives
  config::Params params = {};  // values of SamplerInfo::params, those of the sampler's own keys
};

// What a training step computed for a batch.
struct Feedback {
  const Batch* batch = nullptr;
  std::span<const float> cosines;  // [Q] of each query and its own document
  std::span<const float> losses;   // [Q], each query's share; empty where the objective has none
};

class Sampler {
 public:
  virtual ~Sampler() = default;

  // The next batch: at least one row, at most `batch` of them.
  virtual Batch Next() = 0;
  // How many batches the first `epochs` passes have, counted from the start of training; a part of
  // a pass counts rounded up.
  virtual uint64_t BatchesIn(double epochs) const = 0;
  // The loop calls it after each batch. A sampler that does not learn from batches ignores it.
  virtual void AddFeedback(const Feedback& feedback) { static_cast<void>(feedback); }

  // Everything that Next depends on besides examples and options. A sampler that restores another
  // one's state continues exactly as that one would have.
  virtual nlohmann::json State() const = 0;
  // Throws nlohmann::json::exception for a state that is not this sampler's, and ModelError for a
  // state of an earlier version whose batches this version would compose otherwise.
  virtual void Restore(const nlohmann::json& state) = 0;
};

}  // namespace tandem::sampling
