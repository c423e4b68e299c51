// `tandem list` and `tandem explain`.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/run_tandem.h"
#include "config/recipe_text.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"

namespace tandem {
namespace {

TEST(List, NamesEveryCatalogue) {
  const ProgramResult result = RunTandem({"list"});
  EXPECT_EQ(result.exit_code, 0);
  for (const char* name :
       {"samplers", "objectives", "optimizers", "schedules", "measures", "commands", "keys"}) {
    EXPECT_NE(("\n" + result.out).find(std::string("\n") + name + " "), std::string::npos) << name;
    const ProgramResult one = RunTandem({"list", name, "--format", "json"});
    EXPECT_EQ(one.exit_code, 0);
    EXPECT_FALSE(nlohmann::json::parse(one.out).empty()) << name;
  }
}

TEST(List, HoldsEveryObjective) {
  const auto list =
      nlohmann::json::parse(RunTandem({"list", "objectives", "--format", "json"}).out);
  ASSERT_EQ(list.size(), objective::Objectives().size());
  for (size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i]["name"], objective::Objectives()[i]->name);
  }
}

TEST(List, HoldsEveryOptimizer) {
  const std::string list = RunTandem({"list", "optimizers"}).out;
  for (const optim::OptimizerInfo* info : optim::Optimizers()) {
    EXPECT_NE(list.find(std::string(info->name) + " "), std::string::npos) << info->name;
    const std::string text = RunTandem({"explain", std::string(info->name)}).out;
    EXPECT_NE(text.find(fmt::format("source: {}\n", info->source)), std::string::npos);
    for (const config::ParamInfo& param : info->params) {
      EXPECT_NE(text.find(fmt::format("\n  {}: ", param.name)), std::string::npos) << param.name;
    }
  }
}

TEST(List, SuggestsTheNearestCatalogue) {
  const ProgramResult result = RunTandem({"list", "objectivs"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: catalogue objectivs is unknown; known are samplers, objectives, optimizers, "
            "schedules, measures, commands, keys; did you mean objectives?\n");
}

TEST(Explain, KnowsEveryEntryAndEveryKey) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    const ProgramResult result = RunTandem({"explain", std::string(info->name)});
    EXPECT_EQ(result.exit_code, 0);
    for (const std::string_view part : {info->source, info->purpose, info->formula}) {
      EXPECT_NE(result.out.find(part), std::string::npos) << info->name << ": " << part;
    }
  }
  for (const config::RecipeKey& key : config::RecipeKeys(config::Recipe())) {
    const ProgramResult result = RunTandem({"explain", key.path()});
    EXPECT_EQ(result.exit_code, 0) << key.path();
    EXPECT_NE(result.out.find(std::string(key.info.doc)), std::string::npos) << key.path();
  }
  EXPECT_NE(RunTandem({"explain", "ndcg@10"}).out.find("ndcg (measures)"), std::string::npos);
  for (const char* name : {"objective.temperature", "optimizer.beta2"}) {
    const ProgramResult result = RunTandem({"explain", name});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(std::string("  ") + name + ": number"), std::string::npos);
  }
  EXPECT_NE(RunTandem({"explain", "optimizer.beta2"}).out.find("of the optimizer adam\n"),
            std::string::npos);
  EXPECT_NE(RunTandem({"explain", "optimizer"}).out.find("optimizer.learning_rate: number"),
            std::string::npos);
}

TEST(Explain, SuggestsTheNearestName) {
  const ProgramResult result = RunTandem({"explain", "infonec"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: nothing is called infonec; `tandem list` shows what there is; did you mean "
            "infonce?\n");
  EXPECT_NE(RunTandem({"explain", "ndgc@10"}).err.find("did you mean ndcg?"), std::string::npos);
}

TEST(Explain, TheReferenceOfRecipesIsWhatItPrints) {
  EXPECT_EQ(RunTandem({"explain", "recipe"}).out,
            ReadFile(std::string(TANDEM_SOURCE_DIR) + "/docs/recipes.md"))
      << "run: tandem explain recipe > docs/recipes.md";
}

TEST(Explain, TheReferenceOfObjectivesIsWhatItPrints) {
  const std::string page = ReadFile(std::string(TANDEM_SOURCE_DIR) + "/docs/objectives.md");
  EXPECT_NE(page.find(RunTandem({"explain", "objectives"}).out), std::string::npos)
      << "docs/objectives.md must hold the output of: tandem explain objectives";
}

// Recipes check a sampler's name without linking the catalogue of samplers; both must agree.
TEST(Recipe, KnowsTheSamplersOfTheCatalogue) {
  std::vector<std::string_view> names;
  for (const config::ChoiceInfo& choice : config::kSamplers) names.push_back(choice.name);
  EXPECT_EQ(names, config::EntryNames(sampling::Samplers()));
}

}  // namespace
}  // namespace tandem
