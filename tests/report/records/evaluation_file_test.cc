#include "report/records/evaluation_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"
#include "report/example_run.h"

namespace tandem::report {
namespace {

using testing::HasSubstr;

// The message of the error that a text makes.
std::string ErrorOf(const std::string& text) {
  try {
    ParseEvaluation(text, "x.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "no error";
}

// The example's JSON after `change`.
template <typename Change>
std::string Changed(const Change& change) {
  auto json = nlohmann::ordered_json::parse(EvaluationText(ExampleEvaluation({})));
  change(json);
  return json.dump();
}

TEST(EvaluationFile, ComesBackAsItWasWritten) {
  const EvaluationRecord record = ExampleEvaluation({.separation = 0.2, .seed = 5});
  const std::string text = EvaluationText(record);
  const EvaluationRecord back = ParseEvaluation(text, "x.json");
  EXPECT_EQ(EvaluationText(back), text);
  // The bytes could agree because both leave something out.
  EXPECT_EQ(back.measures.size(), record.measures.size());
  EXPECT_EQ(back.measures[0].per_query, record.measures[0].per_query);
  EXPECT_EQ(back.roc->points, record.roc->points);
  EXPECT_EQ(back.roc->thresholds[2].score, std::nullopt);
  EXPECT_EQ(back.scores->hard_negatives.counts, record.scores->hard_negatives.counts);
  EXPECT_EQ(back.calibration[1].reliability[7].mean_probability, std::nullopt);
  EXPECT_EQ(back.views->projected_queries, record.views->projected_queries);
  EXPECT_EQ(back.cases->worst[1].results[2].text, record.cases->worst[1].results[2].text);
}

TEST(EvaluationFile, NeedsOnlyModelAndDataSet) {
  EvaluationRecord record;
  record.model.name = "m";
  const EvaluationRecord back = ParseEvaluation(EvaluationText(record), "x.json");
  EXPECT_EQ(back.model.name, "m");
  EXPECT_FALSE(back.roc || back.scores || back.views || back.cases);
}

TEST(EvaluationFile, WritesNullForValuesThatDoNotExist) {
  EvaluationRecord record;
  record.query_ids = {"a", "b", "c"};
  record.measures = {{.name = "map", .per_query = {0.5, std::nullopt, std::nan("")}}};
  const EvaluationRecord back = ParseEvaluation(EvaluationText(record), "x.json");
  EXPECT_THAT(back.measures[0].per_query,
              testing::ElementsAre(testing::Optional(0.5), std::nullopt, std::nullopt));
}

TEST(EvaluationFile, RefusesToWriteANumberThatIsNotFinite) {
  EvaluationRecord record = ExampleEvaluation({});
  record.roc->auc = std::numeric_limits<double>::infinity();
  EXPECT_THROW(EvaluationText(record), NumericError);
}

TEST(EvaluationFile, MakesInvalidUtf8Readable) {
  EvaluationRecord record;
  record.model.name = "a\xFF";
  EXPECT_EQ(ParseEvaluation(EvaluationText(record), "x.json").model.name, "a\xEF\xBF\xBD");
}

TEST(EvaluationFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(ErrorOf("{\"format\": \"tandem"), HasSubstr("x.json: is no whole JSON"));
  EXPECT_THAT(ErrorOf("{\"a\": 1e999}"), HasSubstr("x.json: has a number that no double holds"));
  EXPECT_THAT(ErrorOf("q1 Q0 d1 1 0.5 tag\n"),
              HasSubstr("x.json: is no evaluation: expected JSON, an object with"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("also takes run folders and model folders"));
  EXPECT_THAT(
      ErrorOf(Changed([](auto& json) { json["measures"][0]["mean"] = 1e308; })),
      HasSubstr("measures[0].mean should be a number from -1e+300 to 1e+300 and is 1e+308"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["calibration"][0]["log_loss"] = -1.5; })),
              HasSubstr("log_loss should be a number from 0 to 1e+300 and is -1.5"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["model"].erase("folder"); })),
              HasSubstr("model.folder is missing"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["model"].erase("precision"); })),
              HasSubstr("model.precision is missing"));
  EXPECT_THAT(ErrorOf("[]"), HasSubstr("is no evaluation"));
  EXPECT_THAT(ErrorOf("{}"), HasSubstr("\"format\": \"tandem evaluation\""));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["version"] = 2; })),
              HasSubstr("has version 2; this program reads version 1"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["rox"] = 1; })),
              HasSubstr("rox is unknown; did you mean roc?"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["model"].erase("name"); })),
              HasSubstr("model.name is missing"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["roc"]["points"][3] = {0.1}; })),
              HasSubstr("roc.points[3] should be a list of two numbers and is [0.1]"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["roc"]["points"][3][1] = 1.5; })),
              HasSubstr("roc.points[3][1] should be a number from 0 to 1 and is 1.5"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["dataset"]["queries"] = -1; })),
              HasSubstr("dataset.queries should be an integer of at least 0 and is -1"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["dataset"]["queries"] = 1e30; })),
              HasSubstr("dataset.queries should be an integer of at least 0"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["model"]["name"] = 3; })),
              HasSubstr("model.name should be a text and is 3"));
  EXPECT_THAT(
      ErrorOf(Changed([](auto& json) { json["cases"]["best"][0]["results"][1]["id"] = {}; })),
      HasSubstr("cases.best[0].results[1].id should be a text and is null"));
}

TEST(EvaluationFile, ChecksWhatMembersSayTogether) {
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["query_ids"].erase(0); })),
              HasSubstr("ndcg@10 has 400 values per query and the file 399 query_ids"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["scores"]["positives"]["to"] = -0.2; })),
              HasSubstr("scores.positives has 40 bins from -0.2 to -0.2"));
  EXPECT_THAT(ErrorOf(Changed([](auto& json) { json["views"]["ratio"].erase("counts"); })),
              HasSubstr("ratio has 0 bins"));
}

}  // namespace
}  // namespace tandem::report
