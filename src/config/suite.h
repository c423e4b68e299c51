// A suite: which models `tandem evaluate` measures on which data sets, as a TOML file.
//
//   measures = ["ndcg@10", "auc"]
//   [[model]]
//   path = "models/all-MiniLM-L6-v2"
//   [[set]]
//   path = "data/cranfield"
//   split = "test"
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "config/param.h"
#include "config/recipe/recipe_parse.h"

namespace tandem::config {

struct SuiteModel {
  std::string path;                         // folder
  std::optional<std::string> name;          // none: made from the path
  std::optional<std::string> query_prompt;  // as --prompt; none: the model's
};

struct SuiteSet {
  std::string path;                            // BEIR folder
  std::optional<std::string> name;             // none: made from the path
  std::optional<std::string> split;            // none: --split, else test
  std::optional<std::string> candidates;       // TREC run; none: the whole corpus is ranked
  std::optional<int64_t> pool;                 // documents; none: --pool, else the whole corpus
  std::optional<std::string> query_prompt;     // of any model; none: the model's
  std::optional<std::string> document_prompt;  // likewise
};

struct Suite {
  Strings measures;  // empty: those of the command
  std::vector<SuiteModel> models;
  std::vector<SuiteSet> sets;
};

struct LoadedSuite {
  Suite suite;
  std::string file;
  RecipePositions positions;

  // An error at the place where `key` ("set.2.split") was given, else at the file.
  RecipeError ErrorAt(std::string_view key, std::string_view problem) const;
};

// Throws RecipeError with the position as LoadRecipe does: unknown keys, wrong types, missing keys,
// no set, `pool` or prompts beside `candidates`. A missing file is a UsageError.
LoadedSuite LoadSuite(const std::filesystem::path& file);
// Parses a suite from text; `name` stands for the file in messages.
LoadedSuite ParseSuite(std::string_view text, std::string_view name);

}  // namespace tandem::config
