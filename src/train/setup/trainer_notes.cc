#include "train/setup/trainer_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/run_mixture.h"
#include "train/setup/input_notes.h"
#include "train/setup/training_options.h"

namespace tandem::train {
namespace {

// Warns of batches that contain copies of a text, or that are smaller than the recipe asks for, and
// says why.
void WarnOfSmallBatches(const Trainer& trainer) {
  if (const size_t copies = trainer.sampler->MostCopies(); copies > 1) {
    Warn(fmt::format(
        "more queries share a text or a paired document than an epoch has batches ({}), "
        "so that up to {} of them meet in a batch: they are no negatives of each other",
        trainer.sampler->BatchesIn(1), copies));
  }
  // If batches are limited in other ways too, their sizes say nothing about copies.
  if (!trainer.recipe().train.batch || trainer.recipe().sampling.by_task) return;
  const auto batch = static_cast<size_t>(*trainer.recipe().train.batch);
  const uint64_t queries = trainer.sampler->QueriesIn(0);
  if (batch > queries) {
    const std::string have =
        queries == trainer.inputs.data.training.size()
            ? fmt::format("there are {} training queries", queries)
            : fmt::format("an epoch of {} has {} queries", trainer.recipe().sampling.name, queries);
    Warn(fmt::format("train.batch is {}, but {}; a batch has at most {}", batch, have,
                     LargestBatch(*trainer.sampler)));
  }
  const uint64_t fewest = (queries + batch - 1) / batch, batches = trainer.sampler->BatchesIn(1);
  if (batches > fewest) {
    Warn(fmt::format(
        "queries with the same text or paired document are kept out of each other's "
        "batches: an epoch has {} batches of at most {} queries instead of {} of up to {}; "
        "{}",
        batches, LargestBatch(*trainer.sampler), fewest, std::min(batch, queries),
        trainer.recipe().data.masks.copies
            ? "sampling.no_duplicates = \"mask\" keeps batches full and masks those that meet"
            : "data.masks.copies = true would keep batches full and mask those that meet"));
  }
}

// Whether the plan's number of steps is an estimate.
bool IsEstimate(const Trainer& trainer, const RunPlan& plan) {
  return plan.by_progress || (trainer.scoring && trainer.scoring->encodes());
}

// What a query is trained against besides the documents of its batch.
std::string NegativesText(int64_t negatives, const ExtraCounts& extra) {
  const std::string found = fmt::format("data.negatives = {}: {}", negatives, extra.Text());
  if (negatives > 0) return found;
  if (extra.without < extra.queries) {
    return found +
           ", which are not used: a query is trained against the other documents of its "
           "batch alone";
  }
  return found + ", so that each is trained against the other documents of its batch alone" +
         (extra.graded ? "" : "; `tandem mine`, or [mining] in the recipe, finds hard negatives");
}

void NoteData(const Trainer& trainer, const RunPlan& plan) {
  const RunInputs& inputs = trainer.inputs;
  if (!inputs.run.precision_note.empty()) Note(inputs.run.precision_note);
  const LabelCount labels =
      CountLabels(inputs.data.set, inputs.data.training, inputs.needs.graded_own);
  Note(fmt::format(
      "training on {} queries with {} {}, {} documents in the corpus; {}{} steps of {}{} "
      "queries",
      inputs.data.training.size(), labels.documents, labels.name, inputs.data.set.documents.size(),
      IsEstimate(trainer, plan) ? "about " : "", plan.steps,
      trainer.recipe().train.batch ? "" : "about ",
      LargestBatch(*trainer.sampler) * static_cast<uint64_t>(trainer.recipe().train.accumulate)));
  Note(NegativesText(*trainer.recipe().data.negatives, inputs.extra));
  if (!inputs.figures.tasks.empty()) Note(TasksText(inputs.figures.tasks));
  if (const std::string pairs = PairsText(trainer); !pairs.empty()) Note(pairs);
  NoteBetween(inputs);
  NoteOwnTexts(inputs);
  WarnOfSmallBatches(trainer);
  if (const std::string warmup = WarmupText(trainer, plan); !warmup.empty()) Warn(warmup);
  if (!inputs.run.learning_rate_note.empty()) Note(inputs.run.learning_rate_note);
  WarnOfCutTexts(inputs);
}

}  // namespace

std::string PairsText(const Trainer& trainer) {
  const RunInputs& inputs = trainer.inputs;
  const objective::Needs& needs = inputs.needs;
  if (trainer.sampler->Prunes() || (needs.graded_own && *trainer.recipe().data.negatives > 0)) {
    return "";
  }
  const LabelCount labels = CountLabels(inputs.data.set, inputs.data.training, needs.graded_own);
  const uint64_t drawn = trainer.sampler->QueriesIn(0);
  if (drawn >= labels.documents) return "";
  return fmt::format(
      "an epoch trains {} of {} pairs: each query once, with one of its {}, drawn anew in every "
      "epoch; sampling.name = \"random_pruning\" with sampling.keep = 1 trains every pair once an "
      "epoch",
      drawn, labels.documents, labels.name);
}

std::string WarmupText(const Trainer& trainer, const RunPlan& plan) {
  if (plan.warmup <= plan.steps) return "";
  const double last = static_cast<double>(plan.steps) / static_cast<double>(plan.warmup + 1);
  return fmt::format(
      "schedule.warmup is {} steps, but the run has {}{}: the learning rate gets to {:.1f} % of "
      "optimizer.learning_rate and no further; give fewer, or a share as \"5%\"",
      plan.warmup, IsEstimate(trainer, plan) ? "about " : "", plan.steps, 100 * last);
}

void NoteWhatIsTrained(const Trainer& trainer, const RunPlan& plan) {
  const config::Recipe& recipe = trainer.recipe();
  NoteData(trainer, plan);
  ReportPrompts(trainer.inputs.data, trainer.model());
  if (const std::string text = TrainedText(trainer.model(), recipe); !text.empty()) Note(text);
  NoteMixture(recipe.data, trainer.inputs.sources, trainer.sampler->QueriesIn(0));
}

}  // namespace tandem::train
