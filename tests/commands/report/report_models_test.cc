// `tandem report` where it measures models itself.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/model_commands_fixture.h"
#include "report/records/evaluation_file.h"

namespace tandem {
namespace {

using testing::HasSubstr;

using ReportModels = ModelCommandsTest;

TEST_F(ReportModels, AModelFolderIsMeasuredAsEvaluateDoes) {
  const ProgramResult result = RunTandem({"report", Path("model"), "--dataset", Path("data"),
                                          "--split", "dev", "--output", Path("page")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, Path("page") + "/index.html\n");
  const std::string page = ReadFile(Path("page/index.html"));
  const ProgramResult evaluated =
      Evaluate({"--split", "dev", "--measures", "ndcg@10,partial_auc", "--format", "json"});
  const auto measures = nlohmann::json::parse(evaluated.out)["measures"];
  EXPECT_THAT(page, HasSubstr(fmt::format("{:.4f}", measures["ndcg@10"].get<double>())));
  EXPECT_THAT(page, HasSubstr(fmt::format("{:.4f}", measures["partial_auc"].get<double>())));
  EXPECT_FALSE(std::filesystem::exists(Path("model/report")));
}

// Two answers to one question would leave a reader with none.
TEST_F(ReportModels, HaveThePOfCompareAndItsAdvice) {
  WriteTinyModel(Path("other"), {.seed = 2});
  for (const char* seed : {"1", "5"}) {
    const std::vector<std::string> of_both = {Path("model"), Path("other"), "--dataset",
                                              Path("data"),  "--split",     "train",
                                              "--seed",      seed};
    std::vector<std::string> report = of_both, compare = of_both;
    report.insert(report.begin(), "report");
    report.insert(report.end(), {"--output", Path("page")});
    compare.insert(compare.begin(), "compare");
    compare.insert(compare.end(), {"--format", "json", "--quiet"});
    const ProgramResult result = RunTandem(report);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const ProgramResult compared = RunTandem(compare);
    ASSERT_EQ(compared.exit_code, 0) << compared.err;
    const auto json = nlohmann::json::parse(compared.out);
    const std::string page = ReadFile(Path("page/index.html"));
    for (const char* name : {"ndcg@10", "map"}) {
      // Of so many queries patterns are drawn, so that p depends on the seed.
      ASSERT_EQ(json["systems"][0]["measures"][name]["exact"], false);
      const double p = json["systems"][0]["measures"][name]["p"];
      const std::string row = page.substr(page.find(fmt::format("<bdi>{}</bdi>", name)), 2000);
      EXPECT_THAT(row.substr(0, row.find("</tr>")),
                  HasSubstr(fmt::format(" lost; p\u00a0=\u00a0{:.4f}<", p)));
    }
    const std::string advice = json["recommendation"]["sentence"];
    const std::string end = advice.substr(advice.find("and such a difference"));
    EXPECT_THAT(result.err, HasSubstr(end + "\n"));
    std::string on_page = end;  // p and its value stay on one line
    on_page.replace(on_page.find("(p = ") + 1, 4, "p\u00a0=\u00a0");
    EXPECT_THAT(page, HasSubstr(on_page + "</p>"));
  }
}

// A base is measured as the model that was trained from it where the limits of both are the same.
TEST_F(ReportModels, AreComparedWithTheLimitsOfEvaluate) {
  WriteTinyModel(Path("other"), {.seed = 2});
  const std::vector<std::string> task = {"--dataset", Path("data"), "--split",
                                         "train",     "--measures", "ndcg@10",
                                         "--format",  "json",       "--quiet"};
  const auto value_of = [&](std::vector<std::string> command) {
    command.insert(command.end(), task.begin(), task.end());
    const ProgramResult result = RunTandem(command);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  };
  const std::vector<std::string> limits = {"--max-query-tokens", "3", "--max-document-tokens", "4"};
  std::vector<std::string> compare = {"compare", Path("model"), Path("other")};
  const double whole = value_of(compare)["systems"][0]["measures"]["ndcg@10"]["baseline"];
  compare.insert(compare.end(), limits.begin(), limits.end());
  const auto cut = value_of(compare)["systems"][0]["measures"]["ndcg@10"];
  EXPECT_NE(cut["baseline"], whole);
  for (const auto& [folder, name] : {std::pair{"model", "baseline"}, {"other", "value"}}) {
    std::vector<std::string> evaluate = {"evaluate", "--model", Path(folder)};
    evaluate.insert(evaluate.end(), limits.begin(), limits.end());
    EXPECT_EQ(cut[name], value_of(evaluate)["measures"]["ndcg@10"]) << folder;
  }
}

// A run whose trained model is its base.
class ReportRun : public ModelCommandsTest {
 protected:
  ReportRun() {
    std::filesystem::create_directories(Path("run"));
    std::filesystem::copy(Path("model"), Path("run/model"),
                          std::filesystem::copy_options::recursive);
    WriteRecipe("run/recipe.resolved.toml", Path("model"), Path("data"));
  }
  void WriteRecipe(const std::string& name, const std::string& base,
                   const std::string& validation) const {
    Write(name, "output = \"run\"\n[model]\nbase = \"" + base + "\"\n[data]\ntrain = \"" +
                    Path("data") + "\"\n[validation]\ndata = \"" + validation +
                    "\"\nsplit = \"dev\"\n[objective]\nname = \"infonce\"\n");
  }
  std::string Page() const { return ReadFile(Path("run/report/page/index.html")); }
};

TEST_F(ReportRun, ABeforeOfOtherDataIsLeftOutWhereTheBaseIsGone) {
  ASSERT_EQ(RunTandem({"report", Path("run")}).exit_code, 0);
  EXPECT_THAT(Page(), HasSubstr(">before</th>"));
  std::filesystem::create_directories(Path("other"));
  WriteTinyData(folder_.path() / "other" / "data", TinyWords(), {.documents = 40});
  const ProgramResult result = RunTandem({"report", Path("run"), "--dataset", Path("other/data"),
                                          "--split", "dev", "--base", Path("gone")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("(1 of 1)"));
  EXPECT_THAT(Page(), testing::Not(HasSubstr(">before</th>")));
  EXPECT_THAT(Page(), HasSubstr("run: before is left out"));
  EXPECT_THAT(Page(), HasSubstr("16 queries and 40 documents of <bdi>data, split dev</bdi>"));
}

TEST_F(ReportRun, IsMeasuredWhereItsGivenRecipeSaysThatBaseAndDataAre) {
  // As train leaves them: the resolved recipe has the last part of every path only.
  WriteRecipe("run/recipe.resolved.toml", "model", "data");
  WriteRecipe("recipe.toml", "elsewhere", Path("data"));
  Write(
      "run/recipe.given.toml",
      "# recipe.toml as it was given to tandem 0.1.0.\n# On the command line, over it:\n#   --set "
      "model.base=" +
          Path("model") + "\n#   --seed 7\n\n" + ReadFile(Path("recipe.toml")));
  const ProgramResult result = RunTandem({"report", Path("run")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("measure " + Path("model") + " on " + Path("data") +
                                    ", split dev (1 of 2)"));
  EXPECT_THAT(Page(), testing::Not(HasSubstr("not measured")));
}

TEST_F(ReportRun, SaysOnceWhereItLookedForItsValidationData) {
  WriteRecipe("run/recipe.resolved.toml", "model", "gone");
  WriteRecipe("run/recipe.given.toml", "model", "/nowhere/gone");
  ASSERT_EQ(RunTandem({"report", Path("run")}).exit_code, 0);
  const std::string page = Page();
  const std::string list = page.substr(page.find("What is missing</h2>"));
  EXPECT_THAT(list, HasSubstr("<li>run: no model was evaluated: the validation data of its recipe "
                              "is not there; looked for /nowhere/gone and gone; --dataset says "
                              "where it is.</li>"));
  EXPECT_EQ(list.find("evaluat"), list.rfind("evaluat"));
  // A path that ends otherwise is not what the run was validated on.
  WriteRecipe("run/recipe.given.toml", "model", Path("data"));
  ASSERT_EQ(RunTandem({"report", Path("run")}).exit_code, 0);
  EXPECT_THAT(Page(), HasSubstr("looked for gone; --dataset"));
}

TEST_F(ReportRun, AnInterruptedMeasuringLeavesTheEvaluationsOfBeforeOrNone) {
  Write("run/model/model.safetensors", "broken");
  const ProgramResult result = RunTandem({"report", Path("run")});
  EXPECT_EQ(result.exit_code, 4) << result.err;
  EXPECT_THAT(result.err, HasSubstr("(2 of 2)"));
  EXPECT_FALSE(std::filesystem::exists(Path("run/report/before.evaluation.json")));
}

TEST_F(ReportRun, IsMeasuredBeforeAndAfterTrainingOnItsValidationData) {
  const ProgramResult result = RunTandem({"report", Path("run")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("split dev (2 of 2)"));
  const auto before = report::ReadEvaluation(Path("run/report/before.evaluation.json"));
  const auto after = report::ReadEvaluation(Path("run/report/after.evaluation.json"));
  EXPECT_EQ(before.model.name, "before");
  EXPECT_EQ(after.model.folder, "model");
  EXPECT_EQ(before.dataset.split, "dev");
  EXPECT_EQ(after.dataset.queries, 16);
  EXPECT_THAT(before.dataset.fingerprint.value_or(""), testing::MatchesRegex("[0-9a-f]+"));
  EXPECT_EQ(before.dataset.fingerprint, after.dataset.fingerprint);
  EXPECT_EQ(before.measures[0].mean, after.measures[0].mean);  // the same weights
  ASSERT_TRUE(after.roc);
  EXPECT_EQ(after.roc->positives, 16);
  ASSERT_TRUE(after.views);
  EXPECT_EQ(after.views->projected_queries.size(), 16U);
  ASSERT_TRUE(after.cases);
  EXPECT_EQ(after.cases->best.size(), 5U);
  // A second page takes what is there; another data set measures anew.
  EXPECT_THAT(RunTandem({"report", Path("run")}).err, testing::Not(HasSubstr("measure ")));
  EXPECT_THAT(RunTandem({"report", Path("run"), "--dataset", Path("data"), "--split", "dev"}).err,
              HasSubstr("(2 of 2)"));
}

// `evaluate` and `compare` measure it so, too.
TEST_F(ReportRun, MeasuresTheBaseAtItsOwnLengths) {
  std::string recipe = ReadFile(Path("run/recipe.resolved.toml"));
  const std::string table = "[model]\n";
  const size_t at = recipe.find(table);
  ASSERT_NE(at, std::string::npos);
  recipe.insert(at + table.size(), "max_document_tokens = 3\n");
  Write("run/recipe.resolved.toml", recipe);
  ASSERT_EQ(RunTandem({"report", Path("run")}).exit_code, 0);
  const auto before = report::ReadEvaluation(Path("run/report/before.evaluation.json"));
  const auto after = report::ReadEvaluation(Path("run/report/after.evaluation.json"));
  EXPECT_EQ(before.measures[0].mean, after.measures[0].mean);  // the same weights
}

TEST_F(ReportRun, TheBaseOfSeveralRunsIsMeasuredOnce) {
  std::filesystem::copy(Path("run"), Path("second"), std::filesystem::copy_options::recursive);
  const ProgramResult result =
      RunTandem({"report", Path("run"), Path("second"), "--output", Path("page")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("(4 of 4)"));
  const std::string words = "encode documents 100%";
  size_t encoded = 0;
  for (size_t at = result.err.find(words); at != std::string::npos;
       at = result.err.find(words, at + 1)) {
    ++encoded;
  }
  EXPECT_EQ(encoded, 3U) << result.err;  // the base, and both trained models
  EXPECT_EQ(ReadFile(Path("run/report/before.evaluation.json")),
            ReadFile(Path("second/report/before.evaluation.json")));
}

TEST_F(ReportModels, EverythingIsCheckedBeforeTheFirstModelIsMeasured) {
  const auto report = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = {"report",     Path("model"), "--dataset",
                                          Path("data"), "--split",     "dev"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProgramResult result = RunTandem(arguments);
    EXPECT_THAT(result.err, testing::Not(HasSubstr("measure "))) << result.err;
    return result;
  };
  std::filesystem::create_directories(Path("thesis"));
  Write("thesis/chapter.txt", "years");
  const ProgramResult output = report({"--output", Path("thesis")});
  EXPECT_EQ(output.exit_code, 2);
  EXPECT_THAT(output.err, HasSubstr("thesis exists and is no report"));
  const ProgramResult under = report({"--output", Path("thesis/chapter.txt/page")});
  EXPECT_EQ(under.exit_code, 2);
  EXPECT_THAT(under.err, HasSubstr("chapter.txt"));
  Write("broken.evaluation.json", "{}");
  const ProgramResult broken = report({Path("broken.evaluation.json"), "--output", Path("page")});
  EXPECT_EQ(broken.exit_code, 3);
  EXPECT_THAT(broken.err, HasSubstr("broken.evaluation.json: is no evaluation"));
  const ProgramResult nothing = report({Path("nothing"), "--output", Path("page")});
  EXPECT_EQ(nothing.exit_code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("nothing: "));
  EXPECT_FALSE(std::filesystem::exists(Path("page")));
}

TEST_F(ReportModels, WhatCannotBeMeasuredIsSaid) {
  const ProgramResult alone = RunTandem({"report", Path("model"), "--output", Path("page")});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("model is a model folder: --dataset says what"));
  const ProgramResult nowhere = RunTandem({"report", Path("model"), "--dataset", Path("data")});
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("--output is needed"));
  // A run that is under way has no model yet, and its base may have moved.
  std::filesystem::create_directories(Path("run"));
  Write("run/recipe.resolved.toml",
        "output = \"run\"\n[model]\nbase = \"gone\"\n[data]\ntrain = \"" + Path("data") +
            "\"\n[objective]\nname = \"infonce\"\n");
  const ProgramResult half =
      RunTandem({"report", Path("run"), "--dataset", Path("data"), "--split", "dev"});
  EXPECT_EQ(half.exit_code, 0) << half.err;
  EXPECT_THAT(half.err, HasSubstr("not measured before training: there is no folder gone"));
  EXPECT_THAT(half.err, HasSubstr("not measured after training"));
  const std::string page = ReadFile(Path("run/report/page/index.html"));
  EXPECT_THAT(page, HasSubstr("<li>run: not measured before training: there is no folder gone; "
                              "--base says where the model is.</li>"));
  EXPECT_THAT(page, HasSubstr("<li>run: not measured after training"));
}

}  // namespace
}  // namespace tandem
