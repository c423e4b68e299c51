// `tandem list` and `tandem explain`.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "config/recipe/recipe_text.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"
#include "support/run_tandem.h"

namespace tandem {
namespace {

TEST(List, NamesEveryCatalogue) {
  const ProgramResult result = RunTandem({"list"});
  EXPECT_EQ(result.exit_code, 0);
  std::vector<std::string> names;
  for (const auto& row : nlohmann::json::parse(RunTandem({"list", "--format", "json"}).out)) {
    names.push_back(row["name"]);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("samplers", "objectives", "optimizers", "schedules", "measures",
                                   "encoders", "indexes", "pair_sources", "commands", "keys"));
  for (const std::string& name : names) {
    EXPECT_NE(("\n" + result.out).find("\n" + name + " "), std::string::npos) << name;
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
            "schedules, measures, encoders, indexes, pair_sources, commands, keys; did you mean "
            "objectives?\n");
}

// Each page of a study with the entry's name in a recipe's key, as those of ./dev study have, and
// pages that name it otherwise, are what `explain` says, and no other.
void ExpectStudies(const config::EntryInfo& entry, const std::string& key) {
  const std::filesystem::path folder = std::filesystem::path(TANDEM_SOURCE_DIR) / "docs/studies";
  const std::string out = RunTandem({"explain", std::string(entry.name)}).out;
  for (const std::string& name : config::StudyNames(entry)) {
    EXPECT_NE(out.find(fmt::format("docs/studies/{}.md", name)), std::string::npos) << out;
    const std::string page = ReadFile(folder / (name + ".md"));
    EXPECT_NE(page.find(entry.name), std::string::npos) << name << " does not name " << entry.name;
  }
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() != ".md") continue;
    const std::string page = ReadFile(file.path());
    if (page.find(fmt::format("`{} = \"{}\"`", key, entry.name)) == std::string::npos) continue;
    EXPECT_THAT(config::StudyNames(entry), testing::Contains(file.path().stem().string()))
        << entry.name;
  }
}

TEST(Explain, NamesTheStudiesThatTriedAnEntry) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    ExpectStudies(*info, "objective.name");
  }
  for (const sampling::SamplerInfo* info : sampling::Samplers()) {
    ExpectStudies(*info, "sampling.name");
  }
  EXPECT_EQ(RunTandem({"explain", "kl_distillation"}).out.find("tried in"), std::string::npos);
}

TEST(Explain, KnowsEveryEntryAndEveryKey) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    const ProgramResult result = RunTandem({"explain", std::string(info->name)});
    EXPECT_EQ(result.exit_code, 0);
    for (const std::string_view part : {info->source, info->purpose, info->formula}) {
      EXPECT_NE(result.out.find(part), std::string::npos) << info->name << ": " << part;
    }
  }
  for (const config::RecipeKey& key : config::DocumentedKeys()) {
    const ProgramResult result = RunTandem({"explain", key.path()});
    EXPECT_EQ(result.exit_code, 0) << key.path();
    EXPECT_NE(result.out.find(std::string(key.info.doc)), std::string::npos) << key.path();
  }
  for (const char* name : {"ndcg@10", "nDCG@10", "measures"}) {
    EXPECT_NE(RunTandem({"explain", name}).out.find("ndcg (measures)"), std::string::npos);
  }
  const std::string rbp = RunTandem({"explain", "RBP(p=0.9)"}).out;
  EXPECT_NE(rbp.find("written: rbp, rbp@k\n"), std::string::npos);
  EXPECT_NE(rbp.find("  p: number from 0 to 0.9999, default 0.8\n"), std::string::npos);
  for (const char* name : {"objective.temperature", "optimizer.beta2"}) {
    const ProgramResult result = RunTandem({"explain", name});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NE(result.out.find(std::string("  ") + name + ": number"), std::string::npos);
  }
  EXPECT_NE(RunTandem({"explain", "optimizer.beta2"}).out.find("of the optimizers adamw, adam\n"),
            std::string::npos);
  EXPECT_NE(RunTandem({"explain", "optimizer"}).out.find("optimizer.learning_rate: number"),
            std::string::npos);
}

TEST(Explain, SaysOfASamplerItsFormulaAndHowItDiffers) {
  for (const sampling::SamplerInfo* info : sampling::Samplers()) {
    const std::string text = RunTandem({"explain", std::string(info->name)}).out;
    EXPECT_FALSE(info->formula.empty()) << info->name;
    EXPECT_NE(text.find(info->formula), std::string::npos) << text;
    EXPECT_NE(text.find(info->differs), std::string::npos) << text;
    EXPECT_EQ(RunTandem({"explain", "sampler", std::string(info->name)}).out, text);
    EXPECT_NE(RunTandem({"explain", "samplers"}).out.find(text), std::string::npos);
  }
  EXPECT_NE(RunTandem({"explain", "dynamic_pruning"}).out.find("differs: the paper says"),
            std::string::npos);
  const ProgramResult wrong = RunTandem({"explain", "sampler", "infonce"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_NE(wrong.err.find("no sampler is called infonce; there are uniform, "), std::string::npos)
      << wrong.err;
  EXPECT_NE(RunTandem({"explain", "samplr", "uniform"}).err.find("did you mean sampler?"),
            std::string::npos);
  EXPECT_EQ(RunTandem({"explain", "a", "b", "c"}).exit_code, 2);
}

// A bare name shows every place where it occurs, with what it is there.
TEST(Explain, KnowsParametersAndKeysByTheirBareNames) {
  const std::string temperature = RunTandem({"explain", "temperature"}).out;
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    for (const config::ParamInfo& param : info->params) {
      if (param.name != "temperature") continue;
      EXPECT_NE(temperature.find(info->name), std::string::npos) << info->name;
    }
  }
  EXPECT_NE(temperature.find("of the objectives infonce, soft_infonce\n  objective.temperature: "
                             "number from 0.0001 to 10 score units, default 0.05\n"),
            std::string::npos)
      << temperature;
  EXPECT_NE(temperature.find("sentence-transformers: `scale` = 1 / temperature"),
            std::string::npos);
  const std::string every = RunTandem({"explain", "every"}).out;
  EXPECT_NE(every.find("validation.every: "), std::string::npos);
  EXPECT_NE(every.find("logging.every: "), std::string::npos);
  const std::string mu = RunTandem({"explain", "mu"}).out;
  EXPECT_NE(mu.find("      needs weighting = \"ndcg2++\"\n"), std::string::npos) << mu;
  EXPECT_NE(RunTandem({"explain", "sampling.name"}).out.find("sampling.name: one of uniform"),
            std::string::npos);
  const ProgramResult misspelt = RunTandem({"explain", "temprature"});
  EXPECT_EQ(misspelt.exit_code, 2);
  EXPECT_NE(misspelt.err.find("did you mean temperature?"), std::string::npos) << misspelt.err;
}

// Whoever comes from sentence-transformers finds the name they know.
TEST(Explain, GivesTheNameThatPeersUse) {
  for (const objective::ObjectiveInfo* info : objective::Objectives()) {
    for (const config::ParamInfo& param : info->params) {
      if (param.name != "temperature" && param.name != "similarity_kind") continue;
      EXPECT_NE(param.elsewhere, "") << info->name << " " << param.name;
      const std::string text = RunTandem({"explain", std::string(info->name)}).out;
      EXPECT_NE(text.find(param.elsewhere), std::string::npos) << info->name;
    }
  }
}

TEST(Explain, SuggestsTheNearestName) {
  const ProgramResult result = RunTandem({"explain", "infonec"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.err,
            "error: nothing is called infonec; `tandem list` shows what there is; did you mean "
            "infonce?\n");
  EXPECT_NE(RunTandem({"explain", "ndgc@10"}).err.find("did you mean ndcg?"), std::string::npos);
  EXPECT_EQ(RunTandem({"explain", "nDCG@10"}).out, RunTandem({"explain", "ndcg"}).out);
}

TEST(Explain, TheReferenceOfRecipesIsWhatItPrints) {
  EXPECT_EQ(RunTandem({"explain", "recipe"}).out,
            ReadFile(std::string(TANDEM_SOURCE_DIR) + "/docs/recipes.md"))
      << "run: tandem explain recipe > docs/recipes.md";
}

TEST(Explain, TheReferenceOfModelsIsWhatItPrints) {
  EXPECT_EQ(RunTandem({"explain", "models"}).out,
            ReadFile(std::string(TANDEM_SOURCE_DIR) + "/docs/models.md"))
      << "run: tandem explain models > docs/models.md";
}

TEST(Explain, ShowsWhatAnEncoderReads) {
  const std::string text = RunTandem({"explain", "xlm-roberta"}).err;
  EXPECT_NE(text.find("did you mean roberta?"), std::string::npos) << text;
  const std::string roberta = RunTandem({"explain", "roberta"}).out;
  EXPECT_NE(roberta.find("model_type: roberta, xlm-roberta, camembert\n"), std::string::npos);
  EXPECT_NE(roberta.find("  vocab_size: rows of the word table; 1 to 16777216; required\n"),
            std::string::npos)
      << roberta;
}

TEST(Explain, TheReferenceOfObjectivesIsWhatItPrints) {
  const std::string page = ReadFile(std::string(TANDEM_SOURCE_DIR) + "/docs/objectives.md");
  EXPECT_NE(page.find(RunTandem({"explain", "objectives"}).out), std::string::npos)
      << "docs/objectives.md must hold the output of: tandem explain objectives";
}

}  // namespace
}  // namespace tandem
