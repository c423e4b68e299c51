#include "train/setup_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/log.h"
#include "train/label_keys.h"
#include "train/run_mixture.h"
#include "train/training_options.h"

namespace tandem::train {
namespace {

// Batches that are smaller than the recipe asks for, and why.
void WarnOfSmallBatches(const Setup& setup) {
  // Where batches are limited otherwise too, their sizes say nothing about copies.
  if (!setup.recipe().train.batch || setup.recipe().sampling.by_task) return;
  const auto batch = static_cast<size_t>(*setup.recipe().train.batch);
  const uint64_t queries = setup.sampler->QueriesIn(0);
  if (batch > queries) {
    const std::string have =
        queries == setup.data.training.size()
            ? fmt::format("there are {} training queries", queries)
            : fmt::format("an epoch of {} has {} queries", setup.recipe().sampling.name, queries);
    Warn(fmt::format("train.batch is {}, but {}; a batch has at most {}", batch, have,
                     LargestBatch(setup)));
  }
  const uint64_t fewest = (queries + batch - 1) / batch, batches = setup.sampler->BatchesIn(1);
  if (batches > fewest) {
    Warn(fmt::format(
        "queries with the same text or own document are kept out of each other's "
        "batches: an epoch has {} batches of at most {} queries instead of {} of up to {}; "
        "sampling.no_duplicates = false would allow them together",
        batches, LargestBatch(setup), fewest, std::min(batch, queries)));
  }
}

// Whether the number of steps is one.
bool IsEstimate(const Setup& setup) {
  return setup.plan.by_progress || (setup.scoring && setup.scoring->encodes());
}

void NoteData(const Setup& setup) {
  const ExampleTexts& texts = setup.texts;
  const LabelCount labels =
      CountLabels(setup.data.set, setup.data.training, setup.objective.needs.graded_own);
  Note(fmt::format(
      "training on {} queries with {} {}, {} documents in the corpus; {}{} steps of {}{} "
      "queries",
      setup.data.training.size(), labels.documents, labels.name, setup.data.set.documents.size(),
      IsEstimate(setup) ? "about " : "", setup.plan.steps,
      setup.recipe().train.batch ? "" : "about ",
      LargestBatch(setup) * static_cast<uint64_t>(setup.recipe().train.accumulate)));
  Note(
      fmt::format("data.negatives = {}: {}", *setup.recipe().data.negatives, setup.further.Text()));
  if (!setup.figures.tasks.empty()) Note(TasksText(setup.figures.tasks));
  WarnOfSmallBatches(setup);
  if (!setup.learning_rate_note.empty()) Note(setup.learning_rate_note);
  const auto truncated = [](const TokenStore& store, const char* what, int64_t limit) {
    if (store.truncated() > 0) {
      Warn(fmt::format("{} of {} {} are longer than {} tokens and were truncated",
                       store.truncated(), store.wanted(), what, limit));
    }
    if (store.tokenless() > 0) {
      Warn(
          fmt::format("{} of {} {} are empty and have no tokens, since the tokenizer adds no "
                      "special ones, so that nothing is learned from them; leave them out",
                      store.tokenless(), store.wanted(), what));
    }
    if (store.only_prompt() == 0) return;
    Warn(
        fmt::format("{} of {} {} are cut inside their prompt, which pooling leaves out, so that "
                    "nothing is learned from them; allow more tokens, or take a shorter prompt",
                    store.only_prompt(), store.wanted(), what));
  };
  truncated(texts.queries, "queries", *setup.recipe().model.max_query_tokens);
  truncated(texts.documents, "documents", *setup.recipe().model.max_document_tokens);
}

}  // namespace

uint64_t LargestBatch(const Setup& setup) {
  const uint64_t batches = setup.sampler->BatchesIn(1);
  return (setup.sampler->QueriesIn(0) + batches - 1) / batches;
}

void NoteWhatIsTrained(const Setup& setup) {
  const config::Recipe& recipe = setup.recipe();
  NoteData(setup);
  ReportPrompts(setup.data, *setup.model);
  if (const std::string text = TrainedText(*setup.model, recipe); !text.empty()) Note(text);
  NoteMixture(recipe.data, setup.sources, setup.sampler->QueriesIn(0));
}

}  // namespace tandem::train
