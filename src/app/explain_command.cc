// `tandem explain NAME`: an entry of a catalogue, a key or table of a recipe, or all of a recipe.
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "app/catalogues.h"
#include "app/commands.h"
#include "app/explain_objective.h"
#include "app/flags.h"
#include "base/error.h"
#include "base/suggest.h"
#include "config/recipe_text.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"

namespace tandem::app {
namespace {

std::string DefaultLine(const config::Value& value, std::string_view unset_doc, bool required) {
  if (required) return "required";
  const std::string text = config::FormatValue(value);
  return text.empty() ? fmt::format("default: {}", unset_doc) : fmt::format("default {}", text);
}

// A parameter or key in three or four lines.
std::string ExplainParam(const config::ParamInfo& info, std::string_view path,
                         const config::Value& value, bool required) {
  const std::string range = info.choices.empty() ? config::FormatRange(info) : std::string();
  std::string text = fmt::format("  {}: {}{}{}, {}\n      {}\n", path, config::KindName(info.kind),
                                 range.empty() ? "" : " ", range,
                                 DefaultLine(value, info.unset_doc, required), info.doc);
  for (const config::ChoiceInfo& choice : info.choices) {
    text += fmt::format("      \"{}\": {}\n", choice.name, choice.doc);
  }
  return text;
}

std::string ExplainEntry(const CatalogueView& catalogue, const config::EntryInfo& entry) {
  std::string text = fmt::format("{} ({})\n{}\n", entry.name, catalogue.name, entry.summary);
  if (!entry.source.empty()) text += fmt::format("source: {}\n", entry.source);
  if (catalogue.name == "objectives") text += ExplainObjective(entry.name);
  if (catalogue.name == "commands") text += fmt::format("flags: tandem {} --help\n", entry.name);
  if (!entry.params.empty()) text += "parameters:\n";
  for (const config::ParamInfo& param : entry.params) {
    text += ExplainParam(param, param.name, config::DefaultOf(param), false);
  }
  return text;
}

// A key ("train.batch") or a table ("train") of a recipe; "" for neither.
std::string ExplainKey(std::string_view name) {
  std::string text;
  for (const config::RecipeKey& key : config::RecipeKeys(config::Recipe())) {
    const std::string path = key.path();
    if (path != name && (key.table.empty() || key.table != name)) continue;
    if (text.empty()) {
      text = key.table.empty() ? fmt::format("recipe: {}\n", key.table_doc)
                               : fmt::format("recipe [{}]: {}\n", key.table, key.table_doc);
    }
    text += ExplainParam(key.info, path, key.value, key.required);
  }
  return text;
}

// A key that is a parameter of entries ("optimizer.beta1"), with each that has it; "" for none.
std::string ExplainEntryKey(std::string_view name) {
  std::string text;
  const size_t dot = name.find('.');
  for (const CatalogueView& catalogue : AllCatalogues()) {
    const std::string_view table = name.substr(0, dot);
    if (dot == std::string_view::npos || catalogue.name != fmt::format("{}s", table)) continue;
    for (const config::EntryInfo& entry : catalogue.entries) {
      for (const config::ParamInfo& param : entry.params) {
        if (param.name != name.substr(dot + 1)) continue;
        text += fmt::format("of the {} {}\n{}", table, entry.name,
                            ExplainParam(param, name, config::DefaultOf(param), false));
      }
    }
  }
  return text;
}

[[noreturn]] void ThrowUnknown(const std::string& name) {
  std::vector<std::string> known = {"recipe", "objectives"};
  for (const CatalogueView& catalogue : AllCatalogues()) {
    for (const config::EntryInfo& entry : catalogue.entries) known.emplace_back(entry.name);
  }
  for (const config::RecipeKey& key : config::RecipeKeys(config::Recipe())) {
    known.push_back(key.path());
    known.emplace_back(key.table);
  }
  const std::vector<std::string_view> views(known.begin(), known.end());
  throw UsageError(fmt::format("nothing is called {}; `tandem list` shows what there is{}", name,
                               DidYouMean(name.substr(0, name.find('@')), views)));
}

// Whatever has this name, all of it: a name may stand in several catalogues.
std::string Explain(const std::string& name) {
  if (name == "objectives") return ObjectiveReference();
  if (name == "recipe") {
    return config::RecipeReference({objective::ObjectiveEntries(), optim::OptimizerEntries()});
  }
  std::string text;
  for (const CatalogueView& catalogue : AllCatalogues()) {
    // "ndcg@10" is the measure ndcg.
    const std::string entry_name =
        catalogue.name == "measures" ? name.substr(0, name.find('@')) : name;
    for (const config::EntryInfo& entry : catalogue.entries) {
      if (entry.name != entry_name) continue;
      text += (text.empty() ? "" : "\n") + ExplainEntry(catalogue, entry);
    }
  }
  const std::string key = ExplainKey(name) + ExplainEntryKey(name);
  if (!key.empty()) text += (text.empty() ? "" : "\n") + key;
  if (text.empty()) ThrowUnknown(name);
  return text;
}

std::function<void()> Configure(Flags& flags) {
  const auto name = std::make_shared<std::string>();
  flags
      .Add("name", *name,
           "An objective, measure, command, ..., a recipe key (train.batch) or table; "
           "\"recipe\" prints the reference of all keys, \"objectives\" that of all objectives")
      .Required();
  return [name] { std::fputs(Explain(*name).c_str(), stdout); };
}

}  // namespace

const Command kExplainCommand{"explain", "Explain an objective, a measure, a recipe key, ...",
                              Configure};

}  // namespace tandem::app
