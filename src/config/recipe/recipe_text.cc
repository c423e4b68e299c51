#include "config/recipe/recipe_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <utility>

#include "config/recipe/recipe_values.h"

namespace tandem::config {
namespace {

class KeyCollector {
 public:
  // `documented`: a list that has no table gets one, for its keys.
  explicit KeyCollector(const Recipe& recipe, bool documented = false)
      : recipe_(recipe), documented_(documented) {}

  void Table(std::string_view path, std::string_view doc) {
    table_ = path;
    table_doc_ = doc;
  }

  template <typename T, typename Visit>
  void List(std::string_view path, const std::vector<T>& items, const Visit& visit) {
    list_ = path;
    for (size_t i = 0; i < items.size(); ++i) visit(items[i], fmt::format("{}.{}", path, i + 1));
    const T item;
    if (documented_ && items.empty()) visit(item, path);
    list_.clear();
  }

  template <typename T>
  void Field(std::string_view name, const T& value, const FieldInfo& field) {
    RecipeKey key{.table = table_,
                  .table_doc = table_doc_,
                  .info = MakeParamInfo<T>(name, field),
                  .value = ValueOf(value, field.unit),
                  .required = field.required,
                  .on_resume = field.on_resume,
                  .condition = field.condition.text,
                  .list = list_};
    if constexpr (std::is_same_v<T, std::string>) {
      if (!field.choices.empty()) key.value = ValueOfChoice(value);
    }
    const bool idle = field.condition.holds != nullptr && !field.condition.holds(recipe_);
    if (idle) key.idle = fmt::format("it needs {}", field.condition.text);
    keys_.push_back(std::move(key));
  }

  void Entry(const EntryRecipe& entry, const FieldInfo& field) {
    Field("name", entry.name, field);
    keys_.back().names_entry = true;
    const std::span<const ParamInfo> infos = entry.params.infos();
    for (size_t i = 0; i < infos.size(); ++i) {
      const ParamCondition& condition = infos[i].condition;
      RecipeKey key{.table = table_,
                    .table_doc = table_doc_,
                    .info = infos[i],
                    .value = entry.params.value(i),
                    .condition = condition.text};
      const bool idle = condition.holds != nullptr && !condition.holds(entry.params);
      if (idle) key.idle = fmt::format("it needs {}", condition.text);
      keys_.push_back(std::move(key));
    }
  }

  std::vector<RecipeKey> Take() { return std::move(keys_); }

 private:
  const Recipe& recipe_;
  const bool documented_;
  std::string table_;
  std::string list_;  // of the table; "": it is in none
  std::string_view table_doc_;
  std::vector<RecipeKey> keys_;
};

// The entries that the recipe names, with their catalogues.
std::vector<std::pair<const Catalogue*, const EntryInfo*>> NamedEntries(
    const std::vector<RecipeKey>& keys, RecipeCatalogues catalogues) {
  std::vector<std::pair<const Catalogue*, const EntryInfo*>> named;
  for (const RecipeKey& key : keys) {
    const Catalogue* catalogue = key.names_entry ? FindCatalogue(catalogues, key.table) : nullptr;
    if (catalogue == nullptr) continue;
    const EntryInfo* entry = FindEntry(std::span<const EntryInfo* const>(catalogue->entries),
                                       std::get<std::string>(key.value));
    if (entry != nullptr) named.emplace_back(catalogue, entry);
  }
  return named;
}

std::string DefaultText(const RecipeKey& key) {
  if (key.required) return "required";
  const std::string value = FormatValue(key.value);
  return value.empty() ? std::string(key.info.unset_doc) : fmt::format("`{}`", value);
}

std::string KeyRow(const RecipeKey& key, RecipeCatalogues catalogues = {}) {
  std::string meaning = MeaningOf(key.info, key.condition);
  for (const ChoiceInfo& choice : key.info.choices) {
    meaning += fmt::format("; `{}`: {}", choice.name, choice.doc);
  }
  std::string type(KindName(key.info.kind));
  if (const Catalogue* catalogue = FindCatalogue(catalogues, key.table);
      key.names_entry && catalogue != nullptr) {
    type = fmt::format(
        "one of `{}`",
        fmt::join(EntryNames(std::span<const EntryInfo* const>(catalogue->entries)), "`, `"));
  } else if (key.info.choices.empty() && !FormatRange(key.info).empty()) {
    type = fmt::format("{} {}", type, FormatRange(key.info));
  }
  return fmt::format("| `{}` | {} | {} | {} |\n", key.info.name, type, DefaultText(key), meaning);
}

constexpr std::string_view kHeader = "| key | type | default | meaning |\n|---|---|---|---|\n";

// The text before the tables in docs/recipes.md.
constexpr std::string_view kIntroduction =
    R"(# Recipes

A recipe is a TOML file that says all about a training run. To try one and to run it:

```
tandem train recipe.toml --check
tandem train recipe.toml --set train.batch=32
```

The shortest recipe that trains; every other key has a default:

```toml
output = "runs/mine"

[model]
base = "models/all-MiniLM-L6-v2"

[data]
train = "data/mine"

[objective]
name = "infonce"
```

`tandem explain KEY` prints what is said here of one key (`tandem explain temperature`), and
`tandem explain recipe` prints this page.

- `--set KEY=VALUE` wins over the file. VALUE is TOML, or else a bare string.
- A quantity is a share (`"5%"`) or a count (`"500 steps"`, `500`). Integers serve as numbers.
- Paths are relative to the current directory.
- A key that is unknown, or that does nothing in this recipe, is an error that says why. "Needs"
  in a table says when a key does something. Where `--set` takes a key of the file out of use
  (`--set train.steps=100` over `epochs`), the file's key is dropped. Where it names another
  objective, sampler, optimizer or schedule, so are the file's parameters of the one before that
  the new one does not have; a line says which.
)";

// A section for an entry that has parameters of its own.
std::string EntrySection(const Catalogue& catalogue, const EntryInfo& entry) {
  if (entry.params.empty()) return "";
  return fmt::format("\n## [{}] name = \"{}\"\n\n{}\n({}).\n\n{}", catalogue.table, entry.name,
                     entry.summary, entry.source, ParamTable(entry.params));
}

}  // namespace

std::string RecipeKey::path() const {
  return table.empty() ? std::string(info.name) : fmt::format("{}.{}", table, info.name);
}

std::string RecipeKey::header() const {
  if (!list.empty()) return fmt::format("[[{}]]", list);
  return table.empty() ? "" : fmt::format("[{}]", table);
}

std::vector<RecipeKey> DocumentedKeys() {
  const Recipe recipe;
  KeyCollector collector(recipe, /*documented=*/true);
  VisitRecipe(recipe, collector);
  return collector.Take();
}

std::vector<RecipeKey> RecipeKeys(const Recipe& recipe, RecipeCatalogues catalogues) {
  KeyCollector collector(recipe);
  VisitRecipe(recipe, collector);
  std::vector<RecipeKey> keys = collector.Take();
  for (const auto& [catalogue, entry] : NamedEntries(keys, catalogues)) {
    for (RecipeKey& key : keys) {
      const std::string_view reason = IdleReason(*entry, key.path());
      if (reason.empty() || !key.idle.empty()) continue;
      key.idle = fmt::format("{} {} {}", catalogue->entry, entry->name, reason);
    }
  }
  return keys;
}

std::string FormatRecipe(const Recipe& recipe, const Recipe& judged, RecipeCatalogues catalogues) {
  std::string text;
  std::string_view table;
  const std::vector<RecipeKey> judged_keys = RecipeKeys(judged, catalogues);
  const std::vector<RecipeKey> keys = RecipeKeys(recipe, catalogues);
  for (size_t i = 0; i < keys.size(); ++i) {
    const RecipeKey& key = keys[i];
    const std::string value = FormatValue(key.value);
    if (value.empty() || !judged_keys[i].idle.empty()) continue;
    if (key.table != table) {
      text += fmt::format("{}{}\n", text.empty() ? "" : "\n", key.header());
      table = key.table;
    }
    text += fmt::format("{} = {}\n", key.info.name, value);
  }
  return text;
}

std::string FormatRecipe(const Recipe& recipe, RecipeCatalogues catalogues) {
  return FormatRecipe(recipe, recipe, catalogues);
}

std::vector<std::string> ChangedKeys(const Recipe& before, const Recipe& after,
                                     RecipeCatalogues catalogues) {
  std::map<std::string, Value> old_values;
  for (const RecipeKey& key : RecipeKeys(before)) old_values[key.path()] = key.value;
  std::vector<std::string> changed;
  for (const RecipeKey& key : RecipeKeys(after, catalogues)) {
    if (!key.idle.empty() || key.on_resume == OnResume::kMayChange) continue;
    const auto found = old_values.find(key.path());
    const bool same = found != old_values.end() && found->second == key.value;
    if (!same) changed.push_back(key.path());
  }
  return changed;
}

std::string MeaningOf(const ParamInfo& info, std::string_view condition) {
  std::string text(info.doc);
  if (!condition.empty()) text += fmt::format("; needs {}", condition);
  if (!info.elsewhere.empty()) text += fmt::format("; {}", info.elsewhere);
  return text;
}

std::string RecipeReference(RecipeCatalogues catalogues) {
  std::string text(kIntroduction);
  std::string_view table = "none yet";
  const std::vector<RecipeKey> keys = DocumentedKeys();
  for (const RecipeKey& key : keys) {
    if (key.table != table) {
      table = key.table;
      const std::string title = table.empty() ? "Top level" : key.header();
      text += fmt::format("\n## {}\n\n{}.\n\n{}", title, key.table_doc, kHeader);
    }
    text += KeyRow(key, catalogues);
  }
  for (const Catalogue& catalogue : catalogues) {
    if (catalogue.table.empty()) continue;
    for (const EntryInfo* entry : catalogue.entries) text += EntrySection(catalogue, *entry);
  }
  return text;
}

std::string ParamTable(std::span<const ParamInfo> params) {
  std::string text(kHeader);
  for (const ParamInfo& param : params) {
    text += KeyRow({.info = param, .value = DefaultOf(param), .condition = param.condition.text});
  }
  return text;
}

}  // namespace tandem::config
