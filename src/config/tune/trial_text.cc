#include "config/tune/trial_text.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <string>
#include <utility>

#include "config/recipe/recipe_text.h"
#include "config/recipe/sources.h"
#include "config/tune/search_keys.h"

namespace tandem::config {
namespace {

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

// A value in one line. Numbers have the shortest digits that read back to the same bits.
std::string ValueText(const toml::node& node) {
  if (const auto* const number = node.as_floating_point()) return FormatValue(number->get());
  if (const toml::array* const list = node.as_array()) {
    std::string text;
    for (const toml::node& element : *list) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ValueText(element));
    }
    return fmt::format("[{}]", text);
  }
  return FormatValue(ValueOf(node, ParamKind::kString));
}

bool IsListOfTables(const toml::node& node) {
  const toml::array* const list = node.as_array();
  return list != nullptr && !list->empty() && list->is_homogeneous<toml::table>();
}

// The keys of a table in the order of their names, then the tables in it, each under its header.
void AddTable(const toml::table& table, const std::string& path, std::string* text) {
  for (const auto& [key, node] : table) {
    if (node.is_table() || IsListOfTables(node)) continue;
    *text += fmt::format("{} = {}\n", key.str(), ValueText(node));
  }
  for (const auto& [key, node] : table) {
    const std::string inner =
        path.empty() ? std::string(key.str()) : fmt::format("{}.{}", path, key.str());
    if (const toml::table* const of_key = node.as_table()) {
      *text += fmt::format("\n[{}]\n", inner);
      AddTable(*of_key, inner, text);
    } else if (IsListOfTables(node)) {
      for (const toml::node& element : *node.as_array()) {
        *text += fmt::format("\n[[{}]]\n", inner);
        AddTable(*element.as_table(), inner, text);
      }
    }
  }
}

std::string TextOf(const toml::table& table) {
  std::string text;
  AddTable(table, "", &text);
  return text;
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

// The keys of the table's recipe, in which some may do nothing. Erases those that its entries do
// not have.
std::vector<RecipeKey> KeysOf(toml::table& table, RecipeCatalogues catalogues) {
  for (const Catalogue& catalogue : catalogues) {
    toml::node* const node = catalogue.table.empty() ? nullptr : table.get(catalogue.table);
    if (node != nullptr && node->is_table()) EraseForeign(*node->as_table(), catalogue);
  }
  const Recipe recipe =
      ParseRecipe(TextOf(table), "recipe", {}, catalogues, IdleKeys::kAccept).recipe;
  return RecipeKeys(recipe, catalogues);
}

// Erases the keys that do nothing, and those that the recipe's entries do not have.
void EraseIdle(toml::table& table, RecipeCatalogues catalogues) {
  std::set<std::string> useful;
  for (const RecipeKey& key : KeysOf(table, catalogues)) {
    if (key.idle.empty()) useful.insert(key.path());
  }
  std::vector<std::string> paths;
  PathsOf(table, "", &paths);
  for (const std::string& path : paths) {
    if (path != "data.source" && !useful.contains(path)) EraseKey(table, path);
  }
}

toml::table TableWith(const std::string& text, const Assignment& assignment) {
  toml::table table = ParseFileLayer(text, "recipe").table;
  for (const auto& [key, value] : assignment) {
    if (value.empty()) {
      EraseKey(table, key);
      continue;
    }
    Override(table, ParseSetLayer(fmt::format("{}={}", key, value)).table);
  }
  return table;
}

// A data set of training: what `from` says of one under these keys.
toml::table SourceOf(const toml::table& from, const char* path) {
  toml::table source;
  if (const toml::node* const node = from.get(path)) source.insert_or_assign("path", *node);
  for (const char* key : {"format", "split", "query_prompt", "document_prompt"}) {
    if (const toml::node* const node = from.get(key)) source.insert_or_assign(key, *node);
  }
  return source;
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
  toml::table table = TableWith(text, *assignment);
  EraseIdle(table, catalogues);
  std::erase_if(*assignment, [&table](const auto& one) { return !HasKey(table, one.first); });
  return TextOf(table);
}

std::string WhyIdleIn(const std::string& text, const Assignment& assignment, std::string_view path,
                      RecipeCatalogues catalogues) {
  toml::table table = TableWith(text, assignment);
  for (const RecipeKey& key : KeysOf(table, catalogues)) {
    if (key.path() == path) return key.idle;
  }
  return "";
}

std::string TextWithValidationTrained(const std::string& text, RecipeCatalogues catalogues) {
  const Recipe recipe = ParseRecipe(text, "recipe", {}, catalogues).recipe;
  toml::table table = ParseFileLayer(text, "recipe").table;
  if (recipe.validation.data) {
    toml::table validation = SourceOf(*table.get("validation")->as_table(), "data");
    if (!HoldsLines(*recipe.validation.data)) {
      validation.insert_or_assign("split", recipe.validation.split);
    }
    toml::table& data = *table.get("data")->as_table();
    if (data.get("source") == nullptr) {
      data.insert_or_assign("source", toml::array{SourceOf(data, "train")});
      for (const char* key : {"train", "format", "split"}) data.erase(key);
    }
    data.get("source")->as_array()->push_back(validation);
  }
  table.erase("validation");  // held-out queries are trained on without it
  EraseIdle(table, catalogues);
  return TextOf(table);
}

}  // namespace tandem::config
