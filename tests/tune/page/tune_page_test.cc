#include "tune/page/tune_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/json/json_reader.h"

namespace tandem::tune {
namespace {

using testing::HasSubstr;
using testing::Not;

SearchPlan PlanOfThree() {
  return {.brackets = {MakeBracket(3, 2, 2)},
          .configurations = {{}, {{"model.train", "\"<b>\""}}, {{"train.batch", "8"}}}};
}

Json RungOf(int trial, int round, double value) {
  return {{"event", "rung"},     {"trial", trial}, {"bracket", 1},   {"round", round},
          {"step", 4},           {"best_step", 4}, {"value", value}, {"finished", false},
          {"gain", value - 0.4}, {"p", 0.5}};
}

// A journal of three trials, of which the second cannot be trained and the third is chosen.
std::vector<Json> JournalOf(bool chosen) {
  std::vector<Json> rows = {RungOf(1, 0, 0.41), RungOf(3, 0, 0.45), RungOf(3, 1, 0.5)};
  rows.push_back(ParseJson(R"({"event": "failed", "trial": 2, "bracket": 1, "round": 0,
                               "why": "no <script> like this"})"));
  Json choice = ParseJson(R"({"event": "choice", "base": 0.4, "queries": 50, "detectable": 0.02,
      "verdict": "the <verdict>", "arms": [
        {"name": "trial 3", "trial": 3, "weight": 1, "model": "trials/003/run/model", "value": 0.5,
         "gain": 0.1, "half_width": 0.02, "p": 0.001, "holm_p": 0.002, "loss": 0.03,
         "on_border": true, "allowed": true},
        {"name": "0.5 of trial 3", "trial": 3, "weight": 0.5, "model": "averages/003-0.5/model",
         "value": 0.48, "gain": 0.08, "half_width": 0.02, "p": 0.004, "holm_p": 0.004,
         "loss": 0.01, "on_border": true, "allowed": true}]})");
  if (chosen) choice["chosen"] = 0;
  rows.push_back(std::move(choice));
  return rows;
}

TunePageInput InputOf(const std::string& recipe) {
  return {.title = "mine.toml",
          .measure = "ndcg@10",
          .rungs = 2,
          .keys = {{.path = "train.batch", .values = {"8", ""}},
                   {.path = "optimizer.clip", .range = {0.5, 2}, .logarithmic = true}},
          .recipe_text = recipe};
}

TEST(TunePage, ShowsTheChoiceEveryTrialAndTheBorder) {
  const auto files = MakeTunePage(InputOf("seed = 1 # <mine>\n"), PlanOfThree(), JournalOf(true));
  ASSERT_EQ(files.size(), 5U);  // the page, two figures in two forms
  EXPECT_EQ(files[0].path, "tune.html");
  const std::string& page = files[0].bytes;
  EXPECT_THAT(page, HasSubstr("the &lt;verdict&gt;"));
  EXPECT_THAT(page, HasSubstr("seed = 1 # &lt;mine&gt;"));
  EXPECT_THAT(page, HasSubstr("trial 3 has the largest gain of the 2 models that are seen to gain; "
                              "the next is 0.5 of trial 3 with +0.0800"));
  EXPECT_THAT(page, HasSubstr("cannot be trained: no &lt;script&gt; like this"));
  EXPECT_THAT(page, HasSubstr("<bdi>&lt;b&gt;</bdi>"));
  EXPECT_THAT(page, HasSubstr("model.train</"));  // a column of its own
  EXPECT_THAT(page, HasSubstr(">0.0020<"));       // the corrected p
  EXPECT_THAT(page, HasSubstr("from 0.5 to 2, logarithmic"));
  EXPECT_THAT(page, HasSubstr("8, not set"));
  EXPECT_THAT(page, HasSubstr("was not measured on test data"));
  EXPECT_THAT(page, HasSubstr(R"(content="tandem tune")"));
  EXPECT_EQ(files[1].path, "figures/border.tsv");
  EXPECT_EQ(
      files[1].bytes,
      "series\tloss\tgain\tname\nborder\t0.01\t0.08\t0.5 of trial 3\nborder\t0.03\t0.1\ttrial 3\n");
  EXPECT_EQ(files[3].bytes,
            "series\tshare\tvalue\ntrial 1\t0.333333\t0.41\ntrial 3\t0.333333\t0.45\n"
            "trial 3\t1\t0.5\n");
}

// A legend with a line for each of many trials would hide the figure; its numbers name them all.
TEST(TunePage, TheLegendOfManyTrialsSaysHowTheyWereDrawn) {
  SearchPlan plan = PlanOfThree();
  for (int i = 0; i < 8; ++i) plan.brackets.push_back(MakeBracket(1, 1, 2));
  std::vector<Json> journal = JournalOf(true);
  for (int trial = 4; trial <= 11; ++trial) {
    plan.configurations.push_back({{"train.batch", std::to_string(trial)}});
    journal.push_back({{"event", "draw"}, {"trial", trial}});
    Json row = RungOf(trial, 0, 0.4);
    row["bracket"] = trial - 2;
    journal.push_back(std::move(row));
  }
  const auto files = MakeTunePage(InputOf("x"), plan, journal);
  const std::string& svg = files[4].bytes;
  EXPECT_EQ(files[4].path, "figures/lengths.svg");
  EXPECT_THAT(svg, HasSubstr(">drawn at random<"));
  EXPECT_THAT(svg, HasSubstr(">drawn by what was seen<"));
  EXPECT_THAT(svg, Not(HasSubstr(">trial ")));
  EXPECT_THAT(files[3].bytes, HasSubstr("trial 11\t1\t0.4\n"));
}

TEST(TunePage, WithoutAChoiceThereIsNoRecipe) {
  const auto files = MakeTunePage(InputOf(""), PlanOfThree(), JournalOf(false));
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("The recipe to copy")));
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("largest gain of the")));
  EXPECT_THAT(files[0].bytes,
              HasSubstr("Nothing was chosen, so that no test data were looked at."));
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("was not measured on test data")));
}

TEST(TunePage, SaysWhatTheTestSaid) {
  std::vector<Json> journal = JournalOf(true);
  journal.push_back(ParseJson(R"({"event": "test", "queries": 70, "base": 0.3, "value": 0.35,
      "gain": 0.05, "half_width": 0.01, "p": 0.0125})"));
  const auto files = MakeTunePage(InputOf("x"), PlanOfThree(), journal);
  EXPECT_THAT(files[0].bytes,
              HasSubstr("On 70 test queries, looked at once, the choice has ndcg@10 0.3500 and the "
                        "base 0.3000 (+0.0500 +- 0.0100, p 0.0125)."));
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("was not measured on test data")));
}

TEST(TunePage, AVerySmallProbabilityIsNotShownAsNothing) {
  std::vector<Json> journal = JournalOf(true);
  journal.push_back(ParseJson(R"({"event": "test", "queries": 70, "base": 0.3, "value": 0.35,
      "gain": 0.05, "half_width": 0.01, "p": 0.00001})"));
  Json small = RungOf(3, 1, 0.5);
  small["p"] = 0.00002;
  journal.push_back(std::move(small));
  const std::string page = MakeTunePage(InputOf("x"), PlanOfThree(), journal)[0].bytes;
  EXPECT_THAT(page, HasSubstr("+- 0.0100, p below 0.0001)"));
  EXPECT_THAT(page, HasSubstr(">&lt; 0.0001<"));
}

TEST(TunePage, ASoupSaysWhoseWeightsItHas) {
  std::vector<Json> journal = JournalOf(true);
  journal.push_back(ParseJson(R"({"event": "soup", "trial": 1, "value": 0.55, "joins": true})"));
  journal.push_back(ParseJson(R"({"event": "soup", "trial": 2, "why": "has <other> modules"})"));
  for (Json& row : journal) {
    if (row.at("event").text() != "choice") continue;
    Json soup = row.at("arms").at(0);
    soup["name"] = "soup of 2 trials";
    soup["trials"] = Json::array({3, 1});
    row["arms"] = Json::array({soup, row.at("arms").at(1)});
  }
  const std::string page = MakeTunePage(InputOf("x"), PlanOfThree(), journal)[0].bytes;
  EXPECT_THAT(page,
              HasSubstr("Its weights are the mean of those of trials 3, 1; the recipe below is"));
  EXPECT_THAT(page, HasSubstr("it may be chosen only where the best trial is seen to gain too"));
  EXPECT_THAT(page, HasSubstr("cannot be averaged: has &lt;other&gt; modules"));
  EXPECT_THAT(page, HasSubstr("<bdi>8, as given</bdi>"));
  EXPECT_THAT(MakeTunePage(InputOf("x"), PlanOfThree(), JournalOf(true))[0].bytes,
              Not(HasSubstr("The soup begins")));
}

TEST(TunePage, ASecondTrialOfAConfigurationSaysWhose) {
  SearchPlan plan = PlanOfThree();
  plan.brackets.push_back(MakeBracket(1, 1, 2));
  plan.configurations.push_back({{"train.batch", "8"}});
  std::vector<Json> journal = JournalOf(true);
  journal.push_back({{"event", "draw"}, {"trial", 4}});
  Json row = RungOf(4, 0, 0.4);
  row["bracket"] = 2;
  journal.push_back(std::move(row));
  EXPECT_THAT(MakeTunePage(InputOf("x"), plan, journal)[0].bytes,
              HasSubstr("trial 3 again, in full"));
}

TEST(TunePage, WithoutSentinelSetsThereIsNoBorder) {
  std::vector<Json> journal = JournalOf(true);
  Json arms = Json::array();
  for (const Json& arm : journal.back().at("arms")) {
    Json without = Json::object();
    for (const JsonMember& member : arm.items()) {
      if (member.key != "loss") without[member.key] = member.value;
    }
    arms.push_back(std::move(without));
  }
  journal.back()["arms"] = std::move(arms);
  const auto files = MakeTunePage(InputOf("x"), PlanOfThree(), journal);
  EXPECT_EQ(files.size(), 3U);
  EXPECT_THAT(files[0].bytes, Not(HasSubstr("What is lost elsewhere")));
}

}  // namespace
}  // namespace tandem::tune
