// [[validation.source]], from files to the queries that a run is measured on.
#include "train/inputs/validation_sources.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "train/inputs/source_cases.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

using testing::HasSubstr;

class ValidationSources : public testing::Test {
 protected:
  ValidationSources() {
    for (const char* name : {"train", "a", "b"}) WriteTinyData(folder_.path() / name, kWords);
    data().train = Path("train");
    data().positive_grade = 2;
    sources() = {{.path = Path("a")}, {.path = Path("b"), .split = "train"}};
  }
  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  config::DataRecipe& data() { return loaded_.recipe.data; }
  std::vector<config::ValidationSourceRecipe>& sources() {
    return loaded_.recipe.validation.sources;
  }
  std::vector<uint32_t> QueriesOf(size_t place) const {
    std::vector<uint32_t> queries;
    const RunData read = ReadRunData(loaded_);
    for (const data::JudgedQuery& query : read.validation_sources[place].dataset.judged) {
      queries.push_back(query.query);
    }
    return queries;
  }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

TEST_F(ValidationSources, AreReadWithTheirSplitsAndAllThatIsJudged) {
  const CapturedMessages said;
  const RunData read = ReadRunData(loaded_);
  ASSERT_EQ(read.validation_sources.size(), 2U);
  EXPECT_EQ(read.validation_sources[0].name, "a");
  EXPECT_EQ(read.validation_sources[0].Corpus().judged.size(), 16U);
  EXPECT_EQ(read.validation_sources[1].Corpus().judged.size(), 48U);
  EXPECT_EQ(read.validation_sources[1].Corpus().qrels->judgement_count(), 144U);
  EXPECT_EQ(read.training.size(), 48U);
  EXPECT_EQ(read.RelevanceLevel(data()), 2);
  EXPECT_THAT(said.text(), HasSubstr("validation on a: 16 judged queries, 60 documents\n"
                                     "validation on b: 48 judged queries, 60 documents\n"));
}

TEST_F(ValidationSources, QueriesAreDrawnBySeedTheirJudgementsAloneCountAndFewerAreAmongMore) {
  sources()[1].queries = 10;
  const CapturedMessages said;
  const RunData read = ReadRunData(loaded_);
  EXPECT_THAT(said.text(), HasSubstr("validation on b: 10 of 48 judged queries, 60 documents\n"));
  const ValidationSource& source = read.validation_sources[1];
  ASSERT_EQ(source.dataset.judged.size(), 10U);
  ASSERT_EQ(source.qrels->queries().size(), 10U);
  EXPECT_EQ(source.qrels->judgement_count(), 30U);
  for (const data::JudgedQuery& query : source.dataset.judged) {
    const auto* judged = source.qrels->Find(source.dataset.queries.id(query.query));
    ASSERT_NE(judged, nullptr);
    EXPECT_EQ(judged->judgements.size(), query.judgements.size());
  }
  const std::vector<uint32_t> ten = QueriesOf(1);
  EXPECT_TRUE(std::is_sorted(ten.begin(), ten.end()));
  EXPECT_GT(ten.back(), 9U);
  EXPECT_EQ(QueriesOf(1), ten);
  sources()[1].queries = 30;
  const std::vector<uint32_t> thirty = QueriesOf(1);
  EXPECT_TRUE(std::includes(thirty.begin(), thirty.end(), ten.begin(), ten.end()));
  sources()[1].queries = 10;
  loaded_.recipe.seed = 2;
  EXPECT_NE(QueriesOf(1), ten);
}

TEST_F(ValidationSources, MoreQueriesThanThereAreAreAll) {
  sources()[0].queries = 17;
  const CapturedMessages said;
  EXPECT_EQ(QueriesOf(0).size(), 16U);
  EXPECT_THAT(said.text(), HasSubstr("validation on a: all 16 judged queries, 60 documents\n"));
}

TEST_F(ValidationSources, ChangeTheFingerprint) {
  std::set<uint64_t> seen = {ReadRunData(loaded_).fingerprint};
  sources()[1].queries = 10;
  EXPECT_TRUE(seen.insert(ReadRunData(loaded_).fingerprint).second);
  sources().pop_back();
  EXPECT_TRUE(seen.insert(ReadRunData(loaded_).fingerprint).second);
}

TEST_F(ValidationSources, FilesOfLinesHaveNoSplitAndThePromptOfTheModel) {
  WriteFileAtomically(folder_.path() / "v.jsonl",
                      R"({"query": "a", "pos": ["p"], "neg": ["n"], "prompt": "Ask: "})");
  sources()[0] = {.path = Path("v.jsonl")};
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kData,
              {"v.jsonl: its queries have the prompt \"Ask: \"",
               "validation.source.1.query_prompt says which one they get"});
  sources()[0].query_prompt = "Ask: ";
  EXPECT_EQ(ReadRunData(loaded_).validation_sources[0].Corpus().judged.size(), 1U);
  EXPECT_EQ(ReadRunData(loaded_).validation_sources[0].Corpus().qrels, nullptr);
  sources()[0].split = "dev";
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kUsage,
              {"recipe.toml: validation.source.1.split does nothing here", "which has no splits"});
}

}  // namespace
}  // namespace tandem::train
