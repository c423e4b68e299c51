#include "train/setup/setup_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/log.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/run_mixture.h"
#include "train/setup/training_options.h"

namespace tandem::train {
namespace {

// Batches in which copies meet, or that are smaller than the recipe asks for, and why.
void WarnOfSmallBatches(const Setup& setup) {
  if (const size_t copies = setup.sampler->MostCopies(); copies > 1) {
    Warn(
        fmt::format("more queries share a text or an own document than an epoch has batches ({}), "
                    "so that up to {} of them meet in a batch: they are no negatives of each other",
                    setup.sampler->BatchesIn(1), copies));
  }
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

// Documents that are the text of a training query.
void NoteOwnTexts(const RunData& data) {
  const OwnTexts& found = data.own_texts;
  if (found.queries == 0) return;
  const std::string judged =
      found.judged == 0
          ? ""
          : fmt::format("; {} of these documents are judged irrelevant and left out", found.judged);
  Note(
      fmt::format("{} of {} training queries have their own text as a document of the corpus, "
                  "which is no negative of theirs (data.masks.query_text){}",
                  found.queries, data.training.size() + found.left_out, judged));
  if (found.left_out == 0) return;
  Warn(
      fmt::format("{} training queries have no other judged document than their own text and are "
                  "left out",
                  found.left_out));
}

// Documents of training queries that are neither positives nor negatives, by their grade.
void NoteBetween(const Setup& setup) {
  if (setup.objective.needs.graded_own) return;
  int64_t between = 0;
  for (const uint32_t e : setup.data.training) {
    const std::vector<data::Judgement>& others = setup.data.set.examples[e].others;
    between += std::count_if(others.begin(), others.end(),
                             [](const data::Judgement& one) { return one.grade > 0; });
  }
  if (between == 0) return;
  Note(
      fmt::format("documents of training queries graded above 0 but below data.positive_grade, "
                  "which are neither positives nor negatives: {}; data.binarize_at in its place "
                  "makes negatives of them",
                  between));
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
  if (const std::string pairs = PairsText(setup); !pairs.empty()) Note(pairs);
  NoteBetween(setup);
  NoteOwnTexts(setup.data);
  WarnOfSmallBatches(setup);
  if (const std::string warmup = WarmupText(setup); !warmup.empty()) Warn(warmup);
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

std::string PairsText(const Setup& setup) {
  const objective::Needs& needs = setup.objective.needs;
  if (setup.sampler->Prunes() || (needs.graded_own && *setup.recipe().data.negatives > 0)) {
    return "";
  }
  const LabelCount labels = CountLabels(setup.data.set, setup.data.training, needs.graded_own);
  const uint64_t drawn = setup.sampler->QueriesIn(0);
  if (drawn >= labels.documents) return "";
  return fmt::format(
      "an epoch trains {} of {} pairs: each query once, with one of its {}, drawn anew in every "
      "epoch; sampling.name = \"random_pruning\" with sampling.keep = 1 trains every pair once an "
      "epoch",
      drawn, labels.documents, labels.name);
}

std::string WarmupText(const Setup& setup) {
  const RunPlan& plan = setup.plan;
  if (plan.warmup <= plan.steps) return "";
  const double last = static_cast<double>(plan.steps) / static_cast<double>(plan.warmup + 1);
  return fmt::format(
      "schedule.warmup is {} steps, but the run has {}{}: the learning rate gets to {:.1f} % of "
      "optimizer.learning_rate and no further; give fewer, or a share as \"5%\"",
      plan.warmup, IsEstimate(setup) ? "about " : "", plan.steps, 100 * last);
}

void NoteWhatIsTrained(const Setup& setup) {
  const config::Recipe& recipe = setup.recipe();
  NoteData(setup);
  ReportPrompts(setup.data, *setup.model);
  if (const std::string text = TrainedText(*setup.model, recipe); !text.empty()) Note(text);
  NoteMixture(recipe.data, setup.sources, setup.sampler->QueriesIn(0));
}

}  // namespace tandem::train
