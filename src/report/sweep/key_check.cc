// Checks the keys that a reader asks for.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/suggest.h"
#include "config/recipe/recipe_text.h"
#include "report/sweep/sweep.h"

namespace tandem::report {
namespace {

std::set<std::string> KnownPaths(config::RecipeCatalogues catalogues) {
  std::set<std::string> paths;
  for (const config::RecipeKey& key : config::DocumentedKeys()) paths.insert(key.path());
  for (const config::Catalogue& catalogue : catalogues) {
    if (catalogue.table.empty()) continue;
    for (const config::EntryInfo* entry : catalogue.entries) {
      for (const config::ParamInfo& param : entry->params) {
        paths.insert(fmt::format("{}.{}", catalogue.table, param.name));
      }
    }
  }
  return paths;
}

// "data.source.path" of "data.source.2.path": the tables of a list are numbered in a recipe.
std::string WithoutNumbers(const std::string& path) {
  std::string plain;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('.', at), path.size());
    const std::string part = path.substr(at, end - at);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
    if (!number) plain += (plain.empty() ? "" : ".") + part;
    at = end + 1;
  }
  return plain;
}

// The same last part in another table, or the nearest path.
std::string Suggestion(const std::string& path, const std::set<std::string>& known) {
  const std::string leaf = path.substr(path.rfind('.') + 1);
  for (const std::string& one : known) {
    if (one == leaf || one.ends_with("." + leaf)) return fmt::format("; did you mean {}?", one);
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  return DidYouMean(path, names);
}

}  // namespace

void CheckSweepKey(std::string_view flag, const std::string& path,
                   config::RecipeCatalogues catalogues) {
  const std::set<std::string> known = KnownPaths(catalogues);
  if (!known.contains(WithoutNumbers(path))) {
    throw UsageError(
        fmt::format("{}: {} is unknown: no recipe has it{}", flag, path, Suggestion(path, known)));
  }
  if (IsAsideOfGroups(path)) {
    throw UsageError(fmt::format(
        "{}: {} does not tell groups of runs apart: runs that differ in it alone are one group",
        flag, path));
  }
}

}  // namespace tandem::report
