#include "app/catalogues.h"

#include "app/command.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem::app {
namespace {

template <typename Info>
std::vector<config::EntryInfo> Entries(std::span<const Info* const> infos) {
  std::vector<config::EntryInfo> entries;
  for (const Info* info : infos) entries.push_back(*info);
  return entries;
}

std::vector<config::EntryInfo> CommandEntries() {
  std::vector<config::EntryInfo> entries;
  for (const Command* command : Commands()) {
    entries.push_back({.name = command->name, .summary = command->summary});
  }
  return entries;
}

}  // namespace

std::vector<CatalogueView> AllCatalogues() {
  return {
      {"samplers", "which examples come next: sampling.name", Entries(sampling::Samplers())},
      {"objectives", "what is minimised: objective.name", Entries(objective::Objectives())},
      {"optimizers", "how weights follow gradients: optimizer.name", Entries(optim::Optimizers())},
      {"schedules", "how the learning rate moves: schedule.name", Entries(optim::Schedules())},
      {"measures", "what is measured: validation.measure, evaluate --measures",
       Entries(eval::Measures())},
      {"commands", "what tandem does: tandem COMMAND --help", CommandEntries()}};
}

}  // namespace tandem::app
