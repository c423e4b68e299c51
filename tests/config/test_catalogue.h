// A small objective catalogue for recipe tests, so that they do not depend on the real one.
#pragma once

#include <string>
#include <vector>

#include "config/recipe_parse.h"

namespace tandem::config {

inline constexpr ChoiceInfo kTestShapes[] = {{"round", "no corners"}, {"square", "four"}};
inline constexpr ParamInfo kTestParams[] = {
    Number("temperature", "score units", "divides scores", 0.02, {1e-4, 10}),
    OptionalNumber("bias", "", "added to scores", "told from the data", {-100, 100}),
    Integer("count", "things", "how many", 3, {1, 9}),
    Boolean("strict", "whether to be strict", true),
    Choice("shape", "what it looks like", "round", kTestShapes)};
inline constexpr EntryInfo kSoft = {"soft", "a soft objective", "nobody 2020", kTestParams};
inline constexpr EntryInfo kPlain = {"plain", "an objective without parameters", "nobody 2021", {}};
inline constexpr const EntryInfo* kTestObjectives[] = {&kSoft, &kPlain};

inline constexpr ParamInfo kTestStepParams[] = {Number("momentum", "", "what is kept", 0.9, {0, 1}),
                                                Boolean("nesterov", "looks ahead", false)};
inline constexpr EntryInfo kAdamW = {"adamw", "the default", "nobody 2022", kTestStepParams};
inline constexpr EntryInfo kSgd = {"sgd", "without parameters", "nobody 1951", {}};
inline constexpr const EntryInfo* kTestOptimizers[] = {&kAdamW, &kSgd};
inline constexpr RecipeCatalogues kTestCatalogues = {kTestObjectives, kTestOptimizers};

// The shortest valid recipe, on lines 1 to 3.
inline const std::string kLeast =
    "model.base = \"m\"\n"
    "data.train = \"d\"\n"
    "objective.name = \"soft\"\n";

inline LoadedRecipe ParseTest(const std::string& text, const std::vector<std::string>& sets = {}) {
  return ParseRecipe(text, "r.toml", sets, kTestCatalogues);
}

// The message of the error that ParseTest throws; "" where it throws none.
inline std::string ParseProblem(const std::string& text,
                                const std::vector<std::string>& sets = {}) {
  try {
    ParseTest(text, sets);
    return "";
  } catch (const RecipeError& error) {
    return error.what();
  }
}

}  // namespace tandem::config
