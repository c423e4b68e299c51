#include "app/catalogues.h"

#include "app/command.h"
#include "config/recipe_fields.h"
#include "eval/measure.h"
#include "objective/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem::app {
namespace {

template <typename Info>
std::vector<config::EntryInfo> Entries(std::span<const Info* const> infos) {
  std::vector<config::EntryInfo> entries;
  for (const Info* info : infos) entries.push_back(*info);
  return entries;
}

// Optimizers and schedules live in the half that needs libtorch; recipes know their names.
std::vector<config::EntryInfo> Entries(std::span<const config::ChoiceInfo> choices) {
  std::vector<config::EntryInfo> entries;
  for (const config::ChoiceInfo& choice : choices) {
    entries.push_back({.name = choice.name, .summary = choice.doc});
  }
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
  return {{"samplers", "which examples come next: sampling.name", Entries(sampling::Samplers())},
          {"objectives", "what is minimised: objective.name", Entries(objective::Objectives())},
          {"optimizers", "how weights follow gradients: optimizer.name",
           Entries(std::span(config::kOptimizers))},
          {"schedules", "how the learning rate moves: schedule.name",
           Entries(std::span(config::kSchedules))},
          {"measures", "what is measured: validation.measure, evaluate --measures",
           Entries(eval::Measures())},
          {"commands", "what tandem does: tandem COMMAND --help", CommandEntries()}};
}

}  // namespace tandem::app
