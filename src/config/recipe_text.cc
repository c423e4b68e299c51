#include "config/recipe_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/recipe_values.h"

namespace tandem::config {
namespace {

class KeyCollector {
 public:
  void Table(std::string_view path, std::string_view doc) {
    table_ = path;
    table_doc_ = doc;
  }

  template <typename T>
  void Field(std::string_view name, const T& value, const FieldInfo& field) {
    keys_.push_back({table_, table_doc_, MakeParamInfo<T>(name, field), ValueOf(value, field.unit),
                     field.required, field.on_resume});
  }

  void Entry(std::string_view, const std::string& name, const Params& params,
             const FieldInfo& field) {
    Field("name", name, field);
    const std::span<const ParamInfo> infos = params.infos();
    for (size_t i = 0; i < infos.size(); ++i) {
      keys_.push_back({table_, table_doc_, infos[i], params.value(i)});
    }
  }

  std::vector<RecipeKey> Take() { return std::move(keys_); }

 private:
  std::string_view table_;
  std::string_view table_doc_;
  std::vector<RecipeKey> keys_;
};

std::string DefaultText(const RecipeKey& key) {
  if (key.required) return "required";
  const std::string value = FormatValue(key.value);
  return value.empty() ? std::string(key.info.unset_doc) : fmt::format("`{}`", value);
}

std::string KeyRow(const RecipeKey& key) {
  std::string meaning(key.info.doc);
  for (const ChoiceInfo& choice : key.info.choices) {
    meaning += fmt::format("; `{}`: {}", choice.name, choice.doc);
  }
  const std::string range = key.info.choices.empty() ? FormatRange(key.info) : std::string();
  const std::string type = range.empty() ? std::string(KindName(key.info.kind))
                                         : fmt::format("{} {}", KindName(key.info.kind), range);
  return fmt::format("| `{}` | {} | {} | {} |\n", key.info.name, type, DefaultText(key), meaning);
}

constexpr std::string_view kHeader = "| key | type | default | meaning |\n|---|---|---|---|\n";

constexpr std::string_view kIntroduction =
    "# Recipes\n"
    "\n"
    "A recipe is a TOML file. `--set KEY=VALUE` goes over it (VALUE is TOML, else a bare string), "
    "and\n"
    "where it gives one of two keys that exclude each other, the file's is dropped. Integers serve "
    "as\n"
    "numbers. A quantity is a share (`\"5%\"`) or a count (`\"500 steps\"`, `500`). Paths are "
    "relative to\n"
    "the current directory. This page is written by `tandem explain recipe`.\n";

}  // namespace

std::string RecipeKey::path() const {
  return table.empty() ? std::string(info.name) : fmt::format("{}.{}", table, info.name);
}

std::vector<RecipeKey> RecipeKeys(const Recipe& recipe) {
  KeyCollector collector;
  VisitRecipe(recipe, collector);
  return collector.Take();
}

std::string FormatRecipe(const Recipe& recipe) {
  std::string text;
  std::string_view table;
  for (const RecipeKey& key : RecipeKeys(recipe)) {
    const std::string value = FormatValue(key.value);
    if (value.empty()) continue;
    if (key.table == "validation" && !recipe.validation.enabled()) continue;
    if (key.table != table) {
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", key.table);
      table = key.table;
    }
    text += fmt::format("{} = {}\n", key.info.name, value);
  }
  return text;
}

std::vector<std::string> ChangedKeys(const Recipe& before, const Recipe& after) {
  std::map<std::string, Value> old_values;
  for (const RecipeKey& key : RecipeKeys(before)) old_values[key.path()] = key.value;
  std::vector<std::string> changed;
  for (const RecipeKey& key : RecipeKeys(after)) {
    const auto found = old_values.find(key.path());
    const bool same = found != old_values.end() && found->second == key.value;
    if (!same && key.on_resume == OnResume::kMustStay) changed.push_back(key.path());
  }
  return changed;
}

std::string RecipeReference(const RecipeCatalogues& catalogues) {
  std::string text(kIntroduction);
  std::string_view table = "none yet";
  for (const RecipeKey& key : RecipeKeys(Recipe())) {
    if (key.table != table) {
      table = key.table;
      const std::string title = table.empty() ? "Top level" : fmt::format("[{}]", table);
      text += fmt::format("\n## {}\n\n{}.\n\n{}", title, key.table_doc, kHeader);
    }
    text += KeyRow(key);
  }
  for (const std::string_view kind : {"objective", "optimizer"}) {
    for (const EntryInfo* entry : catalogues.Of(kind)) {
      text += fmt::format("\n## [{}] name = \"{}\"\n\n{} ({}).\n\n{}", kind, entry->name,
                          entry->summary, entry->source, ParamTable(entry->params));
    }
  }
  return text;
}

std::string ParamTable(std::span<const ParamInfo> params) {
  std::string text(kHeader);
  for (const ParamInfo& param : params) text += KeyRow({.info = param, .value = DefaultOf(param)});
  return text;
}

}  // namespace tandem::config
