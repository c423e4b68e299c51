#include "objective/catalogue.h"

#include <array>

#include "base/error.h"

namespace tandem::objective {

namespace {

// In the order of docs and `tandem list objectives`.
constexpr std::array kObjectives = {
    &kInfoNce,     &kSamToNe,   &kPair,           &kMannWhitney, &kBixse,
    &kSoftInfoNce, &kMarginMse, &kKlDistillation, &kPairwiseBce, &kLambdaLoss,
};

}  // namespace

std::span<const ObjectiveInfo* const> Objectives() { return kObjectives; }

std::span<const config::EntryInfo* const> ObjectiveEntries() {
  static const auto entries = [] {
    std::array<const config::EntryInfo*, kObjectives.size()> all{};
    for (size_t i = 0; i < all.size(); ++i) all[i] = kObjectives[i];
    return all;
  }();
  return entries;
}

const ObjectiveInfo& FindObjective(std::string_view name) {
  if (const ObjectiveInfo* info = config::FindEntry(Objectives(), name)) return *info;
  throw UsageError("objective " + config::UnknownName(name, config::EntryNames(Objectives())));
}

}  // namespace tandem::objective
