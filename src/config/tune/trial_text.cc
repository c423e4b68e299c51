#include "config/tune/trial_text.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <sstream>
#include <utility>

#include "config/recipe/recipe_text.h"
#include "config/tune/search_keys.h"

namespace tandem::config {
namespace {

// Pairs of keys of which a recipe may have one.
constexpr std::pair<std::string_view, std::string_view> kEitherKey[] = {
    {"train.epochs", "train.steps"},
    {"train.batch", "train.batch_tokens"},
    {"validation.data", "validation.holdout"},
    {"data.positive_grade", "data.binarize_at"},
    {"data.train", "data.source"}};

void EraseKey(toml::table& table, std::string_view path) {
  const size_t dot = path.find('.');
  if (dot == std::string_view::npos) {
    table.erase(path);
    return;
  }
  toml::node* const inner = table.get(path.substr(0, dot));
  if (inner == nullptr || !inner->is_table()) return;
  EraseKey(*inner->as_table(), path.substr(dot + 1));
  if (inner->as_table()->empty()) table.erase(path.substr(0, dot));  // [mining] alone is an error
}

bool HasKey(const toml::table& table, std::string_view path) {
  const size_t dot = path.find('.');
  const toml::node* const node = table.get(path.substr(0, dot));
  if (node == nullptr || dot == std::string_view::npos) return node != nullptr;
  return node->is_table() && HasKey(*node->as_table(), path.substr(dot + 1));
}

// Puts what `from` has into `into`. A table of numbers changes tables of a list.
void MergeInto(toml::node& into, const toml::table& from) {
  for (const auto& [key, node] : from) {
    if (toml::array* const list = into.as_array()) {
      size_t number = 0;
      std::from_chars(key.str().data(), key.str().data() + key.str().size(), number);
      if (number >= 1 && number <= list->size() && node.is_table()) {
        MergeInto((*list)[number - 1], *node.as_table());
      }
      continue;
    }
    toml::table& table = *into.as_table();
    toml::node* const there = table.get(key);
    const bool both =
        there != nullptr && node.is_table() && (there->is_table() || there->is_array());
    if (both) {
      MergeInto(*there, *node.as_table());
    } else {
      table.insert_or_assign(key, node);
    }
  }
}

void Override(toml::table& table, const toml::table& with) {
  for (const auto& [first, second] : kEitherKey) {
    if (HasKey(with, first)) EraseKey(table, second);
    if (HasKey(with, second)) EraseKey(table, first);
  }
  MergeInto(table, with);
}

// The keys below `table`, but those of tables in lists.
void PathsOf(const toml::table& table, const std::string& prefix, std::vector<std::string>* paths) {
  for (const auto& [key, node] : table) {
    const std::string path =
        prefix.empty() ? std::string(key.str()) : fmt::format("{}.{}", prefix, key.str());
    if (const toml::table* const inner = node.as_table()) {
      PathsOf(*inner, path, paths);
    } else {
      paths->push_back(path);
    }
  }
}

std::string TextOf(const toml::table& table) {
  std::ostringstream text;
  text << toml::toml_formatter(
      table, toml::toml_formatter::default_flags & ~toml::format_flags::allow_literal_strings);
  return text.str() + "\n";
}

// Erases the parameters of other entries than the one that `table` names in its recipe.
void EraseForeign(toml::table& table, const Catalogue& catalogue) {
  Recipe defaults;
  const std::string name =
      table["name"].value_or(std::string(EntryOf(defaults, catalogue.table)->name));
  const std::span<const EntryInfo* const> entries = catalogue.entries;
  const EntryInfo* const own = FindEntry(entries, name);
  if (own == nullptr) return;  // which reading the recipe will say
  for (const EntryInfo* entry : entries) {
    for (const ParamInfo& param : entry->params) {
      if (!Params(own->params).Knows(param.name)) table.erase(param.name);
    }
  }
}

// Erases the keys that do nothing, and those that the recipe's entries do not have.
void EraseIdle(toml::table& table, RecipeCatalogues catalogues) {
  for (const Catalogue& catalogue : catalogues) {
    toml::node* const node = catalogue.table.empty() ? nullptr : table.get(catalogue.table);
    if (node != nullptr && node->is_table()) EraseForeign(*node->as_table(), catalogue);
  }
  const Recipe recipe =
      ParseRecipe(TextOf(table), "recipe", {}, catalogues, IdleKeys::kAccept).recipe;
  std::set<std::string> useful;
  for (const RecipeKey& key : RecipeKeys(recipe, catalogues)) {
    if (key.idle.empty()) useful.insert(key.path());
  }
  std::vector<std::string> paths;
  PathsOf(table, "", &paths);
  for (const std::string& path : paths) {
    if (path != "data.source" && !useful.contains(path)) EraseKey(table, path);
  }
}

}  // namespace

std::string TextWithoutTune(std::span<const TomlLayer> layers, RecipeCatalogues catalogues) {
  toml::table table = layers.front().table;
  for (const TomlLayer& layer : layers.subspan(1)) Override(table, layer.table);
  table.erase("tune");
  if (layers.size() > 1) EraseIdle(table, catalogues);
  return TextOf(table);
}

std::string TextWith(const std::string& text, Assignment* assignment, RecipeCatalogues catalogues) {
  toml::table table = ParseFileLayer(text, "recipe").table;
  for (const auto& [key, value] : *assignment) {
    Override(table, ParseSetLayer(fmt::format("{}={}", key, value)).table);
  }
  EraseIdle(table, catalogues);
  std::erase_if(*assignment, [&table](const auto& one) { return !HasKey(table, one.first); });
  return TextOf(table);
}

}  // namespace tandem::config
