#include "report/sweep/recipe_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

KeyValue Text(std::string text) { return {.text = std::move(text)}; }
KeyValue Number(double number, std::string text) { return {std::move(text), number}; }

// Two seeds of infonce at two rates, and mann_whitney, which has a margin and no temperature.
std::vector<KeyValues> Runs() {
  const auto infonce = [](const char* seed, double rate, const char* text) {
    return KeyValues({{"seed", Text(seed)},
                      {"threads", Text(seed)},
                      {"logging.every", Text(seed)},
                      {"objective.name", Text("infonce")},
                      {"objective.temperature", Number(0.05, "0.05")},
                      {"optimizer.learning_rate", Number(rate, text)},
                      {"train.batch", Number(32, "32")}});
  };
  return {infonce("1", 1e-5, "1e-05"), infonce("2", 1e-5, "1e-05"), infonce("1", 1e-4, "0.0001"),
          KeyValues({{"seed", Text("1")},
                     {"objective.name", Text("mann_whitney")},
                     {"objective.margin", Number(1, "1")},
                     {"optimizer.learning_rate", Number(1e-4, "0.0001")},
                     {"train.batch", Number(32, "32")}})};
}

std::vector<RecipeGroup> Groups() {
  const size_t numbers[] = {0, 1, 2, 3};
  return GroupsByRecipe(Runs(), numbers);
}

TEST(RecipeGroups, RunsThatDifferInTheSeedAloneAreOne) {
  const std::vector<RecipeGroup> groups = Groups();
  ASSERT_THAT(groups, SizeIs(3));
  EXPECT_THAT(groups[0].runs, ElementsAre(0, 1));
  EXPECT_THAT(groups[1].runs, ElementsAre(2));
  EXPECT_THAT(groups[2].runs, ElementsAre(3));
}

TEST(RecipeGroups, AreNamedByWhatDiffers) {
  const std::vector<RecipeGroup> groups = Groups();
  EXPECT_EQ(groups[0].name, "infonce, learning_rate 1e-05");
  EXPECT_EQ(groups[1].name, "infonce, learning_rate 0.0001");
  EXPECT_EQ(groups[2].name, "mann_whitney, learning_rate 0.0001");
}

TEST(RecipeGroups, OfOneRecipeIsNamedByItsObjective) {
  const size_t numbers[] = {0, 1};
  const std::vector<RecipeGroup> groups = GroupsByRecipe(Runs(), numbers);
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].name, "infonce");
}

TEST(RecipeGroups, AKeyThatIsNotSetIsNamedToo) {
  const std::vector<KeyValues> runs = {
      KeyValues({{"objective.name", Text("infonce")}, {"data.limit", Number(100, "100")}}),
      KeyValues({{"objective.name", Text("infonce")}})};
  const size_t numbers[] = {0, 1};
  const std::vector<RecipeGroup> groups = GroupsByRecipe(runs, numbers);
  ASSERT_THAT(groups, SizeIs(2));
  EXPECT_EQ(groups[0].name, "limit 100");
  EXPECT_EQ(groups[1].name, "no limit");
}

TEST(RecipeGroups, AKeyThatOnlyComesBesideAnotherOnesValueIsNotNamed) {
  const std::vector<KeyValues> runs = {
      KeyValues({{"objective.name", Text("mann_whitney")}, {"objective.bank", Number(0, "0")}}),
      KeyValues({{"objective.name", Text("mann_whitney")},
                 {"objective.bank", Number(1000, "1000")},
                 {"objective.bank_max_age", Number(9, "9")}})};
  const size_t numbers[] = {0, 1};
  const std::vector<RecipeGroup> groups = GroupsByRecipe(runs, numbers);
  EXPECT_EQ(groups[0].name, "bank 0");
  EXPECT_EQ(groups[1].name, "bank 1000");
}

TEST(RecipeGroups, DifferingKeysAreSortedByTheirValues) {
  std::vector<KeyValues> runs = Runs();
  runs[2]["optimizer.learning_rate"] = Number(2e-4, "0.0002");
  const size_t numbers[] = {3, 2, 1};
  const std::vector<DifferingKey> keys = DifferingKeys(GroupsByRecipe(runs, numbers));
  // The temperature and the margin come with the objective, whose name says all.
  ASSERT_THAT(keys, SizeIs(2));
  EXPECT_EQ(keys[0].path, "optimizer.learning_rate");
  EXPECT_THAT(keys[0].values,
              ElementsAre(Number(1e-5, "1e-05"), Number(1e-4, "0.0001"), Number(2e-4, "0.0002")));
  EXPECT_EQ(keys[1].path, "objective.name");
  EXPECT_EQ(keys[1].without, 0u);
}

TEST(RecipeGroups, AParameterThatHasTwoValuesForOneEntryDiffers) {
  std::vector<KeyValues> runs = Runs();
  runs[2]["objective.temperature"] = Number(0.02, "0.02");
  const size_t numbers[] = {0, 2, 3};
  const std::vector<RecipeGroup> groups = GroupsByRecipe(runs, numbers);
  EXPECT_EQ(groups[1].name, "infonce, temperature 0.02, learning_rate 0.0001");
  EXPECT_EQ(groups[2].name, "mann_whitney, learning_rate 0.0001");
}

TEST(RecipeGroups, OneKeyIsFoundWhateverItComesWith) {
  const std::vector<RecipeGroup> groups = Groups();
  EXPECT_EQ(KeyOfGroups(groups, "train.batch"), std::nullopt);
  EXPECT_EQ(KeyOfGroups(groups, "objective.temperature"), std::nullopt);
  ASSERT_TRUE(KeyOfGroups(groups, "objective.name"));
  EXPECT_THAT(KeyOfGroups(groups, "objective.name")->values,
              ElementsAre(Text("infonce"), Text("mann_whitney")));
}

}  // namespace
}  // namespace tandem::report
