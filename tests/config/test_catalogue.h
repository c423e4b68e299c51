// Small catalogues for recipe tests, so that they do not depend on the real ones. Every one of the
// four has an entry with parameters of its own.
#pragma once

#include <string>
#include <vector>

#include "config/recipe/recipe_parse.h"

namespace tandem::config {

inline constexpr ChoiceInfo kTestShapes[] = {{"round", "no corners"}, {"square", "four"}};
inline constexpr ParamInfo kTestParams[] = {
    Number("temperature", "score units", "divides scores", 0.02, {1e-4, 10}),
    OptionalNumber("bias", "", "added to scores", "told from the data", {-100, 100}),
    Integer("count", "things", "how many", 3, {1, 9}),
    Boolean("strict", "whether to be strict", true),
    Choice("shape", "what it looks like", "round", kTestShapes),
    Number("corner_radius", "", "how sharp a square is", 0.5, {0, 1})
        .Needs("shape = \"square\"",
               [](const Params& params) { return params.String("shape") == "square"; })
        .Elsewhere("other programs: `radius`")};
inline constexpr EntryInfo kSoft = {"soft", "a soft objective", "nobody 2020", kTestParams};
inline constexpr EntryInfo kPlain = {"plain", "an objective without parameters", "nobody 2021", {}};
inline constexpr IdleKey kIdleBesideTaught[] = {{"data.masks", "masks nothing"},
                                                {"data.swap_labels", "has no labels"},
                                                {"data.flip_labels", "has no labels"}};
inline constexpr EntryInfo kTaught = {.name = "taught",
                                      .summary = "an objective that other keys do not suit",
                                      .source = "nobody 2024",
                                      .params = {},
                                      .idle_keys = kIdleBesideTaught};

inline constexpr ParamInfo kTestStepParams[] = {Number("momentum", "", "what is kept", 0.9, {0, 1}),
                                                Boolean("nesterov", "looks ahead", false)};
inline constexpr EntryInfo kAdamW = {"adamw", "the default", "nobody 2022", kTestStepParams};
inline constexpr EntryInfo kSgd = {"sgd", "without parameters", "nobody 1951", {}};
inline constexpr EntryInfo kUniform = {"uniform", "all alike", "nobody 1900", {}};
inline constexpr ParamInfo kTestSamplerParams[] = {Number("keep", "", "share kept", 0.25, {0, 1})};
inline constexpr EntryInfo kPruning = {"pruning", "leaves some out", "nobody 2023",
                                       kTestSamplerParams};
inline constexpr EntryInfo kLinear = {"linear", "down to 0", "nobody 1901", {}};
inline constexpr EntryInfo kConstant = {"constant", "stays", "nobody 1902", {}};
inline constexpr ParamInfo kTestScheduleParams[] = {
    Integer("cycles", "cycles", "how often it restarts", 1, {1, 99})};
inline constexpr EntryInfo kCyclic = {"cyclic", "restarts", "nobody 1903", kTestScheduleParams};

inline const std::vector<Catalogue> kTestCatalogues = {
    {"samplers", "sampler", "sampling", "which come next", {&kUniform, &kPruning}},
    {"objectives", "objective", "objective", "what is minimised", {&kSoft, &kPlain, &kTaught}},
    {"optimizers", "optimizer", "optimizer", "how weights move", {&kAdamW, &kSgd}},
    {"schedules", "schedule", "schedule", "how the rate moves", {&kLinear, &kConstant, &kCyclic}},
    {"measures", "measure", "", "what no recipe table names", {&kPlain}}};

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
