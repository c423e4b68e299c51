// Data and models that have one name: told apart by fingerprints, else by paths.
#include "report/sweep/input_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/sweep/recipe_groups.h"

namespace tandem::report {
namespace {

struct MadeInputs {
  std::string path;  // of the training data, which are called "mini" in the recipe
  std::optional<uint64_t> data = std::nullopt;
  std::string seed = "1";
  std::string base = "";
  std::string grade = "1";
};

RunRecord RunOn(const MadeInputs& made) {
  RunRecord run{.name = "run",
                .keys = {{"seed", {made.seed, std::nullopt}},
                         {"data.train", {"mini", std::nullopt}},
                         {"data.positive_grade", {made.grade, std::nullopt}},
                         {"model.base", {"model", std::nullopt}}},
                .validation = ValidationFacts{.data = "mini", .held_out = true}};
  if (!made.path.empty()) run.inputs.paths["data.train"] = made.path;
  if (!made.base.empty()) run.inputs.paths["model.base"] = made.base;
  run.inputs.data = made.data;
  return run;
}

std::vector<std::string> NamesOf(const std::vector<MadeInputs>& made,
                                 const std::string& key = "data.train") {
  std::vector<RunRecord> runs;
  for (const MadeInputs& one : made) runs.push_back(RunOn(one));
  std::vector<std::string> names;
  for (const KeyValues& keys : KeysWithInputNames(runs)) names.push_back(keys.at(key).text);
  return names;
}

using testing::ElementsAre;

TEST(InputNames, OtherPathsAreOtherDataNamedByWhatDiffers) {
  EXPECT_THAT(NamesOf({{"/x/A/mini"}, {"/x/B/mini"}, {"/x/A/mini"}}),
              ElementsAre("A/mini", "B/mini", "A/mini"));
  EXPECT_THAT(NamesOf({{"/x/A/set/mini"}, {"/x/B/set/mini"}}),
              ElementsAre("A/set/mini", "B/set/mini"));
  EXPECT_THAT(NamesOf({{"/x/A/mini"}, {"/x/A/mini"}}), ElementsAre("mini", "mini"));
}

TEST(InputNames, AFingerprintCountsMoreThanAPath) {
  EXPECT_THAT(NamesOf({{"/x/A/mini", 7}, {"/y/mini", 7}}), ElementsAre("mini", "mini"));
  EXPECT_THAT(NamesOf({{"/x/A/mini", 7}, {"/x/B/mini", 8}}), ElementsAre("A/mini", "B/mini"));
}

TEST(InputNames, DataWrittenAnewAtOnePathAreOthers) {
  const uint64_t first = 0x12345678'00000000, second = 0x9abcdef0'00000000;
  EXPECT_THAT(NamesOf({{"/x/mini", first}, {"/x/mini", second}}),
              ElementsAre("mini (fingerprint 12345678)", "mini (fingerprint 9abcdef0)"));
  EXPECT_THAT(NamesOf({{"", first}, {"", second}}),
              ElementsAre("mini (fingerprint 12345678)", "mini (fingerprint 9abcdef0)"));
  // Another recipe takes other parts of the same data.
  EXPECT_THAT(NamesOf({{"/x/mini", first}, {"/x/mini", second, "1", "", "2"}}),
              ElementsAre("mini", "mini"));
}

TEST(InputNames, ARunOfWhichOnlyTheNameIsKnownIsTheFirst) {
  EXPECT_THAT(NamesOf({{""}, {"/x/A/mini"}, {"/x/B/mini"}}),
              ElementsAre("A/mini", "A/mini", "B/mini"));
  EXPECT_TRUE(IsKnownByName(RunOn({""})));
  EXPECT_FALSE(IsKnownByName(RunOn({"/x/A/mini"})));
  EXPECT_FALSE(IsKnownByName(RunOn({"", 7})));
  // A given recipe of another name is not the one that the run used.
  EXPECT_TRUE(IsKnownByName(RunOn({"/x/A/maxi"})));
}

TEST(InputNames, AModelOfTheRunsOwnSeedIsOneForAllSeeds) {
  const auto on = [](const char* seed, const char* base) {
    return MadeInputs{.path = "/x/mini", .seed = seed, .base = base};
  };
  EXPECT_THAT(NamesOf({on("1", "/r/a/seed-1/model"), on("2", "/r/a/seed-2/model")}, "model.base"),
              ElementsAre("model", "model"));
  EXPECT_THAT(NamesOf({on("1", "/r/a/seed-1/model"), on("2", "/r/b/seed-2/model")}, "model.base"),
              ElementsAre("a/seed-*/model", "b/seed-*/model"));
  EXPECT_THAT(NamesOf({on("1", "/r/a/seed-1/model"), on("2", "/r/a/seed-1/model")}, "model.base"),
              ElementsAre("seed-*/model", "seed-1/model"));
}

TEST(InputNames, SeedsOnOtherDataAreNoGroup) {
  const std::vector<RunRecord> runs = {RunOn({.path = "/x/A/mini", .seed = "1"}),
                                       RunOn({.path = "/x/B/mini", .seed = "2"})};
  const std::vector<KeyValues> keys = KeysWithInputNames(runs);
  const size_t numbers[] = {0, 1};
  const std::vector<RecipeGroup> groups = GroupsByRecipe(keys, numbers);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].name, "train A/mini");
  EXPECT_EQ(groups[1].name, "train B/mini");
  EXPECT_EQ(ValidationName(runs[0], keys[0]),
            "queries that were held out of the training data (mini (A/mini))");
}

}  // namespace
}  // namespace tandem::report
