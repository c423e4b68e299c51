// Several processes that encode texts together: for what training samples by and mines, and for
// `evaluate`, `mine` and `prune`. They find what one process finds.
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <string>
#include <vector>

#include "commands/train/processes/distributed_fixture.h"

namespace tandem {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DistributedData : public DistributedTest {
 protected:
  // The cache is a folder, as a user has one: rank 0 alone may use it.
  DistributedData() { ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1); }
  ~DistributedData() override { ::setenv("TANDEM_CACHE", "", 1); }

  // Both runs have the same losses, and samplers that keep the same.
  void ExpectTheRunOfOneProcess(const std::vector<std::string>& sets) {
    std::vector<std::string> flags = SetFlags(sets);
    ASSERT_EQ(Train("one", flags).exit_code, 0);
    ASSERT_NO_FATAL_FAILURE(TrainTogether(2, "two", flags));
    const std::vector<double> one = MetricOf("one", "loss"), two = MetricOf("two", "loss");
    ASSERT_GT(one.size(), 5);
    ASSERT_EQ(one.size(), two.size());
    for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], two[i], 1e-6) << "line " << i;
    const std::string sampler =
        "/checkpoints/" + CheckpointsOf("one").back() + "/sampler.safetensors";
    if (!std::filesystem::exists(Path("one" + sampler))) return;
    EXPECT_TRUE(ReadFile(Path("one" + sampler)) == ReadFile(Path("two" + sampler)));
  }

  // Runs the command as one process and as two, which write to `one` and `two`.
  void ExpectTheSameOutput(const std::vector<std::string>& arguments, bool writes) {
    const auto with_output = [&](const std::string& output) {
      std::vector<std::string> all = arguments;
      if (writes) all.insert(all.end(), {"--output", Path(output)});
      return all;
    };
    const ProgramResult one = RunTandem(with_output("one"));
    ASSERT_EQ(one.exit_code, 0) << one.err;
    const std::vector<ProgramResult> two = RunTogether(2, with_output("two"));
    for (const ProgramResult& result : two) ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(two[0].out, one.out);
    EXPECT_THAT(two[1].out, IsEmpty());
    EXPECT_THAT(two[1].err, IsEmpty());
  }
};

TEST_F(DistributedData, MinesWhatOneProcessMines) {
  ExpectTheRunOfOneProcess({"mining.every=\"6 steps\"", "mining.range=2:20", "mining.negatives=4",
                            "logging.every=1", "train.keep_checkpoints=2"});
  EXPECT_GT(std::filesystem::file_size(
                Path("two/checkpoints/" + CheckpointsOf("two").back() + "/sampler.safetensors")),
            100);
}

TEST_F(DistributedData, PrunesWhatOneProcessPrunes) {
  ExpectTheRunOfOneProcess(
      {"sampling.name=static_pruning", "sampling.keep=0.5", "train.epochs=3", "logging.every=1"});
  // Again, with all embeddings of two processes in the cache.
  ASSERT_NO_FATAL_FAILURE(
      TrainTogether(2, "again",
                    SetFlags({"sampling.name=static_pruning", "sampling.keep=0.5", "train.epochs=3",
                              "logging.every=1"})));
  ExpectSameFiles("again", "two");
}

TEST_F(DistributedData, StudiesOfLabelsAndSizeAreThoseOfOneProcess) {
  ExpectTheRunOfOneProcess({"data.swap_labels=0.5", "data.limit=30", "train.epochs=6",
                            "data.positive_grade=2", "logging.every=1"});
}

TEST_F(DistributedData, ValidatesTogether) {
  ExpectTheRunOfOneProcess({"validation.data=" + Path("data"), "validation.split=dev",
                            "validation.every=\"5 steps\"", "logging.every=1"});
  EXPECT_EQ(MetricOf("one", "validation_ndcg@10"), MetricOf("two", "validation_ndcg@10"));
  EXPECT_GT(MetricOf("two", "validation_ndcg@10").size(), 2);
}

TEST_F(DistributedData, ValidatesOnSeveralDataSetsTogether) {
  ValidateOnSources(
      fmt::format("[[validation.source]]\npath = \"{0}\"\nqueries = 9\n"
                  "[[validation.source]]\npath = \"{0}\"\nsplit = \"train\"\npool "
                  "= 50\n",
                  Path("data")));
  ASSERT_NO_FATAL_FAILURE(ExpectTheRunOfOneProcess({"logging.every=1"}));
  for (const char* name : {"ndcg@10", "ndcg@10[data/dev]", "ndcg@10[data/train]"}) {
    const std::string key = std::string("validation_") + name;
    EXPECT_EQ(MetricOf("one", key), MetricOf("two", key));
    EXPECT_GT(MetricOf("two", key).size(), 2) << key;
  }
}

TEST_F(DistributedData, EvaluatesTogether) {
  ExpectTheSameOutput({"evaluate", "--model", Path("base"), "--dataset", Path("data"), "--split",
                       "dev", "--measures", "ndcg@10,recall@5"},
                      false);
}

TEST_F(DistributedData, AnEvaluationOfManyModelsIsOneProcess) {
  std::filesystem::copy(Path("base"), Path("other"), std::filesystem::copy_options::recursive);
  const std::vector<ProgramResult> two =
      RunTogether(2, {"evaluate", "--model", Path("base"), "--model", Path("other"), "--dataset",
                      Path("data"), "--split", "dev"});
  for (const ProgramResult& result : two) {
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("give one --model and one --dataset, or start one process"));
  }
}

// Rank 1 gets another folder, model or limit than rank 0.
TEST_F(DistributedData, WhatTheProcessesEncodeMustBeTheSame) {
  const auto copy = [&](const char* from, const char* to) {
    std::filesystem::copy(Path(from), Path(to), std::filesystem::copy_options::recursive);
  };
  copy("data", "reworded");
  std::string corpus = ReadFile(Path("data/corpus.jsonl"));
  const size_t end = corpus.rfind("\"}");
  WriteFileAtomically(Path("reworded/corpus.jsonl"), corpus.substr(0, end) + "!\"}\n");
  copy("data", "longer");
  WriteFileAtomically(Path("longer/corpus.jsonl"),
                      corpus + "{\"_id\": \"another\", \"text\": \"another\"}\n");
  copy("base", "other");
  std::string weights = ReadFile(Path("base/model.safetensors"));
  weights[weights.size() / 2] = static_cast<char>(weights[weights.size() / 2] ^ 1);
  WriteFileAtomically(Path("other/model.safetensors"), weights);
  struct Difference {
    std::vector<std::string> of_rank_1;
    int exit_code;
    std::string words;
  };
  const auto evaluate = [&](const std::string& model, const std::string& data) {
    return std::vector<std::string>{"evaluate", "--model", Path(model), "--dataset",
                                    Path(data), "--split", "dev"};
  };
  std::vector<std::string> shorter = evaluate("base", "data");
  shorter.insert(shorter.end(), {"--max-document-tokens", "4"});
  const std::vector<std::string> mine = {"mine",       "--model",  Path("base"), "--dataset",
                                         Path("data"), "--output", Path("mined")};
  for (const auto& [of_rank_1, exit_code, words] : std::vector<Difference>{
           {evaluate("base", "reworded"), 3, "the documents of rank 1 are not those of rank 0"},
           {evaluate("base", "longer"), 3, "documents to encode, and rank 0"},
           {evaluate("other", "data"), 4, "tokenizer of rank 1 are not those of rank 0"},
           {shorter, 2, "the length of rank 1 for documents is \"4 tokens\""},
           {mine, 2, "rank 1 runs tandem mine"}}) {
    const int port = FreePort();
    StartCommand(RankVariables(0, 2, port), evaluate("base", "data"));
    StartCommand(RankVariables(1, 2, port), of_rank_1);
    for (const ProgramResult& result : WaitForAll()) {
      EXPECT_EQ(result.exit_code, exit_code) << result.err;
      EXPECT_THAT(result.err, HasSubstr(words));
      EXPECT_THAT(result.out, IsEmpty());
    }
  }
}

TEST_F(DistributedData, MinesAFileTogether) {
  ExpectTheSameOutput(
      {"mine", "--model", Path("base"), "--dataset", Path("data"), "--range", "1:20", "--quiet"},
      true);
  EXPECT_EQ(ReadFile(Path("one")), ReadFile(Path("two")));
}

TEST_F(DistributedData, MinesByPartsOfEmbeddingsTogether) {
  for (const char* shard : {"0/2", "1/2"}) {
    const ProgramResult encoded = RunTandem({"encode", Path("base"), Path("data"), "--output",
                                             Path("parts"), "--shard", shard, "--quiet"});
    ASSERT_EQ(encoded.exit_code, 0) << encoded.err;
  }
  ExpectTheSameOutput({"mine", "--model", Path("base"), "--dataset", Path("data"), "--range",
                       "1:20", "--embeddings", Path("parts"), "--quiet"},
                      true);
  EXPECT_EQ(ReadFile(Path("one")), ReadFile(Path("two")));
}

TEST_F(DistributedData, PrunesAFolderTogether) {
  ExpectTheSameOutput({"prune", Path("data"), "--model", Path("base"), "--keep", "0.5", "--quiet"},
                      true);
  for (const char* name : {"/qrels/train.tsv", "/corpus.jsonl", "/queries.jsonl"}) {
    EXPECT_EQ(ReadFile(Path(std::string("one") + name)), ReadFile(Path(std::string("two") + name)))
        << name;
  }
}

}  // namespace
}  // namespace tandem
