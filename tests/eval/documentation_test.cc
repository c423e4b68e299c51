// The worked examples of docs/evaluation.md, "Measures", read from the page itself.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "base/files/files.h"
#include "data/formats/qrels_file.h"
#include "data/formats/trec_run.h"
#include "eval/evaluate.h"

namespace tandem::eval {
namespace {

// What stands in the block that begins with "```LANGUAGE".
std::string Block(const std::string& page, const std::string& language) {
  const std::string begin = "```" + language + "\n";
  const size_t start = page.find(begin);
  if (start == std::string::npos) return "";
  const size_t first = start + begin.size();
  return page.substr(first, page.find("```", first) - first);
}

struct Example {
  std::string measure;
  std::string values;  // "q1 0.5000, q2 0.2500, mean 0.3750"
};

// The lines "Example: `map`: q1 0.5000, q2 0.5000, mean 0.5000. ...".
std::vector<Example> ExamplesOf(const std::string& page) {
  const std::regex pattern("^Example: `([^`]+)`: ((q[12] [0-9.]+, )*mean [0-9]\\.[0-9]{4})\\.");
  std::vector<Example> examples;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("Example: ")) continue;
    std::smatch match;
    EXPECT_TRUE(std::regex_search(line, match, pattern)) << line;
    if (!match.empty()) examples.push_back({match[1], match[2]});
  }
  return examples;
}

// The values of an evaluation of one measure, in the words of the page.
std::string InWords(const Evaluation& evaluation) {
  const MeasureValues& values = evaluation.measures.front();
  std::string text;
  for (size_t q = 0; q < values.per_query.size(); ++q) {
    text += fmt::format("{} {:.4f}, ", evaluation.queries[q], *values.per_query[q]);
  }
  return text + fmt::format("mean {:.4f}", *values.mean);
}

TEST(Documentation, EveryMeasureHasAWorkedExample) {
  const std::string page = ReadFile(TANDEM_SOURCE_DIR "/docs/evaluation.md");
  const std::string run_text = Block(page, "run"), qrels_text = Block(page, "qrels");
  data::Warnings warnings;
  data::LineReader run_reader("run", run_text, warnings);
  data::LineReader qrels_reader("qrels", qrels_text, warnings);
  const data::Run run = data::ReadTrecRun(run_reader);
  const data::Qrels qrels = data::ReadQrels(qrels_reader);
  std::set<std::string_view> shown;
  for (const Example& example : ExamplesOf(page)) {
    const std::vector<Measure> measures = ParseMeasures(example.measure);
    EXPECT_EQ(measures.front().name(), example.measure);
    EXPECT_EQ(InWords(EvaluateRun(run, qrels, measures, {})), example.values) << example.measure;
    shown.insert(measures.front().info->name);
  }
  for (const MeasureInfo* info : Measures()) {
    EXPECT_TRUE(shown.contains(info->name)) << info->name;
  }
}

// Every name that the page gives as one of ir_measures is read.
TEST(Documentation, NamesOfIrMeasuresAreRead) {
  const std::string page = ReadFile(TANDEM_SOURCE_DIR "/docs/evaluation.md");
  const size_t begin = page.find("(https://ir-measur.es)"), end = page.find("printed is always");
  ASSERT_LT(begin, end);
  const std::string sentence = page.substr(begin, end - begin);
  const std::regex code("`([^`]+)`");
  size_t names = 0;
  for (std::sregex_iterator match(sentence.begin(), sentence.end(), code), last; match != last;
       ++match, ++names) {
    EXPECT_EQ(MeasureProblem((*match)[1].str()), "");
  }
  EXPECT_EQ(names, 13U);
}

}  // namespace
}  // namespace tandem::eval
