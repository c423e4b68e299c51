#include "objective/catalogue.h"

#include "base/error.h"

namespace tandem::objective {

config::Catalogue ObjectiveCatalogue() {
  return {.name = "objectives",
          .entry = "objective",
          .table = "objective",
          .summary = "what is minimised: objective.name",
          .entries = config::EntriesOf(Objectives())};
}

const ObjectiveInfo& FindObjective(std::string_view name) {
  if (const ObjectiveInfo* info = config::FindEntry(Objectives(), name)) return *info;
  throw UsageError("objective " + config::UnknownName(name, config::EntryNames(Objectives())));
}

}  // namespace tandem::objective
