#include "report/verdict/paired_change.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "eval/significance/compare.h"

namespace tandem::report {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Queries whose ids do not come in the order of their numbers: q0, q1, q10, q11, q2, ...
EvaluationRecord RecordOf(const std::vector<double>& values) {
  EvaluationRecord record{
      .dataset = {.name = "wiki", .split = "test", .documents = 9, .queries = 0}};
  MeasureResult measure{.name = "mrr"};
  double sum = 0;
  for (size_t q = 0; q < values.size(); ++q) {
    record.query_ids.push_back("q" + std::to_string(q));
    measure.per_query.push_back(values[q]);
    sum += values[q];
  }
  record.dataset.queries = static_cast<int64_t>(values.size());
  measure.mean = sum / static_cast<double>(values.size());
  record.measures = {measure};
  return record;
}

// As eval::Compare takes it: queries ascending.
eval::System SystemOf(const std::string& name, const EvaluationRecord& record) {
  std::vector<std::pair<std::string, std::optional<double>>> values;
  for (size_t q = 0; q < record.query_ids.size(); ++q) {
    values.emplace_back(record.query_ids[q], record.measures[0].per_query[q]);
  }
  std::sort(values.begin(), values.end());
  eval::System system{.name = name};
  eval::MeasureValues measured{.measure = eval::ParseMeasure("mrr")};
  for (const auto& [query, value] : values) {
    system.evaluation.queries.push_back(query);
    measured.per_query.push_back(value);
  }
  system.evaluation.measures = {measured};
  return system;
}

std::vector<double> Drawn(size_t count, unsigned from) {
  std::vector<double> values;
  for (size_t q = 0; q < count; ++q) {
    from = from * 1103515245 + 12345;
    values.push_back(1.0 / (1 + (from >> 16) % 7));
  }
  return values;
}

TEST(PairedChange, HasThePOfCompare) {
  // 40 values, so that patterns are drawn: p depends on the seed and on the order of the queries.
  const EvaluationRecord a = RecordOf(Drawn(40, 1)), b = RecordOf(Drawn(40, 2));
  const eval::System systems[] = {SystemOf("a", a), SystemOf("b", b)};
  for (const uint64_t seed : {1, 2}) {
    const eval::MeasureDifference compared =
        eval::Compare(systems, {.seed = seed}).systems[0].measures[0];
    ASSERT_FALSE(compared.exact);
    const std::optional<PairedChange> change = ChangeOf(a, b, "mrr", seed);
    ASSERT_TRUE(change);
    EXPECT_EQ(change->p, compared.p_value);
    EXPECT_EQ(change->queries, compared.queries);
    EXPECT_DOUBLE_EQ(change->second, compared.mean);
    EXPECT_EQ(change->effect_size, compared.effect_size);
  }
  EXPECT_NE(ChangeOf(a, b, "mrr", 1)->p, ChangeOf(a, b, "mrr", 2)->p);
}

TEST(PairedChange, CountsQueriesOfBothInAnyOrder) {
  const EvaluationRecord a = RecordOf({0.5, 0.5, 1, 0.25});
  EvaluationRecord b = RecordOf({1, 0.25, 1, 0.5});
  EXPECT_EQ(QueriesText(a, b, "mrr", 1), "2 gained, 1 lost; p = 0.7500");
  std::reverse(b.query_ids.begin(), b.query_ids.end());
  std::reverse(b.measures[0].per_query.begin(), b.measures[0].per_query.end());
  EXPECT_EQ(QueriesText(a, b, "mrr", 1), "2 gained, 1 lost; p = 0.7500");
  b.measures[0].per_query[0].reset();  // q3 has no value
  EXPECT_EQ(ChangeOf(a, b, "mrr", 1)->queries, 3);
  EXPECT_EQ(QueriesText(a, b, "map", 1), "");
  b.measures[0].per_query.clear();
  EXPECT_EQ(QueriesText(a, b, "mrr", 1), "");
}

TEST(PairedChange, RecommendsWhatTheFirstDataSetShows) {
  ReportInput input;
  EXPECT_EQ(RecommendationOf(input), std::nullopt);
  input.evaluations = {{"before", RecordOf({0.5, 0.5, 0.5, 0.5, 0.5, 0.5})}};
  EXPECT_EQ(RecommendationOf(input), std::nullopt);
  input.evaluations.push_back({"after", RecordOf({1, 1, 1, 1, 1, 1})});
  // Of 64 sign patterns two are as far: p is 0.03125.
  EXPECT_EQ(RecommendationOf(input)->sentence,
            "Serve the trained model: its mrr is 1.0000, that of the model before training 0.5000, "
            "on 6 queries of wiki, split test, and such a difference is hardly chance "
            "(p = 0.0312).");
  input.evaluations[1].record = RecordOf({0.5, 1, 1, 1, 1, 1});
  EXPECT_THAT(RecommendationOf(input)->sentence,
              HasSubstr("may be chance (p = 0.0625); the values of 5 queries differ, too few "
                        "for anything to be seen; about "));
  EXPECT_EQ(RecommendationOf(input)->use, "the model before training");
  input.evaluations[0].record.model.folder = "all-MiniLM-L6-v2";
  EXPECT_THAT(RecommendationOf(input)->sentence,
              StartsWith("Keep the model before training (all-MiniLM-L6-v2): its mrr is "));
}

TEST(PairedChange, IsAdjustedForSeveralModels) {
  const EvaluationRecord base = RecordOf({0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
  const EvaluationRecord high = RecordOf({1, 1, 1, 1, 1, 1});
  const ReportInput input{.evaluations = {{"a", base}, {"b", high}, {"c", high}}};
  // 0.03125 alone, and 0.0625 of two after Holm's correction.
  EXPECT_EQ(RecommendationOf(input)->use, "a");
  EXPECT_THAT(RecommendationOf(input)->sentence, HasSubstr("p = 0.0625 after Holm's correction"));
}

}  // namespace
}  // namespace tandem::report
