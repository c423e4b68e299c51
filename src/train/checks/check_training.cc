// The work of `tandem train --check`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/progress.h"
#include "train/checks/empty_batches.h"
#include "train/checks/memory_need.h"
#include "train/checks/resources.h"
#include "train/mining/mining_keys.h"
#include "train/run/training_run.h"
#include "train/scoring/sampler_scores.h"
#include "train/setup/trainer.h"
#include "train/setup/trainer_notes.h"
#include "train/setup/training_options.h"
#include "train/validation/validation_cost.h"

namespace tandem::train {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr size_t kBins = 8;

// A histogram of the token counts of one kind of text, in bins of equal width up to the longest
// text.
std::string Lengths(const TokenStore& store, const char* what, int64_t limit) {
  if (store.wanted() == 0) return "";
  std::array<size_t, kBins> counts{};
  size_t longest = 0;
  for (size_t i = 0; i < store.size(); ++i) longest = std::max(longest, store.length(i));
  const size_t width = std::max<size_t>(1, (longest + kBins - 1) / kBins);
  for (size_t i = 0; i < store.size(); ++i) {
    if (store.length(i) > 0) ++counts[std::min(kBins - 1, (store.length(i) - 1) / width)];
  }
  const auto total = static_cast<double>(store.wanted());
  std::string text =
      fmt::format("{}: {} used, {:.1f} tokens each, {} ({:.1f} %) truncated at {}\n", what,
                  store.wanted(), static_cast<double>(store.tokens()) / total, store.truncated(),
                  100.0 * static_cast<double>(store.truncated()) / total, limit);
  const size_t most = *std::max_element(counts.begin(), counts.end());
  for (size_t bin = 0; bin < kBins && bin * width < longest; ++bin) {
    text += fmt::format("  {:>5}-{:<5} {:>9} {:#<{}}\n", bin * width + 1, (bin + 1) * width,
                        counts[bin], "", (40 * counts[bin] + most - 1) / most);
  }
  return text;
}

std::string Counts(const Trainer& trainer, const RunPlan& plan) {
  const RunInputs& inputs = trainer.inputs;
  const data::TrainingSet& set = inputs.data.set;
  const bool graded = inputs.needs.graded_own;
  const LabelCount labels = CountLabels(set, inputs.data.training, graded);
  std::string text = fmt::format(
      "training queries: {}\n{}: {}\nqueries without {}, left out: {}\n"
      "data.negatives: {} ({})\ndocuments in the corpus: {}\n",
      inputs.data.training.size(), labels.name, labels.documents,
      graded ? "labelled document" : "positive", set.queries_without_positive,
      *trainer.recipe().data.negatives, inputs.extra.Text(), set.documents.size());
  if (const std::string pairs = PairsText(trainer); !pairs.empty()) text += pairs + "\n";
  if (const std::string warmup = WarmupText(trainer, plan); !warmup.empty()) text += warmup + "\n";
  if (trainer.miner != nullptr) {
    const config::MiningRecipe& mining = trainer.recipe().mining;
    text += fmt::format(
        "mining: before the first step and every {}{} steps from there: {} negatives a query at "
        "ranks {}; a round encodes {} queries and {} documents\n",
        plan.mining.every_share > 0 ? "about " : "", plan.mining.every, mining.negatives,
        mining.range, trainer.miner->queries(), trainer.miner->documents().size());
  }
  if (trainer.validator != nullptr) {
    text += fmt::format("validation: {} on {} queries, every {}{} steps\n",
                        trainer.validator->name(), trainer.validator->queries(),
                        plan.validate_share > 0 ? "about " : "", plan.validate_every);
  }
  return text;
}

// Says how many batches of an epoch can teach nothing, and warns of them; "" if there are none.
std::string EmptyText(const Trainer& trainer, const RunPlan& plan) {
  const EmptyBatches found = CountEmptyBatches(trainer, plan);
  if (found.empty == 0) return "";
  const std::string text = fmt::format("{} of the {} batches of an epoch can teach nothing: {}",
                                       found.empty, found.batches, EmptyBatchText("each has"));
  Warn(text);
  return text + "\n";
}

std::string Mebibytes(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMebibyte);
}

std::string MemoryText(const Trainer& trainer, const MemoryNeed& need) {
  std::string text =
      fmt::format("memory: about {:.0f} MiB resident at most, with program and data; in it\n",
                  static_cast<double>(need.resident) / kMebibyte);
  if (need.device_total > 0) {
    text += fmt::format(
        "memory of {}: about {} of {} at most; parameters, gradients, the optimizer's state "
        "and the tensors of a step are there\n",
        trainer.inputs.run.device.str(), Mebibytes(need.device), Mebibytes(need.device_total));
  }
  const auto line = [&text](std::string_view what, uint64_t bytes, const std::string& remark) {
    text += fmt::format("  {:<22} {:>12}{}{}\n", what, Mebibytes(bytes), remark.empty() ? "" : "  ",
                        remark);
  };
  line(need.frozen == 0 ? "parameters" : "trained parameters", need.parameters, "");
  if (need.frozen > 0) {
    line("frozen parameters", need.frozen,
         trainer.model().packs_on_use()
             ? "in their file's type; packed where they are used, because packed copies would "
               "take much of this machine's memory"
             : "in their file's type; packed copies for products are kept beside them");
  }
  line("optimizer's state", need.optimizer,
       need.optimizer_touched == need.optimizer
           ? ""
           : fmt::format("{} of it take memory: the other rows of the vocabulary have no text",
                         Mebibytes(need.optimizer_touched)));
  line("tensors of a step", need.step,
       fmt::format("at most at once, for the largest batch, of {} tokens",
                   need.largest_batch_tokens));
  line("  gradients", need.gradients, "among them");
  line("token ids", trainer.inputs.texts.queries.bytes() + trainer.inputs.texts.documents.bytes(),
       trainer.miner == nullptr ? "" : "of the whole corpus, which may be mined");
  if (trainer.miner != nullptr) {
    line("a round of mining", MiningMemoryOf(trainer.recipe()),
         "at most (mining.memory), between steps; not in the sum above");
  }
  return text;
}

std::string DiskText(const Trainer& trainer, const RunPlan& plan, const DiskNeed& need) {
  return fmt::format(
      "disk: at most {} in the run folder, for {} checkpoints of {} that are kept "
      "(train.keep_checkpoints), one that is being written, {}{}and the model\n",
      Mebibytes(need.run), plan.keep_checkpoints, Mebibytes(need.checkpoint),
      trainer.validator == nullptr
          ? ""
          : fmt::format("their and the last best weights of {} each, ", Mebibytes(need.best)),
      (need.records == 0 ? "" : fmt::format("{} of records of epochs, ", Mebibytes(need.records))) +
          (need.mining == 0
               ? ""
               : fmt::format("{} of embeddings while it mines, ", Mebibytes(need.mining))));
}

// What shortens a run that takes long; nothing for others.
std::string SoonerText(const RunPlan& plan, double step_seconds, const ValidationCost& validation) {
  constexpr double kLong = 600, kSooner = 300;
  if (validation.step_seconds + validation.seconds() <= kLong) return "";
  // A share of a shorter run gives as many validations, an interval in steps fewer of them.
  const bool as_many = plan.validates_by_share || plan.validate_every == 0;
  const auto every = static_cast<double>(std::max<int64_t>(1, plan.validate_every));
  const double fixed = as_many ? validation.seconds() : 2 * validation.each_seconds;
  const double a_step = step_seconds + (as_many ? 0 : validation.each_seconds / every);
  const double seconds = std::max(kSooner / 2, kSooner - fixed);
  const auto steps = std::max<int64_t>(1, static_cast<int64_t>(seconds / a_step));
  if (steps >= plan.steps) return "";
  return fmt::format(
      "      --set train.steps={} ends after about {}, and learns from fewer texts\n", steps,
      FormatDuration(a_step * static_cast<double>(steps) + fixed));
}

// What the validations of the run take, that before the first step among them.
ValidationCost ValidationCostOf(const Trainer& trainer, const RunPlan& plan,
                                const MemoryNeed& need) {
  const double steps = need.step_seconds * static_cast<double>(plan.steps);
  if (trainer.validator == nullptr) return {.step_seconds = steps};
  return {.each_seconds = need.validation_seconds,
          .count = 1 + plan.ValidationsAfter({}),
          .step_seconds = steps};
}

// " and 1m 08s for 5 validations of about 14 s, from a sample of 1000 documents and 287 queries".
std::string ValidationTimeText(const Trainer& trainer, const ValidationCost& cost) {
  if (trainer.validator == nullptr) return "";
  const size_t documents = trainer.validator->ranked().documents;
  const std::string sampled =
      documents > 0
          ? fmt::format("{} documents and {} queries", documents, trainer.validator->queries())
          : fmt::format("{} queries", trainer.validator->queries());
  return fmt::format(", and {} for {} validations of {:.{}f} s each, from some of their {}",
                     FormatDuration(cost.seconds()), cost.count, cost.each_seconds,
                     cost.each_seconds < 10 ? 1 : 0, sampled);
}

std::string TimeText(const Trainer& trainer, const RunPlan& plan, const MemoryNeed& need) {
  const ValidationCost validation = ValidationCostOf(trainer, plan, need);
  std::string time = fmt::format(
      "time: about {}: {} for {} steps, from one timed step of {} tokens ({:.0f} tokens/s){}; on "
      "top come {}{}checkpoints and each start ({:.1f} s to read the data, {:.1f} s for token "
      "ids)\n",
      FormatDuration(validation.step_seconds + validation.seconds()),
      FormatDuration(validation.step_seconds), plan.steps, need.timed_tokens,
      static_cast<double>(need.timed_tokens) / need.timed_seconds,
      ValidationTimeText(trainer, validation), trainer.scoring ? "scoring, " : "",
      trainer.miner == nullptr ? "" : "mining, ", trainer.inputs.seconds.reading,
      trainer.inputs.seconds.tokenising);
  if (validation.large()) {
    time += fmt::format("      {}\n", ValidationCostText(validation, trainer.recipe().validation,
                                                         trainer.validator->ranked()));
  }
  return time + SoonerText(plan, need.step_seconds, validation);
}

// Checks before the first step that it fits into memory, because the system would end the process.
void CheckRoom(const Trainer& trainer, const RunPlan& plan, bool ignore_limits) {
  const Shortage shortage = ignore_limits ? Shortage::kWarn : Shortage::kRefuse;
  CheckMemory(LeastMemoryOf(trainer, plan), ReadMemoryLimits(), shortage);
  if (trainer.recipe().output.empty()) return;
  const RunFolder folder(trainer.recipe().output);
  const std::optional<DiskRoom> room = RoomOf(folder);
  if (room) CheckDisk(DiskNeedOf(trainer, plan), *room, folder.path(), shortage);
}

}  // namespace

std::string CheckTraining(config::LoadedRecipe loaded, bool ignore_limits) {
  const auto [made, plan] = MakeTrainer(std::move(loaded), {.encode = false});
  Trainer& trainer = *made;
  CheckRoom(trainer, plan, ignore_limits);
  const config::ModelRecipe& model = trainer.recipe().model;
  const ExampleTexts& texts = trainer.inputs.texts;
  const std::string empty = EmptyText(trainer, plan);  // before the timed step takes batches
  const MemoryNeed need = MeasureMemoryNeed(trainer, plan);
  const std::string costs = MemoryText(trainer, need) +
                            DiskText(trainer, plan, DiskNeedOf(trainer, plan)) +
                            TimeText(trainer, plan, need);
  const std::string trained = TrainedText(trainer.model(), trainer.recipe());
  return Counts(trainer, plan) + empty + (trained.empty() ? "" : trained + "\n") +
         ScoringText(trainer.scoring, trainer.recipe()) +
         Lengths(texts.queries, "queries", *model.max_query_tokens) +
         Lengths(texts.documents, "documents", *model.max_document_tokens) + costs;
}

}  // namespace tandem::train
