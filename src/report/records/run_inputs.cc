#include "report/records/run_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_problem.h"
#include "base/json/json_reader.h"
#include "config/recipe/recorded_recipes.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

std::string PlainPath(const std::string& path) {
  const fs::path plain = fs::path(path).lexically_normal();
  return (plain.has_filename() ? plain : plain.parent_path()).native();
}

void AddGivenPaths(const config::Recipe& recipe, RunInputs& inputs) {
  const auto add = [&](const std::string& key, const std::string& path) {
    if (!path.empty()) inputs.paths[key] = PlainPath(path);
  };
  add("model.base", recipe.model.base);
  add("model.document_base", recipe.model.document_base.value_or(""));
  add("model.adapter", recipe.model.adapter.value_or(""));
  add("data.train", recipe.data.train);
  add("validation.data", recipe.validation.data.value_or(""));
  for (size_t i = 0; i < recipe.data.sources.size(); ++i) {
    add(fmt::format("data.source.{}.path", i + 1), recipe.data.sources[i].path);
  }
  for (size_t i = 0; i < recipe.validation.sources.size(); ++i) {
    add(fmt::format("validation.source.{}.path", i + 1), recipe.validation.sources[i].path);
  }
}

// The state of the newest checkpoint that has one. All checkpoints of a run have its fingerprints.
std::optional<fs::path> NewestState(const fs::path& run) {
  std::optional<fs::path> newest;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(run / "checkpoints", error)) {
    const fs::path state = entry.path() / "state.json";
    if (fs::exists(state, error) && (!newest || *newest < state)) newest = state;
  }
  return newest;
}

std::optional<uint64_t> FingerprintIn(const Json& state, std::string_view key) {
  const Json* const found = state.is_object() ? state.Find(key) : nullptr;
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  // 0 stands for one that an earlier version did not keep.
  const auto fingerprint = found->get<uint64_t>();
  return fingerprint == 0 ? std::nullopt : std::optional(fingerprint);
}

void AddFingerprints(const fs::path& file, RunInputs& inputs, std::vector<std::string>& problems) {
  const std::string text = ReadFile(file);
  const std::optional<Json> state = ParseIfJson(text);
  if (!state) {
    problems.push_back(fmt::format("{} {}, so that the fingerprint of its data is not known",
                                   file.native(), JsonProblem(text)));
    return;
  }
  inputs.data = FingerprintIn(*state, "data_fingerprint");
  inputs.base = FingerprintIn(*state, "base_fingerprint");
}

}  // namespace

bool IsInputPath(std::string_view key) {
  constexpr std::string_view kKeys[] = {"model.base", "model.document_base", "model.adapter",
                                        "data.train", "validation.data"};
  if (std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys)) return true;
  return key.ends_with(".path") &&
         (key.starts_with("data.source.") || key.starts_with("validation.source."));
}

RunInputs ReadRunInputs(const fs::path& folder, config::RecipeCatalogues catalogues,
                        std::vector<std::string>& problems) {
  RunInputs inputs;
  const fs::path given = folder / "recipe.given.toml";
  if (fs::exists(given)) {
    try {
      AddGivenPaths(config::ReadGivenRecipe(ReadFile(given), given.native(), catalogues), inputs);
    } catch (const Error& error) {
      problems.push_back(
          fmt::format("where its data lay is not known, since its given recipe cannot be read: {}",
                      error.what()));
    }
  }
  if (const std::optional<fs::path> state = NewestState(folder)) {
    AddFingerprints(*state, inputs, problems);
  }
  return inputs;
}

}  // namespace tandem::report
