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

struct KnownKeys {
  std::set<std::string> paths;
  std::set<std::string> lists;  // "data.source", whose tables are numbered in a recipe
};

KnownKeys KeysOfRecipes(config::RecipeCatalogues catalogues) {
  KnownKeys known;
  std::set<std::string>& paths = known.paths;
  for (const config::RecipeKey& key : config::DocumentedKeys()) {
    paths.insert(key.path());
    if (!key.list.empty()) known.lists.insert(key.list);
  }
  for (const config::Catalogue& catalogue : catalogues) {
    if (catalogue.table.empty()) continue;
    for (const config::EntryInfo* entry : catalogue.entries) {
      for (const config::ParamInfo& param : entry->params) {
        paths.insert(fmt::format("{}.{}", catalogue.table, param.name));
      }
    }
  }
  return known;
}

// "data.source.path" of "data.source.2.path"; a path that is in no list as it is.
std::string WithoutNumber(const std::string& path, const std::set<std::string>& lists) {
  for (const std::string& list : lists) {
    if (!path.starts_with(list + ".")) continue;
    const size_t begin = list.size() + 1;
    const size_t end = std::min(path.find_first_not_of("0123456789", begin), path.size());
    if (end > begin && end < path.size() && path[end] == '.' && path[begin] != '0') {
      return list + path.substr(end);
    }
  }
  return path;
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
  if (path.empty()) {
    throw UsageError(fmt::format(
        "{}: is empty; expected a key of recipes, such as optimizer.learning_rate", flag));
  }
  const KnownKeys known = KeysOfRecipes(catalogues);
  if (!known.paths.contains(WithoutNumber(path, known.lists))) {
    throw UsageError(fmt::format("{}: {} is unknown: no recipe has it{}", flag, path,
                                 Suggestion(path, known.paths)));
  }
  if (IsAsideOfGroups(path)) {
    throw UsageError(fmt::format(
        "{}: {} does not tell groups of runs apart: runs that differ in it alone are one group",
        flag, path));
  }
}

}  // namespace tandem::report
