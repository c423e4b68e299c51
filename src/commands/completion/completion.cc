#include "commands/completion/completion.h"

#include <algorithm>
#include <string_view>

#include "commands/catalogues.h"
#include "config/recipe/recipe_text.h"

namespace tandem::app {
namespace {

using Kind = ValueCompletion::Kind;

// Splits "text|json" into words.
std::vector<std::string> Split(std::string_view choices) {
  std::vector<std::string> words;
  while (!choices.empty()) {
    const size_t end = std::min(choices.find('|'), choices.size());
    words.emplace_back(choices.substr(0, end));
    choices.remove_prefix(std::min(end + 1, choices.size()));
  }
  return words;
}

bool IsInCapitals(std::string_view value, std::string_view name) {
  return std::equal(value.begin(), value.end(), name.begin(), name.end(), [](char v, char n) {
    return v == (n >= 'a' && n <= 'z' ? static_cast<char>(n - 32) : n);
  });
}

std::vector<std::string> NamesOf(const config::Catalogue& catalogue) {
  std::vector<std::string> names;
  for (const config::EntryInfo* entry : catalogue.entries) names.emplace_back(entry->name);
  return names;
}

std::vector<std::string> RecipeKeys(std::string_view end) {
  std::vector<std::string> keys;
  for (const config::RecipeKey& key : config::DocumentedKeys()) {
    keys.push_back(key.path() + std::string(end));
  }
  return keys;
}

// Returns the names that `tandem list` takes.
std::vector<std::string> CatalogueNames() {
  std::vector<std::string> names;
  for (const config::Catalogue& catalogue : AllCatalogues()) names.emplace_back(catalogue.name);
  names.emplace_back("keys");
  return names;
}

// Returns the names that `tandem explain` takes, without the bare names of keys.
std::vector<std::string> ExplainedNames() {
  std::vector<std::string> names = {"recipe"};
  for (const config::Catalogue& catalogue : AllCatalogues()) {
    const std::vector<std::string> entries = NamesOf(catalogue);
    names.insert(names.end(), entries.begin(), entries.end());
  }
  const std::vector<std::string> keys = RecipeKeys("");
  names.insert(names.end(), keys.begin(), keys.end());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

ValueCompletion CompletionOf(const FlagDescription& flag) {
  const std::string& value = flag.value;
  if (value.empty() || value == "INT" || value == "NUMBER") return {Kind::kNothing, {}};
  if (std::any_of(value.begin(), value.end(), [](char c) { return c >= 'a' && c <= 'z'; })) {
    return {Kind::kWords, Split(value)};
  }
  if (value == "FOLDER" || value == "MODEL|INDEX") return {Kind::kFolders, {}};
  if (value == "CATALOGUE") return {Kind::kWords, CatalogueNames()};
  if (value == "NAME") return {Kind::kWords, ExplainedNames()};
  if (value == "KEY=VALUE") return {Kind::kKeys, RecipeKeys("=")};
  for (const config::Catalogue& catalogue : AllCatalogues()) {
    if (value == "KIND" && catalogue.name == "indexes") return {Kind::kWords, NamesOf(catalogue)};
    if (IsInCapitals(value, catalogue.entry)) return {Kind::kWords, NamesOf(catalogue)};
    if (IsInCapitals(value, catalogue.name)) return {Kind::kList, NamesOf(catalogue)};
  }
  return {Kind::kFiles, {}};
}

std::vector<std::string> QuotedRoutes(const CommandDescription& command) {
  std::vector<std::string> routes;
  for (const CommandDescription& one : command.commands) {
    routes.push_back("\"" + one.Route() + "\"");
    const std::vector<std::string> more = QuotedRoutes(one);
    routes.insert(routes.end(), more.begin(), more.end());
  }
  return routes;
}

}  // namespace tandem::app
