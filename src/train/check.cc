// `tandem train --check`.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <utility>

#include "base/progress.h"
#include "optim/gradients.h"
#include "train/run.h"
#include "train/setup.h"

namespace tandem::train {
namespace {

using Clock = std::chrono::steady_clock;

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
  if (setup.validator != nullptr) {
    text += fmt::format("validation: {} on {} queries, every {} steps\n", setup.validator->name(),
                        setup.data.ValidationCorpus().judged.size(), setup.plan.validate_every);
  }
  return text;
}

struct TimedStep {
  double seconds = 0;
  int64_t tokens = 0;
};

// The second of two: the first one also pays for what is made once. Gradients are thrown away.
TimedStep TimeStep(Setup& setup) {
  TimedStep timed;
  const auto parameters = setup.model->Parameters();
  for (int repeat = 0; repeat < 2; ++repeat) {
    const Clock::time_point start = Clock::now();
    timed.tokens = 0;
    for (int64_t part = 0; part < setup.recipe().train.accumulate; ++part) {
      const TrainingBatch batch = setup.batches->Make(setup.sampler->Next());
      ForwardBackward(*setup.model, batch, setup.objective, setup.states,
                      {.forward = {.precision = setup.precision, .training = true},
                       .chunk_tokens = setup.recipe().train.chunk_tokens,
                       .weights_stay = setup.recipe().train.accumulate > 1});
      timed.tokens += batch.tokens();
    }
    optim::GradientNorm(parameters);
    optim::ClearGradients(parameters);
    timed.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  }
  return timed;
}

std::string Estimate(Setup& setup) {
  const TimedStep timed = TimeStep(setup);
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) / 1024.0;  // Linux counts KiB
  return fmt::format(
      "memory: about {:.0f} MiB (peak so far, with one step and the optimizer's state); token ids "
      "{:.1f} MiB of it\n"
      "time: about {} for {} steps, from one timed step of {} tokens without the optimizer's "
      "update ({:.0f} tokens/s); validation and checkpoints come on top\n",
      peak,
      static_cast<double>(setup.texts.queries.bytes() + setup.texts.documents.bytes()) / kMebibyte,
      FormatDuration(timed.seconds * static_cast<double>(setup.plan.steps)), setup.plan.steps,
      timed.tokens, static_cast<double>(timed.tokens) / timed.seconds);
}

}  // namespace

std::string CheckTraining(config::LoadedRecipe loaded) {
  const std::unique_ptr<Setup> setup = MakeSetup(std::move(loaded));
  const config::ModelRecipe& model = setup->recipe().model;
  return Counts(*setup) + Lengths(setup->texts.queries, "queries", *model.max_query_tokens) +
         Lengths(setup->texts.documents, "documents", *model.max_document_tokens) +
         Estimate(*setup);
}

}  // namespace tandem::train
