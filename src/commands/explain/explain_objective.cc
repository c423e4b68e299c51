#include "commands/explain/explain_objective.h"

#include <fmt/format.h>

#include "config/recipe/recipe_text.h"
#include "objective/catalogue.h"

namespace tandem::app {
namespace {

// Links to the pages of the studies, for docs/objectives.md; "" without any.
std::string StudyLinks(const objective::ObjectiveInfo& info) {
  std::string text;
  for (const std::string& name : config::StudyNames(info)) {
    text += fmt::format("{}[{}](studies/{}.md)", text.empty() ? "Tried in " : ",\n", name, name);
  }
  return text.empty() ? text : text + ".\n";
}

// Describes the needs of the objective with its default parameters.
std::string NeedsText(const objective::ObjectiveInfo& info) {
  const config::Params defaults(info.params);
  const objective::Needs needs = info.needs(defaults);
  std::string text = "a paired document of every query";
  if (needs.negatives) text += ", negatives";
  if (needs.grades) text += ", grades";
  if (needs.teacher) text += ", teacher scores";
  if (needs.query_query) text += ", query-query scores";
  if (needs.document_document) text += ", document-document scores";
  text += needs.graded_own ? "; paired documents may have any grade"
                           : "; paired documents are positives";
  return text;
}

std::string SeparableText(const objective::ObjectiveInfo& info) {
  return info.needs(config::Params(info.params)).separable_by_row
             ? "a mean over queries of what each says alone"
             : "not separable by query: a batch's loss is more than the mean of its queries'";
}

}  // namespace

std::string ExplainObjective(const config::EntryInfo& entry) {
  const objective::ObjectiveInfo& info = objective::FindObjective(entry.name);
  return fmt::format("{}\n\n{}\n\nneeds: {}\nit is {}\n", info.purpose, info.formula,
                     NeedsText(info), SeparableText(info));
}

std::string ObjectiveReference() {
  std::string text;
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    text += fmt::format(
        "{}## {}\n\n*{}*\n\n{}\n\n```\n{}\n```\n\nSource: {}.\n{}Needs {}.\nIt is {}.\n\n{}",
        text.empty() ? "" : "\n", info->name, info->summary, info->purpose, info->formula,
        info->source, StudyLinks(*info), NeedsText(*info), SeparableText(*info),
        config::ParamTable(info->params));
  }
  return text;
}

}  // namespace tandem::app
