#include "commands/serve/served_promises.h"

#include <fmt/format.h>

#include <cmath>

#include "base/error.h"
#include "base/log.h"
#include "weights/folders/tandem_file.h"

namespace tandem::app {

ServedPromises::ServedPromises(const std::string& folder, const std::string& keep,
                               model::DualEncoder& model, const Globals& globals,
                               const SearchedCorpus& corpus)
    : guarantees_(weights::ReadGuarantees(weights::ModelFiles(folder))), keep_(keep) {
  if (!keep.empty()) guarantees_ = GuaranteesOf(folder);  // says what to do where there are none
  if (!guarantees_) return;
  try {
    CheckBasis(guarantees_->basis, BasisOfModel(model, globals), folder, corpus);
  } catch (const UsageError& error) {
    if (!keep.empty()) throw;
    Warn(fmt::format("{}; they are left aside", error.what()));
    guarantees_.reset();
    return;
  }
  if (!keep.empty()) keep_ = FindGuarantee(*guarantees_, keep).Name();
  drift_ = std::make_unique<eval::QueryDrift>(guarantees_->best_scores, SeedOf(globals));
}

std::span<const weights::Guarantee> ServedPromises::promises() const {
  if (!guarantees_) return {};
  return guarantees_->promises;
}

std::vector<std::string> ServedPromises::names() const {
  std::vector<std::string> names;
  for (const weights::Guarantee& one : promises()) names.push_back(one.Name());
  return names;
}

const weights::Guarantee* ServedPromises::Of(const serve::SearchOptions& options) const {
  const bool has_threshold = options.min_score || options.min_probability;
  if (!options.keep && has_threshold) return nullptr;
  const std::string& keep = options.keep ? *options.keep : keep_;
  if (keep.empty()) return nullptr;
  if (has_threshold) {
    throw UsageError(
        "`keep` has a threshold of its own; it excludes `min_score` and "
        "`min_probability`");
  }
  if (options.by_document) {
    if (!options.keep) return nullptr;
    throw UsageError(
        "`keep` is promised of the documents that the model was calibrated on, not of "
        "those that passages are of; it excludes `by_document`");
  }
  if (!guarantees_) {
    throw UsageError(
        "`keep` needs a model with guarantees (tandem calibrate --guarantee), which "
        "this one has not");
  }
  return &FindGuarantee(*guarantees_, keep);
}

void ServedPromises::Watch(std::span<const float> best_scores) const {
  if (drift_ == nullptr) return;
  const std::lock_guard lock(mutex_);
  for (const float score : best_scores) {
    if (!std::isnan(score)) drift_->Add(score);
  }
}

std::optional<serve::QueryWatch> ServedPromises::watched() const {
  if (drift_ == nullptr) return std::nullopt;
  const std::lock_guard lock(mutex_);
  return serve::QueryWatch{.queries = drift_->queries(),
                           .martingale = drift_->capital(),
                           .highest = drift_->highest_capital(),
                           .distance = drift_->distance(),
                           .alarm = drift_->alarm()};
}

}  // namespace tandem::app
