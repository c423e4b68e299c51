// Every value of trec_eval's own output for real runs, per query and mean, to its printed digits.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "data/formats/qrels_file.h"
#include "data/formats/trec_run.h"
#include "eval/evaluate.h"
#include "support/test_data.h"

namespace tandem::eval {
namespace {

// Tandem's name for a measure of trec_eval; "" where it has none.
std::string OurName(const std::string& theirs) {
  for (const MeasureInfo* info : Measures()) {
    if (!info->trec_eval_name.empty() && theirs == info->trec_eval_name) {
      return std::string(info->name);
    }
    const std::string prefix = std::string(info->trec_eval_cut_name) + "_";
    if (prefix.size() > 1 && theirs.starts_with(prefix)) {
      return fmt::format("{}@{}", info->name, theirs.substr(prefix.size()));
    }
  }
  return "";
}

// [our measure][query or "all"] -> as printed.
using Printed = std::map<std::string, std::map<std::string, std::string>>;

Printed ReadPrinted(const std::filesystem::path& path) {
  Printed printed;
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string measure;
    std::string query;
    std::string value;
    fields >> measure >> query >> value;
    const std::string name = OurName(measure);
    if (!name.empty()) printed[name][query] = value;
  }
  return printed;
}

size_t ComparePrinted(const Printed& printed, const Evaluation& evaluation) {
  size_t compared = 0;
  for (const MeasureValues& values : evaluation.measures) {
    const std::string name = values.measure.name();
    const auto& wanted = printed.at(name);
    EXPECT_EQ(wanted.size(), evaluation.queries.size() + 1) << name;
    EXPECT_EQ(fmt::format("{:.4f}", *values.mean), wanted.at("all")) << name;
    for (size_t q = 0; q < evaluation.queries.size(); ++q, ++compared) {
      EXPECT_EQ(fmt::format("{:.4f}", *values.per_query[q]), wanted.at(evaluation.queries[q]))
          << name << " of query " << evaluation.queries[q];
    }
  }
  return compared;
}

struct Fixture {
  std::string name;
  std::string run;
  std::string qrels;
};

// Without it GoogleTest would print the parameter's bytes, addresses among them, in test names.
void PrintTo(const Fixture& fixture, std::ostream* out) { *out << fixture.run; }

class TrecEvalFixture : public testing::TestWithParam<Fixture> {};

TEST_P(TrecEvalFixture, EveryQueryEqualsToThePrintedDigits) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const std::filesystem::path folder = *shared / "data/metric-fixtures";
  const Printed printed = ReadPrinted(folder / fmt::format("{}.eval", GetParam().run));
  std::vector<Measure> measures;
  for (const auto& [name, values] : printed) measures.push_back(ParseMeasure(name));
  // ndcg, map, mrr, rprec, bpref; ndcg, map, recall and precision at nine depths, success at three.
  EXPECT_EQ(measures.size(), 5U + 4 * 9 + 3);
  const data::Run run = data::ReadTrecRun(folder / GetParam().run);
  const data::Qrels qrels = data::ReadQrels(folder / GetParam().qrels);
  EvaluationOptions options{.complete = true};  // made with -l 2 -c -M1000
  options.ranking.relevance_level = 2;
  options.ranking.max_results = 1000;
  // Versions 9 and 10 print the same: no two scores of these runs differ in the eighth digit only.
  for (const ScorePrecision precision : {ScorePrecision::kDouble, ScorePrecision::kSingle}) {
    options.ranking.score_precision = precision;
    EXPECT_EQ(ComparePrinted(printed, EvaluateRun(run, qrels, measures, options)),
              measures.size() * 50);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runs, TrecEvalFixture,
    testing::Values(Fixture{"documents", "doc_bm25.run", "dl_hard-doc.qrels"},
                    Fixture{"passages", "passage_bm25.run", "dl_hard-passage.qrels"},
                    Fixture{"reranked", "passage_bm25+bert(zs).run", "dl_hard-passage.qrels"}),
    [](const auto& fixture) { return fixture.param.name; });

}  // namespace
}  // namespace tandem::eval
