#include "train/run_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "train/tiny_data.h"
#include "weights/error_matching.h"

namespace tandem::train {
namespace {

const std::vector<std::string> kWords = {"red", "green", "blue", "black", "white"};

config::LoadedRecipe Recipe(const std::filesystem::path& data) {
  config::LoadedRecipe loaded{.file = "recipe.toml"};
  loaded.recipe.data.train = data.native();
  loaded.recipe.data.positive_grade = 2;
  return loaded;
}

TEST(RunData, HoldsOutQueriesWithTheirCopies) {
  const TemporaryFolder folder;
  WriteTinyData(folder.path(), kWords, {.queries = 40});
  auto recipe = Recipe(folder.path());
  recipe.recipe.validation.holdout = config::Quantity::Percent(10);
  const RunData data = ReadRunData(recipe);
  EXPECT_EQ(data.held_out.size(), 4);
  EXPECT_EQ(data.training.size(), 36);
  std::set<uint64_t> held, trained;
  for (const uint32_t e : data.held_out)
    held.insert(data.set.query_hashes[data.set.examples[e].query]);
  for (const uint32_t e : data.training) {
    EXPECT_FALSE(held.contains(data.set.query_hashes[data.set.examples[e].query]));
  }
  const JudgedCorpus corpus = data.ValidationCorpus();
  ASSERT_EQ(corpus.judged.size(), 4);
  EXPECT_EQ(corpus.judged[0].judgements.size(), 3);
  EXPECT_EQ(ReadRunData(recipe).held_out, data.held_out);
  recipe.recipe.seed = 2;
  EXPECT_NE(ReadRunData(recipe).held_out, data.held_out);
  recipe.recipe.validation.holdout = config::Quantity::Count(40);
  ExpectError(
      [&] { ReadRunData(recipe); }, ExitCode::kUsage,
      {"recipe.toml", "validation.holdout", "leaves 40 of 40 queries for validation and 0"});
  recipe.recipe.validation.holdout = config::Quantity::Count(0);
  ExpectError([&] { ReadRunData(recipe); }, ExitCode::kUsage, {"leaves 0 of 40 queries"});
}

TEST(RunData, FingerprintSeesEveryChange) {
  const TemporaryFolder folder;
  WriteTinyData(folder.path(), kWords);
  const auto recipe = Recipe(folder.path());
  std::set<uint64_t> seen = {ReadRunData(recipe).fingerprint};
  EXPECT_TRUE(seen.contains(ReadRunData(recipe).fingerprint));
  const auto change = [&](const char* file, const std::string& from, const std::string& to) {
    const std::string before = ReadFile(folder.path() / file);
    std::string after = before;
    after.replace(after.find(from), from.size(), to);
    WriteFileAtomically(folder.path() / file, after);
    EXPECT_TRUE(seen.insert(ReadRunData(recipe).fingerprint).second) << file << " " << to;
    WriteFileAtomically(folder.path() / file, before);
  };
  change("corpus.jsonl", " 7\"", " 8\"");
  change("corpus.jsonl", "\"d59\"", "\"e59\"");
  change("queries.jsonl", " 5\"", " 55\"");
  change("qrels/train.tsv", "q4\td5\t1", "q4\td5\t0");
  change("qrels/train.tsv", "q4\td5\t1", "q4\td9\t1");
  change("qrels/train.tsv", "q4\td5\t1\n", "");
  auto validated = recipe;
  validated.recipe.validation.data = folder.path().native();
  EXPECT_TRUE(seen.insert(ReadRunData(validated).fingerprint).second);
}

TEST(RunData, ExamplesLeaveOutWhatIsNotJudged) {
  const TemporaryFolder folder;
  WriteTinyData(folder.path(), kWords);
  std::string qrels = ReadFile(folder.path() / "qrels/train.tsv");
  WriteFileAtomically(folder.path() / "qrels/train.tsv", qrels + "q0\td9\t-1\n");
  const RunData data = ReadRunData(Recipe(folder.path()));
  const sampling::Examples examples = MakeExamples(data.set, 2, data.training);
  ASSERT_EQ(examples.size(), 48);
  EXPECT_EQ(examples.positives(0).size(), 1);
  EXPECT_EQ(examples.positives(0)[0].grade, 2);
  EXPECT_EQ(examples.negatives(0).size() + examples.related(0).size(), 2);
}

}  // namespace
}  // namespace tandem::train
