// The promises that a server keeps, and its watch over the queries that they are kept for.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/globals.h"
#include "commands/guarantees/guarantee_basis.h"
#include "eval/guarantees/query_drift.h"
#include "model/dual_encoder.h"
#include "serve/backend.h"
#include "weights/settings/guarantee.h"

namespace tandem::app {

class ServedPromises {
 public:
  // Reads the guarantees of the model's folder; a folder without any promises nothing. Those of
  // another model are left aside, with a warning, unless `keep`, the promise of requests that name
  // none, needs them. `corpus` is the index's. Throws UsageError for a `keep` that is
  // not promised, and what CheckBasis throws.
  ServedPromises(const std::string& folder, const std::string& keep, model::DualEncoder& model,
                 const Globals& globals, const SearchedCorpus& corpus);

  // The names of the promises, and of the one that is kept by default ("": none).
  std::vector<std::string> names() const;
  const std::string& by_default() const { return keep_; }

  // What is promised; empty where nothing is.
  std::span<const weights::Guarantee> promises() const;

  // The promise that a search keeps; null: none. Throws UsageError for one that is not promised, or
  // that goes with another threshold.
  const weights::Guarantee* Of(const serve::SearchOptions& options) const;

  // Compares the best scores of queries with those of the calibration; NaN: of a query that found
  // nothing. Any thread.
  void Watch(std::span<const float> best_scores) const;
  std::optional<serve::QueryWatch> watched() const;

 private:
  std::optional<weights::Guarantees> guarantees_;
  std::string keep_;
  mutable std::mutex mutex_;
  std::unique_ptr<eval::QueryDrift> drift_;  // null where there are no guarantees
};

}  // namespace tandem::app
