#include "commands/compare/trained_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/files/files.h"
#include "report/records/run_log.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSeed = "seed-";
constexpr const char* kRecipe = "recipe.resolved.toml";

std::optional<int64_t> SeedOf(const std::string& name) {
  if (!name.starts_with(kSeed)) return std::nullopt;
  int64_t seed = 0;
  const char* const end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data() + kSeed.size(), end, seed);
  if (error != std::errc() || stop != end) return std::nullopt;
  return seed;
}

// The recipe of the run that a model folder, RUN/model, comes from, but for its seed and the
// comments on the machine; "": it comes from no run.
std::string RecipeOf(const std::string& model) {
  const fs::path path = fs::absolute(model).lexically_normal();
  const fs::path folder = path.has_filename() ? path : path.parent_path();
  const fs::path recipe = folder.parent_path() / kRecipe;
  std::error_code error;
  if (folder.filename() != "model" || !fs::is_regular_file(recipe, error)) return "";
  std::istringstream lines(ReadFile(recipe));
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#') && !line.starts_with("seed =")) kept += line + "\n";
  }
  return kept;
}

// The numbers of the seeds of each system; empty ones where it is no folder of seeds.
std::vector<size_t> SeedsOf(const std::vector<std::string>& systems) {
  std::vector<size_t> counts;
  for (const std::string& system : systems) counts.push_back(ModelsOfSeeds(system).size());
  return counts;
}

}  // namespace

std::vector<std::string> ModelsOfSeeds(const std::string& folder) {
  std::map<int64_t, std::string> models;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::optional<int64_t> seed = SeedOf(entry.path().filename().native());
    if (!seed || !fs::exists(entry.path() / kRecipe, error)) continue;
    models[*seed] = (entry.path() / "model").native();
    const fs::path metrics = entry.path() / "metrics.jsonl";
    if (fs::is_directory(models[*seed], error) && report::ReadRunLog(metrics).finished) continue;
    throw UsageError(
        fmt::format("{}: has no model, or no metrics.jsonl that says that the run finished; train "
                    "it to its end (tandem train --seeds, with --resume)",
                    entry.path().native()));
  }
  std::vector<std::string> paths;
  for (auto& [seed, path] : models) paths.push_back(std::move(path));
  return paths;
}

std::string WhatIsCompared(const std::vector<std::string>& systems) {
  const std::vector<size_t> seeds = SeedsOf(systems);
  const auto has_several = [](size_t count) { return count > 1; };
  if (std::all_of(seeds.begin(), seeds.end(), has_several)) {
    return "recipes are compared: a query's value is the mean over a recipe's seeds, the test is "
           "the paired randomisation test of these means over queries, and intervals resample "
           "queries and seeds; a difference is seen where both agree";
  }
  if (std::any_of(seeds.begin(), seeds.end(), has_several)) {
    return "some systems are recipes with several seeds and others single models: of the latter "
           "nothing is known about other seeds";
  }
  std::set<std::string> recipes;
  size_t trained = 0;
  for (const std::string& system : systems) {
    const std::string recipe = RecipeOf(system);
    if (recipe.empty()) continue;
    ++trained;
    recipes.insert(recipe);
  }
  if (trained < 2) return "";
  return fmt::format(
      "trained models are compared, not recipes{}: the test says whether they differ on other "
      "queries of the kind, not whether they would under other seeds; tandem train --seeds 3 "
      "trains several, and compare takes their folders",
      recipes.size() < trained ? " (some are runs of one recipe)" : "");
}

}  // namespace tandem::app
