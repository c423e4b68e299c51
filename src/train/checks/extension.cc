#include "train/checks/extension.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/json/json.h"
#include "base/log.h"
#include "config/quantity.h"
#include "config/recipe/recipe_text.h"
#include "config/recipe/recorded_recipes.h"
#include "sampling/catalogue.h"
#include "train/run/checkpoint.h"

namespace tandem::train {
namespace {

constexpr const char* kLengths[] = {"train.steps", "train.epochs"};

bool IsLength(const std::string& key) {
  return std::find(std::begin(kLengths), std::end(kLengths), key) != std::end(kLengths);
}

// The key by which the recipe gives the run's length; messages name it.
const char* LengthKey(const config::Recipe& recipe) {
  return recipe.train.steps ? "train.steps" : "train.epochs";
}

// The recipe that the run folder records, and the plan of that recipe.
struct Record {
  config::Recipe recipe;
  RunPlan plan;
};

// Keeps the numbers of steps that the recipe gives as shares of the run ("10%"). If the run becomes
// longer now, a share is replaced by its number of steps in the recorded run. If the run became
// longer earlier, its record has that number already. If the user has changed a share, the new one
// is used as it is.
void KeepShares(config::Recipe& recipe, const Record& record, bool extended) {
  const config::Recipe& before = record.recipe;
  const auto keep = [extended](config::Quantity& given, const config::Quantity& recorded,
                               int64_t steps, std::string_view key) {
    if (!given.share || given.IsZero()) return;
    if (!recorded.share) {
      given = recorded;
      Note(fmt::format("{} stays {}, as the run folder's recipe.resolved.toml has it", key,
                       config::FormatQuantity(recorded, "steps")));
    } else if (extended && given == recorded) {
      given = config::Quantity::Count(steps);
    }
  };
  keep(recipe.schedule.warmup, before.schedule.warmup, record.plan.warmup, "schedule.warmup");
  keep(recipe.train.checkpoint_every, before.train.checkpoint_every, record.plan.checkpoint_every,
       "train.checkpoint_every");
  if (recipe.validation.enabled()) {
    keep(recipe.validation.every, before.validation.every, record.plan.validate_every,
         "validation.every");
  }
  if (recipe.mining.enabled() && before.mining.enabled()) {
    keep(*recipe.mining.every, *before.mining.every, record.plan.mining.every, "mining.every");
  }
}

// The first step before `steps` that gets another learning rate in a run of the other length; none
// if all of them keep their rates.
std::optional<int64_t> FirstOtherRate(const optim::Schedule& schedule, const RunPlan& before,
                                      int64_t longer) {
  constexpr int64_t kLooks = 1000;  // spread over the steps; a schedule is smooth
  const int64_t stride = std::max<int64_t>(1, before.steps / kLooks);
  for (int64_t step = 0; step < before.steps; step += stride) {
    const auto factor = [&](int64_t total) {
      return optim::ScheduleFactor(schedule,
                                   {static_cast<double>(step), static_cast<double>(before.warmup),
                                    static_cast<double>(total)});
    };
    if (factor(before.steps) != factor(longer)) return step;
  }
  return std::nullopt;
}

// Why a run cannot become longer.
enum class Hindrance { kNone, kTokens, kSampler, kSchedule, kPatience };

// `before` is the plan of the run as it is, `longer` the number of steps that it is to have.
Hindrance WhatHinders(const Trainer& trainer, const RunPlan& before, const RunPlan& plan,
                      int64_t longer, const RunFolder& folder) {
  const config::Recipe& recipe = trainer.recipe();
  const sampling::SamplerInfo& sampler =
      *config::FindEntry(sampling::Samplers(), recipe.sampling.name);
  if (plan.by_progress && recipe.train.batch_tokens) return Hindrance::kTokens;
  if (plan.by_progress || sampler.FollowsLength(recipe.sampling.params)) return Hindrance::kSampler;
  if (FirstOtherRate(trainer.schedule, before, longer)) return Hindrance::kSchedule;
  const auto latest = folder.LatestCheckpoint();
  const bool early = latest && ReadFacts(folder.Checkpoint(*latest)).stopped_early;
  return early ? Hindrance::kPatience : Hindrance::kNone;
}

std::string HindranceText(Hindrance hindrance, const Trainer& trainer, const RunPlan& plan,
                          const RunFolder& folder, const Record& record) {
  const config::Recipe& recipe = trainer.recipe();
  switch (hindrance) {
    case Hindrance::kNone:
      break;
    case Hindrance::kTokens:
      return fmt::format(
          "makes the run longer, but with train.batch_tokens the number of its steps "
          "is not known ahead, so that what is due in it follows the share that is "
          "done. Only a run with train.steps can be made longer; start a new one from "
          "this one's model (model.base = \"{}\")",
          folder.model().native());
    case Hindrance::kSampler:
      return fmt::format(
          "makes the run longer, but its sampler {} spreads what it does over the "
          "whole run: a longer one would have had other batches from its start. "
          "Start a new run from this one's model (model.base = \"{}\")",
          recipe.sampling.name, folder.model().native());
    case Hindrance::kSchedule:
      return fmt::format(
          "makes a run of {0} steps of the {1} that it was started with, but its "
          "schedule {2} spreads the learning rate over the whole run: step {3} and "
          "those after it would have had other rates. Only a run with "
          "schedule.name = \"constant\" can be made longer; start a new one from "
          "this one's model (model.base = \"{4}\")",
          plan.steps, record.plan.steps, recipe.schedule.name,
          *FirstOtherRate(trainer.schedule, record.plan, plan.steps) + 1, folder.model().native());
    case Hindrance::kPatience:
      return fmt::format(
          "makes the run longer, but it stopped at step {} because {} validations "
          "brought no improvement (validation.patience); a longer one would have "
          "stopped there too. Start a new run from its model (model.base = \"{}\")",
          *folder.LatestCheckpoint(), recipe.validation.patience, folder.model().native());
  }
  return "";
}

void CheckCanBeLonger(const Trainer& trainer, const RunPlan& plan, const RunFolder& folder,
                      const Record& record) {
  const Hindrance hindrance = WhatHinders(trainer, record.plan, plan, plan.steps, folder);
  if (hindrance == Hindrance::kNone) return;
  const config::LoadedRecipe& loaded = trainer.inputs.run.loaded;
  throw loaded.ErrorAt(LengthKey(loaded.recipe),
                       HindranceText(hindrance, trainer, plan, folder, record));
}

// Whether a run of the new length would have written the same bytes up to `step`, so that the
// checkpoint there has nothing that happened only because the recorded run ended.
bool HoldsNothingOfTheEnd(int64_t step, const RunPlan& before, const config::Recipe& recipe,
                          const RunPlan& plan) {
  // A validation near the end that the longer run has; from its own step a run makes up for it.
  const std::optional<int64_t> left_out = before.LeftOutValidation();
  if (left_out && step > *left_out && plan.ValidationDue(*left_out)) return false;
  if (step < before.steps) return true;
  const int64_t accumulate = recipe.train.accumulate;
  if (before.batches && *before.batches % accumulate != 0) return false;  // its last step is short
  const bool validation_due = before.validate_every == 0 || plan.ValidationDue(step);
  return validation_due && step % recipe.logging.every == 0;
}

// Whether the folder holds the best weights that a checkpoint refers to. Weights of step 0, the
// base model, may be missing in a folder of an earlier version, which did not validate the base
// model.
bool HasItsBest(const RunFolder& folder, int64_t checkpoint) {
  const CheckpointFacts facts = ReadFacts(folder.Checkpoint(checkpoint));
  const bool measured = facts.best_step > 0 || facts.base_value;
  return !measured || std::filesystem::exists(folder.Best(facts.best_step));
}

// Returns the last checkpoint from which a run of `plan` can go on and end in the bytes of a run
// that was that long from its start; none if there is none.
std::optional<int64_t> ExactStart(const config::Recipe& recipe, const RunPlan& plan,
                                  const RunFolder& folder, const RunPlan& before) {
  std::vector<int64_t> steps = folder.Checkpoints();
  std::reverse(steps.begin(), steps.end());
  for (const int64_t step : steps) {
    if (!HasTensors(folder.Checkpoint(step))) continue;
    if (HoldsNothingOfTheEnd(step, before, recipe, plan) && HasItsBest(folder, step)) return step;
  }
  return std::nullopt;
}

// The last checkpoint that a run can resume from.
std::optional<int64_t> LastWithTensors(const RunFolder& folder) {
  std::optional<int64_t> last;
  for (const int64_t step : folder.Checkpoints()) {
    if (HasTensors(folder.Checkpoint(step))) last = step;
  }
  return last;
}

std::optional<int64_t> CheckpointToExtend(const config::Recipe& recipe, const RunPlan& plan,
                                          const RunFolder& folder, const RunPlan& before) {
  if (const auto exact = ExactStart(recipe, plan, folder, before)) return exact;
  const std::optional<int64_t> last = LastWithTensors(folder);
  if (!last) {
    if (folder.Checkpoints().empty()) return std::nullopt;
    throw ModelError(folder.path().native(), "",
                     "has no checkpoint from which the run can become longer; start a new run");
  }
  Warn(fmt::format(
      "the run goes on from its end, step {}, where it has a line of metrics.jsonl, a validation "
      "or a step of fewer batches that a run of {} steps would not have there; the checkpoint "
      "before it, or its best weights, are gone (train.keep_checkpoints)",
      *last, plan.steps));
  return last;
}

// " (it was 0.02 then and is 0.05 now)"; "" if one of the two recipes has no value there.
std::string BothValues(const config::Recipe& before, const config::Recipe& after,
                       std::string_view path, config::RecipeCatalogues catalogues) {
  const auto value_in = [&](const config::Recipe& recipe) {
    for (const config::RecipeKey& key : config::RecipeKeys(recipe, catalogues)) {
      if (key.path() == path) return config::FormatValue(key.value);
    }
    return std::string();
  };
  const std::string then = value_in(before);
  const std::string now = value_in(after);
  return then.empty() || now.empty() ? ""
                                     : fmt::format(" (it was {} then and is {} now)", then, now);
}

// If the number of steps is only an estimate, the runs' epochs are compared instead.
bool IsLonger(const RunPlan& plan, const config::Recipe& recipe, const Record& record) {
  if (!plan.by_progress || !record.plan.by_progress) return plan.steps > record.plan.steps;
  return recipe.train.epochs > record.recipe.train.epochs;
}

// Whether several processes made the last checkpoint.
bool WasMadeByGroup(const RunFolder& folder) {
  const std::optional<int64_t> latest = folder.LatestCheckpoint();
  return latest && ReadFacts(folder.Checkpoint(*latest)).ranks > 1;
}

// `changed` lists the keys in which the recipe differs from the record.
void CheckUnchanged(const std::vector<std::string>& changed, const config::LoadedRecipe& loaded,
                    const Record& record, const RunFolder& folder) {
  if (changed.empty()) return;
  throw loaded.ErrorAt(
      changed.front(),
      fmt::format("differs from what the run in {} was started with{} (all that differ: {}); a "
                  "resumed run may change only paths, logging, how often it validates and saves, "
                  "and become longer where its schedule allows it",
                  folder.path().native(),
                  BothValues(record.recipe, loaded.recipe, changed.front(), loaded.catalogues),
                  fmt::join(changed, ", ")));
}

}  // namespace

Continuation CompareWithRecord(const Trainer& trainer, const RunFolder& folder,
                               const std::optional<std::string>& text) {
  const bool leads = dist::Leads(trainer.group());
  Continuation run{.loaded = trainer.inputs.run.loaded,
                   .plan = MakePlan(trainer.recipe(), *trainer.sampler)};
  if (!text) {
    if (leads) run.checkpoint = folder.LatestCheckpoint();
    return run;
  }
  config::Recipe& recipe = run.loaded.recipe;
  Record record{config::ReadResolvedRecipe(*text, folder.recipe().native(), run.loaded.catalogues),
                {}};
  record.plan = MakePlan(record.recipe, *trainer.sampler);
  run.extended = IsLonger(run.plan, recipe, record);
  const bool same_warmup = recipe.schedule.warmup == record.recipe.schedule.warmup;
  const bool same_mining = recipe.mining.every == record.recipe.mining.every;
  KeepShares(recipe, record, run.extended);
  run.plan = MakePlan(recipe, *trainer.sampler);
  std::vector<std::string> changed =
      config::ChangedKeys(record.recipe, recipe, run.loaded.catalogues);
  if (run.extended) {
    std::erase_if(changed, [same_warmup, same_mining](const std::string& key) {
      return IsLength(key) || (same_warmup && key == "schedule.warmup") ||
             (same_mining && key == "mining.every");
    });
  }
  if (trainer.group() != nullptr || WasMadeByGroup(folder)) std::erase(changed, "threads");
  CheckUnchanged(changed, run.loaded, record, folder);
  if (!leads) return run;
  if (run.extended) {
    CheckCanBeLonger(trainer, run.plan, folder, record);
    run.checkpoint = CheckpointToExtend(recipe, run.plan, folder, record.plan);
  } else {
    run.checkpoint = folder.LatestCheckpoint();
  }
  return run;
}

std::optional<int64_t> StartOfLongerRun(const Trainer& trainer, const RunPlan& plan,
                                        const RunFolder& folder) {
  RunPlan longer = WithSteps(plan, plan.steps + 1);
  longer.validates_by_share = false;  // it keeps the interval in steps (KeepShares)
  if (WhatHinders(trainer, plan, longer, longer.steps, folder) != Hindrance::kNone) {
    return std::nullopt;
  }
  const auto exact = ExactStart(trainer.recipe(), longer, folder, plan);
  return exact ? exact : LastWithTensors(folder);
}

void ForgetEnd(const RunFolder& folder, const Continuation& continuation) {
  for (const int64_t step : folder.Checkpoints()) {
    if (step > continuation.checkpoint.value_or(0)) folder.RemoveCheckpoint(step);
  }
}

}  // namespace tandem::train
