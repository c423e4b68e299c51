#include "train/setup/input_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/log.h"

namespace tandem::train {

void NoteOwnTexts(const RunInputs& inputs) {
  const RunData& data = inputs.data;
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

void NoteBetween(const RunInputs& inputs) {
  if (inputs.needs.graded_own) return;
  int64_t between = 0;
  for (const uint32_t e : inputs.data.training) {
    const std::vector<data::Judgement>& others = inputs.data.set.examples[e].others;
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

void WarnOfCutTexts(const RunInputs& inputs) {
  const auto truncated = [&inputs](const TokenStore& store, const char* what, const char* key,
                                   int64_t limit) {
    const bool asked_for = inputs.run.loaded.positions.contains(fmt::format("model.{}", key));
    if (store.truncated() > 0 && asked_for) {
      Note(fmt::format("{} of {} {} are longer than {} tokens and are cut there, as model.{} says",
                       store.truncated(), store.wanted(), what, limit, key));
    } else if (store.truncated() > 0) {
      Warn(fmt::format(
          "{} of {} {} are longer than {} tokens (model.{}) and were cut there: nothing "
          "is learned from the rest, which does no harm where texts begin with what "
          "they are about; a higher value costs time and memory",
          store.truncated(), store.wanted(), what, limit, key));
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
  truncated(inputs.texts.queries, "queries", "max_query_tokens",
            *inputs.recipe().model.max_query_tokens);
  truncated(inputs.texts.documents, "documents", "max_document_tokens",
            *inputs.recipe().model.max_document_tokens);
}

}  // namespace tandem::train
