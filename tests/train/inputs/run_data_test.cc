#include "train/inputs/run_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/source_cases.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

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

// A corpus is in memory once, whatever it is used for.
TEST(RunData, ValidationOfTheTrainingFolderSharesItsTexts) {
  const TemporaryFolder folder;
  WriteTinyData(folder.path(), kWords);
  auto recipe = Recipe(folder.path());
  recipe.recipe.validation.data = (folder.path() / "../" / folder.path().filename()).native();
  recipe.recipe.validation.split = "dev";
  const RunData data = ReadRunData(recipe);
  ASSERT_EQ(data.validation->judged.size(), 16U);
  EXPECT_EQ(data.validation->documents.text(7).data(), data.set.documents.text(7).data());
  EXPECT_EQ(data.validation->queries.text(7).data(), data.set.queries.text(7).data());
  // So does what validation by loss makes of it.
  const data::TrainingSet set = MakeTrainingSet(*data.validation, recipe, {});
  EXPECT_EQ(set.documents.text(7).data(), data.set.documents.text(7).data());
  // Another folder of the same content is another data set, with the same fingerprint.
  const TemporaryFolder copy;
  WriteTinyData(copy.path(), kWords);
  recipe.recipe.validation.data = copy.path().native();
  const RunData apart = ReadRunData(recipe);
  EXPECT_NE(apart.validation->documents.text(7).data(), apart.set.documents.text(7).data());
  EXPECT_EQ(apart.fingerprint, data.fingerprint);
}

TEST(RunData, QueriesOfTrainingAndValidationHaveOnePrompt) {
  const TemporaryFolder folder;
  auto recipe = Recipe(folder.path() / "train.jsonl");
  recipe.recipe.data.positive_grade = 1;
  const auto write = [&](const char* name, const std::string& prompt) {
    WriteFileAtomically(
        folder.path() / name,
        fmt::format("{{\"query\": \"a\", \"pos\": [\"p\"], \"neg\": [\"n\"], \"prompt\": "
                    "\"{}\"}}\n",
                    prompt));
  };
  write("train.jsonl", "Find: ");
  EXPECT_EQ(ReadRunData(recipe).query_prompt, "Find: ");
  recipe.recipe.validation.data = (folder.path() / "dev.jsonl").native();
  write("dev.jsonl", "");
  EXPECT_NO_THROW(ReadRunData(recipe));
  write("dev.jsonl", "Find: ");
  EXPECT_NO_THROW(ReadRunData(recipe));
  write("dev.jsonl", "Cite: ");
  ExpectError([&] { ReadRunData(recipe); }, ExitCode::kData,
              {"dev.jsonl: its queries have the prompt \"Cite: \", those of the training data "
               "\"Find: \"; a model has one query prompt. validation.query_prompt says which one "
               "they get"});
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
