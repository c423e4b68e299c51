// `tandem train --check`.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "base/progress.h"
#include "train/checks/empty_batches.h"
#include "train/checks/memory_need.h"
#include "train/checks/resources.h"
#include "train/mining/mining_keys.h"
#include "train/run/run.h"
#include "train/scoring/sampler_scores.h"
#include "train/setup/setup.h"
#include "train/setup/setup_notes.h"
#include "train/setup/training_options.h"

namespace tandem::train {
namespace {

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr size_t kBins = 8;

// Lengths of a kind of text in bins of equal width up to the limit.
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

std::string Counts(const Setup& setup) {
  const data::TrainingSet& set = setup.data.set;
  const bool graded = setup.objective.needs.graded_own;
  const LabelCount labels = CountLabels(set, setup.data.training, graded);
  std::string text = fmt::format(
      "training queries: {}\n{}: {}\nqueries without {}, left out: {}\n"
      "data.negatives: {} ({})\ndocuments in the corpus: {}\n",
      setup.data.training.size(), labels.name, labels.documents,
      graded ? "labelled document" : "positive", set.queries_without_positive,
      *setup.recipe().data.negatives, setup.further.Text(), set.documents.size());
  if (const std::string pairs = PairsText(setup); !pairs.empty()) text += pairs + "\n";
  if (const std::string warmup = WarmupText(setup); !warmup.empty()) text += warmup + "\n";
  if (setup.miner != nullptr) {
    const config::MiningRecipe& mining = setup.recipe().mining;
    text += fmt::format(
        "mining: before the first step and every {}{} steps from there: {} negatives a query at "
        "ranks {}; a round encodes {} queries and {} documents\n",
        setup.plan.mining.every_share > 0 ? "about " : "", setup.plan.mining.every,
        mining.negatives, mining.range, setup.miner->queries(), setup.miner->documents().size());
  }
  if (setup.validator != nullptr) {
    text += fmt::format("validation: {} on {} queries, every {}{} steps\n", setup.validator->name(),
                        setup.data.ValidationCorpus().judged.size(),
                        setup.plan.validate_share > 0 ? "about " : "", setup.plan.validate_every);
  }
  return text;
}

// What the batches of an epoch are, where some can teach nothing.
std::string EmptyText(const Setup& setup) {
  const EmptyBatches found = CountEmptyBatches(setup);
  if (found.empty == 0) return "";
  const std::string text = fmt::format("{} of the {} batches of an epoch can teach nothing: {}",
                                       found.empty, found.batches, EmptyBatchText("each has"));
  Warn(text);
  return text + "\n";
}

std::string Mebibytes(uint64_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / kMebibyte);
}

std::string MemoryText(const Setup& setup, const MemoryNeed& need) {
  std::string text =
      fmt::format("memory: about {:.0f} MiB resident at most, with program and data; in it\n",
                  static_cast<double>(need.resident) / kMebibyte);
  if (need.device_total > 0) {
    text += fmt::format(
        "memory of {}: about {} of {} at most; parameters, gradients, the optimizer's state "
        "and the tensors of a step are there\n",
        setup.device.str(), Mebibytes(need.device), Mebibytes(need.device_total));
  }
  const auto line = [&text](std::string_view what, uint64_t bytes, const std::string& remark) {
    text += fmt::format("  {:<22} {:>12}{}{}\n", what, Mebibytes(bytes), remark.empty() ? "" : "  ",
                        remark);
  };
  line(need.frozen == 0 ? "parameters" : "trained parameters", need.parameters, "");
  if (need.frozen > 0) {
    line("frozen parameters", need.frozen,
         setup.model->packs_on_use()
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
  line("token ids", setup.texts.queries.bytes() + setup.texts.documents.bytes(),
       setup.miner == nullptr ? "" : "of the whole corpus, which may be mined");
  if (setup.miner != nullptr) {
    line("a round of mining", MiningMemoryOf(setup.recipe()),
         "at most (mining.memory), between steps; not in the sum above");
  }
  return text;
}

std::string DiskText(const Setup& setup, const DiskNeed& need) {
  return fmt::format(
      "disk: at most {} in the run folder, for {} checkpoints of {} that are kept "
      "(train.keep_checkpoints), one that is being written, {}{}and the model\n",
      Mebibytes(need.run), setup.plan.keep_checkpoints, Mebibytes(need.checkpoint),
      setup.validator == nullptr
          ? ""
          : fmt::format("their and the last best weights of {} each, ", Mebibytes(need.best)),
      (need.records == 0 ? "" : fmt::format("{} of records of passes, ", Mebibytes(need.records))) +
          (need.mining == 0
               ? ""
               : fmt::format("{} of embeddings while it mines, ", Mebibytes(need.mining))));
}

std::string TimeText(const Setup& setup, const MemoryNeed& need) {
  return fmt::format(
      "time: about {} for {} steps, from one timed step of {} tokens ({:.0f} tokens/s); on top "
      "come {}{}validation, checkpoints and each start ({:.1f} s to read the data, {:.1f} s for "
      "token ids)\n",
      FormatDuration(need.step_seconds * static_cast<double>(setup.plan.steps)), setup.plan.steps,
      need.step_tokens, static_cast<double>(need.step_tokens) / need.step_seconds,
      setup.scoring ? "scoring, " : "", setup.miner == nullptr ? "" : "mining, ",
      setup.read_seconds, setup.tokenise_seconds);
}

// A step that does not fit would end the process.
void CheckRoom(Setup& setup, bool ignore_limits) {
  const Shortage shortage = ignore_limits ? Shortage::kWarn : Shortage::kRefuse;
  CheckMemory(LeastMemoryOf(setup), ReadMemoryLimits(), shortage);
  if (setup.recipe().output.empty()) return;
  const RunFolder folder(setup.recipe().output);
  const std::optional<DiskRoom> room = RoomOf(folder);
  if (room) CheckDisk(DiskNeedOf(setup), *room, folder.path(), shortage);
}

}  // namespace

std::string CheckTraining(config::LoadedRecipe loaded, bool ignore_limits) {
  const std::unique_ptr<Setup> setup = MakeSetup(std::move(loaded), {.encode = false});
  CheckRoom(*setup, ignore_limits);
  const config::ModelRecipe& model = setup->recipe().model;
  const std::string empty = EmptyText(*setup);  // before the timed step takes batches
  const MemoryNeed need = MeasureMemoryNeed(*setup);
  const std::string costs =
      MemoryText(*setup, need) + DiskText(*setup, DiskNeedOf(*setup)) + TimeText(*setup, need);
  const std::string trained = TrainedText(*setup->model, setup->recipe());
  return Counts(*setup) + empty + (trained.empty() ? "" : trained + "\n") + ScoringText(*setup) +
         Lengths(setup->texts.queries, "queries", *model.max_query_tokens) +
         Lengths(setup->texts.documents, "documents", *model.max_document_tokens) + costs;
}

}  // namespace tandem::train
