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
  const std::string error = ErrorOf("map,ndgc@10");
  EXPECT_THAT(error,
              StartsWith("measure ndgc@10 is unknown; did you mean ndcg@10? Known are ndcg, "
                         "ndcg@k, ndcg_exp, ndcg_exp@k, map, map@k, mrr, mrr@k, recall@k, "));
  EXPECT_THAT(error, HasSubstr(", f1@SCORE, set_precision@SCORE, set_recall@SCORE, auc, "));
  for (const MeasureInfo* info : Measures()) EXPECT_THAT(error, HasSubstr(Spellings(*info)));
  EXPECT_THAT(ErrorOf("zzzzzzzzzzzz"), StartsWith("measure zzzzzzzzzzzz is unknown. Known are "));
}

// The names of ir_measures, with ours for the same.
TEST(ParseMeasures, NamesOfIrMeasuresAreRead) {
  const std::pair<const char*, const char*> names[] = {
      {"nDCG@10", "ndcg@10"},
      {"NDCG", "ndcg"},
      {"nDCG(dcg='log2')@10", "ndcg@10"},
      {"nDCG(dcg='exp-log2')@10", "ndcg_exp@10"},
      {"AP", "map"},
      {"MAP", "map"},
      {"AP(rel=2)", "map(rel=2)"},
      {"AP@100", "map@100"},
      {"RR@10", "mrr@10"},
      {"MRR", "mrr"},
      {"P(rel=2)@5", "precision(rel=2)@5"},
      {"Precision@5", "precision@5"},
      {"R@100", "recall@100"},
      {"Recall@100", "recall@100"},
      {"Success@5", "success@5"},
      {"Rprec", "rprec"},
      {"RPrec(rel=1)", "rprec(rel=1)"},
      {"Bpref", "bpref"},
      {"RBP", "rbp"},
      {"RBP(p=0.8, rel=1)", "rbp(rel=1)"},
      {"RBP(rel=1,p=0.9)@20", "rbp(p=0.9,rel=1)@20"},
      {"Judged@10", "judged@10"},
  };
  for (const auto& [theirs, ours] : names) {
    ASSERT_EQ(MeasureProblem(theirs), "");
    EXPECT_EQ(ParseMeasure(theirs).name(), ours);
    EXPECT_EQ(ParseMeasure(ours).name(), ours);
  }
}

TEST(ParseMeasures, CommasInParenthesesDoNotEndAName) {
  const std::vector<Measure> measures = ParseMeasures("RBP(p=0.9, rel=2), AP(rel=2),map");
  ASSERT_EQ(measures.size(), 3U);
  EXPECT_EQ(measures[0].name(), "rbp(p=0.9,rel=2)");
  EXPECT_EQ(measures[1].relevance_level, 2);
  EXPECT_EQ(measures[2].name(), "map");
  EXPECT_EQ(measures[2].relevance_level, std::nullopt);
  EXPECT_EQ(ErrorOf("AP(rel=2),map(rel=2.0)"), "measure map(rel=2) is named twice");
}

TEST(ParseMeasures, ScoresOfF1) {
  EXPECT_EQ(ParseMeasure("f1@0.410").name(), "f1@0.41");
  EXPECT_EQ(ParseMeasure("F1(rel=2)@-1e-3").name(), "f1(rel=2)@-0.001");
  for (const char* name : {"f1", "f1@", "f1@x", "f1@nan", "f1@inf"}) {
    EXPECT_EQ(ErrorOf(name), std::string("measure ") + name +
                                 " needs a score, from which on results count: f1@0.41");
  }
}

TEST(ParseMeasures, PrecisionAndRecallAtAScore) {
  EXPECT_EQ(ParseMeasure("set_precision@0.410").name(), "set_precision@0.41");
  EXPECT_EQ(ParseMeasure("set_recall(rel=2)@-1e-3").name(), "set_recall(rel=2)@-0.001");
  EXPECT_EQ(ErrorOf("set_recall"),
            "measure set_recall needs a score, from which on results count: set_recall@0.41");
  EXPECT_EQ(ErrorOf("precision@0.41"),
            "the cut-off of measure precision@0.41 must be a whole number from 1 to 1000000000; "
            "results from a score on are set_precision@0.41");
  EXPECT_EQ(ErrorOf("ndcg@0.41"),
            "the cut-off of measure ndcg@0.41 must be a whole number from 1 to 1000000000");
}

TEST(ParseMeasures, ParametersAreChecked) {
  EXPECT_EQ(ErrorOf("nDCG(gains={0:0,1:1,2:9})@10"),
            "measure nDCG(gains={0:0,1:1,2:9})@10: gains of one's own cannot be given; change the "
            "grades of the judgements, or take ndcg_exp@k, whose gains are 2^grade - 1");
  EXPECT_THAT(ErrorOf("P(judged_only=True)@5"), HasSubstr("results that nobody judged cannot"));
  EXPECT_THAT(ErrorOf("AP(cutoff=10)"), HasSubstr("the cut-off is written after the name"));
  EXPECT_EQ(ErrorOf("nDCG(dcg='log')@10"),
            "measure nDCG(dcg='log')@10: dcg must be log2 or exp-log2, found \"log\"");
  EXPECT_EQ(ErrorOf("nDCG(rel=2)@10"),
            "measure ndcg takes no rel: its gains are made of all grades above 0");
  EXPECT_EQ(ErrorOf("judged(rel=2)@10"),
            "measure judged takes no rel: judgements of every grade count");
  EXPECT_EQ(ErrorOf("auc(rel=2)"),
            "measure auc takes no rel: its positives are those of the evaluation's relevance level "
            "(--relevance-level, in recipes data.positive_grade)");
  for (const char* level : {"0", "-1", "nan", "x", ""}) {
    EXPECT_EQ(ErrorOf(std::string("AP(rel=") + level + ")"),
              std::string("measure AP(rel=") + level + "): rel must be a number above 0, found \"" +
                  level + "\"");
  }
  EXPECT_EQ(ErrorOf("rbp(p=1)"), "measure rbp(p=1): p must be from 0 to 0.9999, found 1.0");
  EXPECT_EQ(ErrorOf("rbp(p=x)"), "measure rbp(p=x): p must be a number, found \"x\"");
  EXPECT_EQ(ErrorOf("rbp(p=0.5,p=0.6)"), "measure rbp(p=0.5,p=0.6): p is given twice");
  EXPECT_EQ(ErrorOf("rbp(q=0.5)"), "measure rbp has no parameter q; known are p, rel");
  EXPECT_EQ(ErrorOf("auc(q=0.5)"), "measure auc has no parameter q; it has none");
  EXPECT_EQ(ErrorOf("map(2)"),
            "measure map(2): expected PARAMETER=VALUE in parentheses, found \"2\"");
  EXPECT_EQ(ErrorOf("map(rel=2"), "measure map(rel=2: the parenthesis is not closed");
  EXPECT_EQ(ErrorOf("map(rel=2)x"),
            "measure map(rel=2)x: expected @ or nothing after the parentheses, found \"x\"");
  EXPECT_THAT(ErrorOf("nDCQ(rel=2)@10"), HasSubstr("did you mean ndcg(rel=2)@10?"));
}

TEST(ParseMeasures, SuggestionsAreMeasuresThatThereAre) {
  EXPECT_THAT(ErrorOf("mapp"), HasSubstr("did you mean map?"));
  EXPECT_THAT(ErrorOf("mapp@10"), HasSubstr("did you mean map@10?"));
  EXPECT_THAT(ErrorOf("rprecs@10"), Not(HasSubstr("rprec@10?")));
  EXPECT_THAT(ErrorOf("aucs@10"), Not(HasSubstr("auc@10?")));
}

TEST(ParseMeasures, NamesOfTrecEvalAreTranslated) {
  EXPECT_THAT(ErrorOf("ndcg_cut_10"), HasSubstr("did you mean ndcg@10?"));
  EXPECT_THAT(ErrorOf("map_cut_10"), HasSubstr("did you mean map@10?"));
  EXPECT_THAT(ErrorOf("P.5"), HasSubstr("did you mean precision@5?"));
  EXPECT_THAT(ErrorOf("recip_rank"), HasSubstr("did you mean mrr?"));
}

TEST(ParseMeasures, CutOffsAreChecked) {
  EXPECT_EQ(ErrorOf("recall"), "measure recall needs a cut-off: recall@10");
  EXPECT_EQ(ErrorOf("rprec@10"), "measure rprec takes no cut-off; found rprec@10");
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
    const bool needs = info->cut_off == CutOff::kRequired || info->cut_off == CutOff::kScore;
    EXPECT_EQ(MeasureProblem(name).empty(), !needs) << name;
    EXPECT_EQ(MeasureProblem(name + "@10").empty(), info->cut_off != CutOff::kNone) << name;
    EXPECT_FALSE(info->summary.empty()) << name;
    EXPECT_FALSE(info->source.empty()) << name;
    EXPECT_EQ(info->of_query == nullptr, info->kind != MeasureKind::kRanking) << name;
  }
}

}  // namespace
}  // namespace tandem::eval
