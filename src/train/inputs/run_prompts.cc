#include "train/inputs/run_prompts.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "weights/settings/prompt_choice.h"

namespace tandem::train {
namespace {

using model::TextKind;

// Warns if no source has the prompt `saved`.
void WarnOfUntrained(const RunData& data, std::optional<std::string> RunSource::*prompt,
                     const std::string& saved, std::string_view what) {
  const bool any = std::any_of(data.sources.begin(), data.sources.end(), [&](const RunSource& one) {
    return (one.*prompt).value_or(saved) == saved;
  });
  if (any) return;
  Warn(
      fmt::format("the model is saved with the {} prompt \"{}\", with which no data set is "
                  "trained; model.{}_prompt gives another one",
                  what, weights::PromptOnOneLine(saved), what));
}

}  // namespace

RunPrompts ModelPrompts(const model::DualEncoder& model) {
  return {TextPrompts(model.prompt(TextKind::kQuery)),
          TextPrompts(model.prompt(TextKind::kDocument))};
}

RunPrompts TrainingPrompts(const RunData& data, const model::DualEncoder& model) {
  RunPrompts prompts = ModelPrompts(model);
  size_t queries = 0, documents = 0;
  for (const RunSource& source : data.sources) {
    // A source that shares the texts of an earlier one has the same prompts.
    if (source.first_query < queries || source.first_document < documents) continue;
    queries = source.first_query;
    documents = source.first_document;
    prompts.queries.From(queries, source.query_prompt.value_or(model.prompt(TextKind::kQuery)));
    prompts.documents.From(documents,
                           source.document_prompt.value_or(model.prompt(TextKind::kDocument)));
  }
  return prompts;
}

RunPrompts ValidationPrompts(const RunData& data, const config::ValidationRecipe& recipe,
                             const model::DualEncoder& model) {
  if (!data.validation) return TrainingPrompts(data, model);
  return {TextPrompts(recipe.query_prompt.value_or(model.prompt(TextKind::kQuery))),
          TextPrompts(recipe.document_prompt.value_or(model.prompt(TextKind::kDocument)))};
}

RunPrompts SourcePrompts(const config::ValidationSourceRecipe& recipe,
                         const model::DualEncoder& model) {
  return {TextPrompts(recipe.query_prompt.value_or(model.prompt(TextKind::kQuery))),
          TextPrompts(recipe.document_prompt.value_or(model.prompt(TextKind::kDocument)))};
}

void ReportPrompts(const RunData& data, const model::DualEncoder& model) {
  for (const RunSource& source : data.sources) {
    const auto note = [&](const std::optional<std::string>& prompt, std::string_view what) {
      if (!prompt) return;
      Note(fmt::format("source {}: {} prompt \"{}\"", source.path, what,
                       weights::PromptOnOneLine(*prompt)));
    };
    note(source.query_prompt, "query");
    note(source.document_prompt, "document");
  }
  WarnOfUntrained(data, &RunSource::query_prompt, model.prompt(TextKind::kQuery), "query");
  WarnOfUntrained(data, &RunSource::document_prompt, model.prompt(TextKind::kDocument), "document");
}

}  // namespace tandem::train
