#include "eval/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tandem::eval {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string ErrorOf(std::string_view list) {
  try {
    ParseMeasures(list);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseMeasures, ReadsNamesWithAndWithoutCutOff) {
  const std::vector<Measure> measures = ParseMeasures("ndcg@10, ndcg ,map,recall@1000");
  ASSERT_EQ(measures.size(), 4U);
  EXPECT_EQ(measures[0].name(), "ndcg@10");
  EXPECT_EQ(measures[0].cut_off, 10U);
  EXPECT_EQ(measures[1].name(), "ndcg");
  EXPECT_EQ(measures[1].cut_off, kAllResults);
  EXPECT_EQ(measures[2].info->name, "map");
  EXPECT_EQ(measures[3].cut_off, 1000U);
}

TEST(ParseMeasures, UnknownNamesComeWithTheNearest) {
  EXPECT_EQ(ErrorOf("map,ndgc@10"),
            "measure ndgc@10 is unknown; did you mean ndcg@10? Known are ndcg, ndcg@k, map, mrr, "
            "mrr@k, recall@k, precision@k, success@k, rprec, bpref, auc, auc_per_query");
  EXPECT_THAT(ErrorOf("zzzzzzzzzzzz"), StartsWith("measure zzzzzzzzzzzz is unknown. Known are "));
}

TEST(ParseMeasures, CapitalsAreNoReasonToMissTheNearest) {
  EXPECT_THAT(ErrorOf("nDCG@10"), HasSubstr("did you mean ndcg@10?"));
  EXPECT_THAT(ErrorOf("MRR"), HasSubstr("did you mean mrr?"));
  EXPECT_THAT(ErrorOf("MAP"), HasSubstr("did you mean map?"));
  EXPECT_THAT(ErrorOf("Recall@100"), HasSubstr("did you mean recall@100?"));
}

TEST(ParseMeasures, SuggestionsAreMeasuresThatThereAre) {
  EXPECT_THAT(ErrorOf("mapp"), HasSubstr("did you mean map?"));
  EXPECT_THAT(ErrorOf("mapp@10"), Not(HasSubstr("map@10?")));
  EXPECT_THAT(ErrorOf("aucs@10"), Not(HasSubstr("auc@10?")));
}

TEST(ParseMeasures, NamesOfTrecEvalAreTranslated) {
  EXPECT_THAT(ErrorOf("ndcg_cut_10"), HasSubstr("did you mean ndcg@10?"));
  EXPECT_THAT(ErrorOf("P.5"), HasSubstr("did you mean precision@5?"));
  EXPECT_THAT(ErrorOf("P@5"), HasSubstr("did you mean precision@5?"));
  EXPECT_THAT(ErrorOf("p@5"), HasSubstr("did you mean precision@5?"));
  EXPECT_THAT(ErrorOf("recip_rank"), HasSubstr("did you mean mrr?"));
}

TEST(ParseMeasures, CutOffsAreChecked) {
  EXPECT_EQ(ErrorOf("recall"), "measure recall needs a cut-off: recall@10");
  EXPECT_EQ(ErrorOf("map@10"), "measure map takes no cut-off; found map@10");
  for (const char* name : {"ndcg@0", "ndcg@", "ndcg@-1", "ndcg@1.5", "ndcg@ten", "ndcg@10@5",
                           "ndcg@18446744073709551616", "ndcg@1000000001"}) {
    EXPECT_EQ(ErrorOf(name), std::string("the cut-off of measure ") + name +
                                 " must be a whole number from 1 to 1000000000");
  }
}

TEST(ParseMeasures, EmptyAndRepeatedNamesAreErrors) {
  for (const char* list : {"", "map,", ",map", "map,,mrr", " "}) {
    EXPECT_EQ(ErrorOf(list), "the list of measures has an empty name; expected ndcg@10,map,...");
  }
  EXPECT_EQ(ErrorOf("ndcg@10,map,ndcg@010"), "measure ndcg@10 is named twice");
}

TEST(MeasureProblem, IsEmptyForEveryEntryAsItIsSpelled) {
  for (const MeasureInfo* info : Measures()) {
    const std::string name(info->name);
    EXPECT_EQ(MeasureProblem(name).empty(), info->cut_off != CutOff::kRequired) << name;
    EXPECT_EQ(MeasureProblem(name + "@10").empty(), info->cut_off != CutOff::kNone) << name;
    EXPECT_FALSE(info->summary.empty()) << name;
    EXPECT_FALSE(info->source.empty()) << name;
    EXPECT_EQ(info->of_query == nullptr, info->kind != MeasureKind::kRanking) << name;
  }
}

}  // namespace
}  // namespace tandem::eval
