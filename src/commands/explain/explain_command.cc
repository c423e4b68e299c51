// `tandem explain NAME`: explains an entry of a catalogue, a key or table of a recipe, a parameter,
// or the whole recipe.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "commands/catalogues.h"
#include "commands/explain/explain_encoder.h"
#include "commands/explain/explain_objective.h"
#include "config/recipe/recipe_text.h"
#include "eval/measure.h"

namespace tandem::app {
namespace {

using config::Catalogue;
using config::EntryInfo;
using config::RecipeKey;

std::string DefaultLine(const RecipeKey& key) {
  if (key.required) return "required";
  const std::string text = config::FormatValue(key.value);
  return text.empty() ? fmt::format("default: {}", key.info.unset_doc)
                      : fmt::format("default {}", text);
}

std::string TypeOf(const RecipeKey& key) {
  const Catalogue* catalogue =
      key.names_entry ? config::FindCatalogue(AllCatalogues(), key.table) : nullptr;
  if (catalogue != nullptr) {
    const std::span<const EntryInfo* const> entries(catalogue->entries);
    return fmt::format("one of {}", fmt::join(config::EntryNames(entries), ", "));
  }
  const std::string range =
      key.info.choices.empty() ? config::FormatRange(key.info) : std::string();
  return fmt::format("{}{}{}", config::KindName(key.info.kind), range.empty() ? "" : " ", range);
}

// Explains a parameter or key in a few lines; `path` is its full name.
std::string ExplainParam(const RecipeKey& key, std::string_view path) {
  std::string text =
      fmt::format("  {}: {}, {}\n      {}\n", path, TypeOf(key), DefaultLine(key), key.info.doc);
  for (const config::ChoiceInfo& choice : key.info.choices) {
    text += fmt::format("      \"{}\": {}\n", choice.name, choice.doc);
  }
  if (!key.condition.empty()) text += fmt::format("      needs {}\n", key.condition);
  if (!key.info.elsewhere.empty()) text += fmt::format("      {}\n", key.info.elsewhere);
  return text;
}

std::string ExplainParam(const config::ParamInfo& info, std::string_view path) {
  return ExplainParam(
      {.info = info, .value = config::DefaultOf(info), .condition = info.condition.text}, path);
}

std::string ExplainEntry(const Catalogue& catalogue, const EntryInfo& entry) {
  std::string text = fmt::format("{} ({})\n{}\n", entry.name, catalogue.name, entry.summary);
  if (!entry.source.empty()) text += fmt::format("source: {}\n", entry.source);
  std::string_view before = "tried in: ";
  for (const std::string& name : config::StudyNames(entry)) {
    text += fmt::format("{}docs/studies/{}.md", std::exchange(before, ", "), name);
  }
  if (!entry.studies.empty()) text += "\n";
  if (catalogue.details != nullptr) text += catalogue.details(entry);
  if (!entry.params.empty()) text += "parameters:\n";
  for (const config::ParamInfo& param : entry.params) text += ExplainParam(param, param.name);
  for (const config::IdleKey& idle : entry.idle_keys) {
    text += fmt::format("does not go with {}: it {}\n", idle.path, idle.reason);
  }
  return text;
}

// Explains all entries of a catalogue, one after the other.
std::string ReferenceOf(std::string_view name) {
  std::vector<std::string> entries;
  for (const Catalogue& catalogue : AllCatalogues()) {
    if (catalogue.name != name) continue;
    for (const EntryInfo* entry : catalogue.entries) {
      entries.push_back(ExplainEntry(catalogue, *entry));
    }
  }
  return fmt::format("{}", fmt::join(entries, "\n"));
}

// Explains the recipe keys that `name` means: a key ("train.batch"), all keys of a table ("train"),
// or all keys with a bare name ("batch"). "" if there are none.
std::string ExplainKeys(std::string_view name) {
  std::string text;
  std::string_view table = "none yet";
  for (const RecipeKey& key : config::DocumentedKeys()) {
    const std::string path = key.path();
    const bool of_table = !key.table.empty() && key.table == name;
    if (path != name && key.info.name != name && !of_table) continue;
    if (key.table != table) {
      text += key.table.empty() ? fmt::format("recipe: {}\n", key.table_doc)
                                : fmt::format("recipe {}: {}\n", key.header(), key.table_doc);
      table = key.table;
    }
    text += ExplainParam(key, path);
  }
  return text;
}

// Entries of one catalogue with a parameter that has the same description, word for word.
struct SharedParam {
  std::string description;
  std::vector<std::string_view> entries;
};

// Explains the parameter of entries that `name` means, with its table ("optimizer.beta1") or
// without ("beta1"), and says which entries have it. "" if there is none.
std::string ExplainEntryParams(std::string_view name) {
  std::string text;
  for (const Catalogue& catalogue : AllCatalogues()) {
    std::vector<SharedParam> shared;
    for (const EntryInfo* entry : catalogue.entries) {
      for (const config::ParamInfo& param : entry->params) {
        const std::string path = fmt::format("{}.{}", catalogue.table, param.name);
        if (param.name != name && path != name) continue;
        const std::string description = ExplainParam(param, path);
        const auto same = std::find_if(shared.begin(), shared.end(), [&](const SharedParam& one) {
          return one.description == description;
        });
        SharedParam& one = same != shared.end()
                               ? *same
                               : shared.emplace_back(SharedParam{.description = description});
        one.entries.push_back(entry->name);
      }
    }
    for (const SharedParam& one : shared) {
      text += fmt::format("of the {} {}\n{}",
                          one.entries.size() == 1 ? catalogue.entry : catalogue.name,
                          fmt::join(one.entries, ", "), one.description);
    }
  }
  return text;
}

// Returns every name that `Explain` knows, for suggestions.
std::vector<std::string> KnownNames() {
  std::vector<std::string> known = {"recipe", "objectives", "models", "measures", "samplers"};
  for (const Catalogue& catalogue : AllCatalogues()) {
    for (const EntryInfo* entry : catalogue.entries) {
      known.emplace_back(entry->name);
      for (const config::ParamInfo& param : entry->params) {
        known.emplace_back(param.name);
        known.push_back(fmt::format("{}.{}", catalogue.table, param.name));
      }
    }
  }
  for (const RecipeKey& key : config::DocumentedKeys()) {
    known.push_back(key.path());
    known.emplace_back(key.info.name);
    if (!key.table.empty()) known.emplace_back(key.table);
  }
  return known;
}

[[noreturn]] void ThrowUnknown(const std::string& name) {
  const std::vector<std::string> known = KnownNames();
  const std::vector<std::string_view> views(known.begin(), known.end());
  throw UsageError(fmt::format("nothing is called {}; `tandem list` shows what there is{}", name,
                               DidYouMean(name.substr(0, name.find('@')), views)));
}

// Explains everything with this name; several catalogues and tables may use it.
std::string Explain(const std::string& name) {
  if (name == "objectives") return ObjectiveReference();
  if (name == "models") return EncoderReference();
  if (name == "measures" || name == "samplers") return ReferenceOf(name);
  if (name == "recipe") return config::RecipeReference(AllCatalogues());
  std::vector<std::string> parts;
  for (const Catalogue& catalogue : AllCatalogues()) {
    // "ndcg@10" and "nDCG" are the measure ndcg.
    const eval::MeasureInfo* measure =
        catalogue.name == "measures" ? eval::FindMeasure(name) : nullptr;
    const std::string_view entry_name = measure != nullptr ? measure->name : name;
    for (const EntryInfo* entry : catalogue.entries) {
      if (entry->name == entry_name) parts.push_back(ExplainEntry(catalogue, *entry));
    }
  }
  for (const std::string& part : {ExplainKeys(name), ExplainEntryParams(name)}) {
    if (!part.empty()) parts.push_back(part);
  }
  if (parts.empty()) ThrowUnknown(name);
  return fmt::format("{}", fmt::join(parts, "\n"));
}

// Explains the entry of one kind: "sampler", "static_pruning".
std::string ExplainOfKind(const std::string& kind, const std::string& name) {
  std::vector<std::string_view> kinds;
  for (const Catalogue& catalogue : AllCatalogues()) {
    kinds.push_back(catalogue.entry);
    if (catalogue.entry != kind && catalogue.name != kind) continue;
    std::vector<std::string_view> names;
    for (const EntryInfo* entry : catalogue.entries) {
      names.push_back(entry->name);
      if (entry->name == name) return ExplainEntry(catalogue, *entry);
    }
    throw UsageError(fmt::format("no {} is called {}; there are {}{}", catalogue.entry, name,
                                 fmt::join(names, ", "), DidYouMean(name, names)));
  }
  throw UsageError(fmt::format("{} is no kind of things; kinds are {}{}", kind,
                               fmt::join(kinds, ", "), DidYouMean(kind, kinds)));
}

std::string ExplainNames(const std::vector<std::string>& names) {
  if (names.size() == 1) return Explain(names.front());
  if (names.size() == 2) return ExplainOfKind(names[0], names[1]);
  throw UsageError(
      fmt::format("explains one thing: NAME, or its kind and NAME; found {} names", names.size()));
}

CommandBody ConfigureExplain(Flags& flags) {
  const auto names = std::make_shared<std::vector<std::string>>();
  flags
      .Add("name", *names,
           "An objective, measure, command, ..., a recipe key or parameter (train.batch, "
           "temperature) "
           "or table; "
           "\"recipe\" prints the reference of all keys, \"objectives\" that of all objectives, "
           "\"models\" that of all encoders, \"measures\" and \"samplers\" that of all of these. "
           "Its "
           "kind may stand before a name: sampler static_pruning")
      .Takes("NAME")
      .Required();
  return [names](const Globals&) { std::fputs(ExplainNames(*names).c_str(), stdout); };
}

constexpr Example kExplainExamples[] = {
    {"tandem explain mann_whitney", "Explain an objective"},
    {"tandem explain train.batch", "Explain a key of recipes"},
};

}  // namespace

extern const Command kExplainCommand{
    {.name = "explain", .summary = "Explain an objective, a measure, a recipe key, ..."},
    ConfigureExplain,
    kExplainExamples};

}  // namespace tandem::app
