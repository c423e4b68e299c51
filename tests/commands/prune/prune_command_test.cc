// `tandem prune` on a small model, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "data/read_dataset.h"
#include "support/held_cache.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

// 48 queries with two positives each, of grades 2 and 1.
class PruneCommand : public testing::Test {
 protected:
  PruneCommand() {
    WriteTinyModel(folder_.path() / "model");
    WriteTinyData(folder_.path() / "data", TinyWords());
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);
  }
  ~PruneCommand() override { ::setenv("TANDEM_CACHE", "", 1); }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  ProgramResult Prune(const std::vector<std::string>& more, const std::string& output = "out",
                      const std::string& data = "data") const {
    std::vector<std::string> arguments = {"prune",       Path(data), "--model",
                                          Path("model"), "--output", Path(output)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
  static size_t Pairs(const data::Dataset& dataset) {
    size_t pairs = 0;
    for (const auto& query : dataset.judged) {
      for (const auto& one : query.judgements) pairs += one.grade >= 1;
    }
    return pairs;
  }
  data::Dataset Read(const std::string& name) const {
    data::Warnings ignored;
    return data::ReadDataset(Path(name), "auto", "train", &ignored);
  }

  TemporaryFolder folder_;
};

TEST_F(PruneCommand, KeepsTheBestPairsAsABeirFolder) {
  const ProgramResult result = Prune({"--keep", "0.25", "--review", "2"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("pairs     96\n  kept    24\n  left out 72\nqueries   48\n"));
  EXPECT_THAT(result.out, HasSubstr("The lowest pairs\n  cosine "));
  EXPECT_THAT(result.err, HasSubstr("scored 96 pairs in "));
  const data::Dataset kept = Read("out");
  EXPECT_EQ(Pairs(kept), 24U);
  EXPECT_EQ(kept.documents.size(), 60U);
  // What is judged irrelevant stays where the query does.
  for (const auto& query : kept.judged) {
    EXPECT_TRUE(std::any_of(query.judgements.begin(), query.judgements.end(),
                            [](const auto& one) { return one.grade == 0; }));
  }
  EXPECT_THAT(ReadFile(Path("out.histogram.tsv")),
              testing::StartsWith("score\tfrom\tto\tpairs\tkept\ncosine\t"));
}

// The lowest kept pair scores no less than the highest that is left out.
TEST_F(PruneCommand, TheBorderIsWhereTheScoreSays) {
  for (const std::string score : {"cosine", "consistency"}) {
    const ProgramResult result =
        Prune({"--keep", "0.4", "--score", score, "--format", "json", "--quiet"}, "out-" + score);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto json = nlohmann::json::parse(result.out);
    EXPECT_EQ(json["kept_pairs"], 38);
    const auto& in = json["just_kept"][0];
    const auto& out = json["just_left_out"][0];
    if (score == "cosine") {
      EXPECT_GE(in["cosine"], out["cosine"]);
      EXPECT_FALSE(in.contains("rank"));
    } else {
      EXPECT_LE(in["rank"], out["rank"]);
      if (in["rank"] == out["rank"]) {
        EXPECT_GE(in["cosine"], out["cosine"]);
      }
    }
  }
}

TEST_F(PruneCommand, ASecondRunFindsTheEmbeddingsAndWritesTheSame) {
  const ProgramResult first = Prune({"--keep", "0.5"}, "one");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("embeddings are from")));
  const ProgramResult second = Prune({"--keep", "0.5"}, "two");
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_THAT(second.err, HasSubstr("48 of 48 embeddings are from " + Path("cache")));
  EXPECT_THAT(second.err, HasSubstr("for the embeddings of 0 texts"));
  EXPECT_EQ(first.out, second.out);
  EXPECT_EQ(ReadFile(Path("one/qrels/train.tsv")), ReadFile(Path("two/qrels/train.tsv")));
  std::filesystem::remove_all(Path("cache"));
  const ProgramResult third = Prune({"--keep", "0.5", "--no-cache"}, "three");
  EXPECT_EQ(first.out, third.out);
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
}

TEST_F(PruneCommand, ASignalStopsTheScoringAndWritesNothing) {
  ASSERT_EQ(Prune({"--keep", "0.5"}, "whole").exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const HeldCache held(Path("cache"));
    const ProgramResult stopped = InterruptTandem(
        {"prune", Path("data"), "--model", Path("model"), "--output", Path("out"), "--keep", "0.5"},
        signal);
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("interrupted; " + Path("out") +
                                       " was not written; the next "
                                       "call finds the embeddings that were made so far"));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
    EXPECT_FALSE(std::filesystem::exists(Path("out.histogram.tsv")));
  }
  ASSERT_EQ(Prune({"--keep", "0.5"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")), ReadFile(Path("whole/qrels/train.tsv")));
}

TEST_F(PruneCommand, AnotherModelsCacheIsSaidAndMadeAgain) {
  const auto files = [&] {
    std::set<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(Path("cache/embeddings"))) {
      paths.insert(entry.path());
    }
    return paths;
  };
  ASSERT_EQ(Prune({"--keep", "0.5"}, "first").exit_code, 0);
  const auto of_first = files();
  ASSERT_EQ(of_first.size(), 2U);
  WriteTinyModel(folder_.path() / "model", {.seed = 2});
  const ProgramResult right = Prune({"--keep", "0.5"}, "second");
  ASSERT_EQ(right.exit_code, 0) << right.err;
  ASSERT_EQ(files().size(), 4U);
  for (const auto& path : files()) {
    if (of_first.contains(path)) continue;
    // The file of as many texts: queries or documents.
    for (const auto& other : of_first) {
      if (std::filesystem::file_size(other) != std::filesystem::file_size(path)) continue;
      std::filesystem::copy_file(other, path, std::filesystem::copy_options::overwrite_existing);
    }
  }
  const ProgramResult result = Prune({"--keep", "0.5"}, "third");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.err, HasSubstr("belongs to another model, other texts or other settings"));
  EXPECT_THAT(result.err, HasSubstr("it is made again"));
  EXPECT_EQ(result.out, right.out);
}

TEST_F(PruneCommand, LinesStayLinesOfTheirFormat) {
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    lines += "{\"query\": \"alpha " + n + "\", \"pos\": [\"alpha beta " + n + "\", \"red " + n +
             "\"], \"neg\": [\"music " + n + "\"], \"prompt\": \"query: \"}\n";
  }
  WriteFileAtomically(Path("lines.jsonl"), lines);
  const ProgramResult result = Prune({"--keep", "0.5"}, "kept.jsonl", "lines.jsonl");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(data::FormatOfLines(Path("kept.jsonl")), "flag_embedding");
  const data::Dataset kept = Read("kept.jsonl");
  EXPECT_EQ(Pairs(kept), 10U);
  EXPECT_EQ(kept.query_prompt, "query: ");
}

TEST_F(PruneCommand, ColumnsKeepTheirNames) {
  std::string lines;
  for (int i = 0; i < 10; ++i) {
    lines += fmt::format("{{\"question\": \"alpha {0}\", \"answer\": \"beta {0}\"}}\n", i);
  }
  WriteFileAtomically(Path("pairs.jsonl"), lines);
  ASSERT_EQ(Prune({"--keep", "0.5"}, "kept.jsonl", "pairs.jsonl").exit_code, 0);
  std::istringstream kept(ReadFile(Path("kept.jsonl")));
  size_t count = 0;
  for (std::string line; std::getline(kept, line); ++count) {
    EXPECT_THAT(lines, HasSubstr(line + "\n"));
  }
  EXPECT_EQ(count, 5U);
  WriteFileAtomically(Path("pairs.csv"), "question,answer\nalpha 1,beta 1\nalpha 2,beta 2\n");
  const ProgramResult table = Prune({"--keep", "1"}, "of_table.jsonl", "pairs.csv");
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_EQ(ReadFile(Path("of_table.jsonl")),
            "{\"question\": \"alpha 1\", \"answer\": \"beta 1\"}\n"
            "{\"question\": \"alpha 2\", \"answer\": \"beta 2\"}\n");
  WriteFileAtomically(Path("scored.jsonl"),
                      R"({"sentence1": "one", "sentence2": "alpha", "label": 0.9}
{"sentence1": "one", "sentence2": "beta", "label": 0.2}
{"sentence1": "two", "sentence2": "gamma", "label": 0.8}
)");
  ASSERT_EQ(
      Prune({"--keep", "1", "--positive-grade", "0.5"}, "same.jsonl", "scored.jsonl").exit_code, 0);
  EXPECT_EQ(ReadFile(Path("same.jsonl")), ReadFile(Path("scored.jsonl")));
}

// Their columns would not hold the result: it shows before the work. A document that is a positive
// of its query in one line is no negative of it in another.
TEST_F(PruneCommand, ColumnsThatCannotBeWrittenShowBeforeTheScoring) {
  WriteFileAtomically(Path("triplets.jsonl"),
                      R"({"anchor": "one", "positive": "alpha", "negative": "beta"}
{"anchor": "one", "positive": "beta", "negative": "alpha"}
{"anchor": "two", "positive": "gamma", "negative": "delta"}
)");
  const ProgramResult result = Prune({"--keep", "0.7"}, "kept.jsonl", "triplets.jsonl");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 of 2 queries have no negative, but all lines of "
                                    "sentence_transformers have the same columns: tandem convert "
                                    "with --negatives 0 writes pairs without negatives"));
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
  ASSERT_EQ(RunTandem({"convert", Path("triplets.jsonl"), "--to", "flag_embedding", "--output",
                       Path("lines.jsonl")})
                .exit_code,
            0);
  EXPECT_EQ(Prune({"--keep", "0.7"}, "kept.jsonl", "lines.jsonl").exit_code, 0);
}

// As training takes them; what is written keeps them.
TEST_F(PruneCommand, ScoresOfPairsAreGrades) {
  const std::string lines =
      "{\"anchor\": \"one\", \"positive\": \"alpha\", \"score\": 1}\n"
      "{\"anchor\": \"one\", \"positive\": \"beta\", \"score\": 0}\n"
      "{\"anchor\": \"two\", \"positive\": \"gamma\", \"score\": 0.9}\n";
  WriteFileAtomically(Path("scored.jsonl"), lines);
  const ProgramResult result =
      Prune({"--keep", "1", "--positive-grade", "0.5"}, "kept.jsonl", "scored.jsonl");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("pairs     2\n"));
  EXPECT_EQ(ReadFile(Path("kept.jsonl")), lines);
}

TEST_F(PruneCommand, AHistogramThatExistsIsNotTouched) {
  WriteFileAtomically(Path("out.histogram.tsv"), "precious");
  for (const char* output : {"out", "out/"}) {
    const ProgramResult result = Prune({"--keep", "0.5"}, output);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    EXPECT_THAT(result.err, HasSubstr("out.histogram.tsv: exists already"));
  }
  EXPECT_EQ(ReadFile(Path("out.histogram.tsv")), "precious");
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

TEST_F(PruneCommand, EverythingKeptIsTheSameJudgements) {
  ASSERT_EQ(Prune({"--keep", "1"}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")), ReadFile(Path("data/qrels/train.tsv")));
}

TEST_F(PruneCommand, WhatCannotBeDone) {
  const auto expect = [&](const ProgramResult& result, int code, const std::string& message) {
    EXPECT_EQ(result.exit_code, code) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
    EXPECT_FALSE(std::filesystem::exists(Path("out.histogram.tsv")));
  };
  expect(Prune({"--keep", "0.001"}), 2, "--keep is 0.001, which leaves none of 96 pairs");
  expect(Prune({"--keep", "0"}), 2, "--keep is 0; expected a share of the pairs above 0");
  expect(Prune({"--keep", "1.5"}), 2, "--keep is 1.5; expected a share of the pairs");
  expect(Prune({"--keep", "0.5", "--positive-grade", "-1"}), 2, "--positive-grade is -1");
  expect(Prune({"--keep", "0.5", "--positive-grade", "7"}), 3,
         "none of the 48 judged queries has a document of grade 7 or more");
  WriteFileAtomically(Path("one.jsonl"),
                      "{\"anchor\": \"one\", \"positive\": \"alpha\"}\n"
                      "{\"anchor\": \"one\", \"positive\": \"beta\"}\n");
  expect(Prune({"--keep", "0.5", "--score", "consistency"}, "out", "one.jsonl"), 2,
         "--score is \"consistency\", which ranks a document among the positives of other queries");
  expect(Prune({"--keep", "0.5", "--split", "none"}), 3, "data: has no split none");
  expect(Prune({"--keep", "0.5"}, "out", "nothing"), 3, "nothing: cannot be read");
  std::filesystem::rename(Path("model"), Path("elsewhere"));
  expect(Prune({"--keep", "0.5"}), 4, Path("model"));
  std::filesystem::rename(Path("elsewhere"), Path("model"));
  ::setenv("TANDEM_CACHE", "relative", 1);
  expect(Prune({"--keep", "0.5"}), 2, "TANDEM_CACHE is \"relative\"");
}

TEST_F(PruneCommand, ACacheThatCannotBeMadeIsAWarning) {
  ASSERT_EQ(Prune({"--keep", "0.5", "--no-cache"}, "without").exit_code, 0);
  WriteFileAtomically(Path("file"), "");
  ::setenv("TANDEM_CACHE", Path("file").c_str(), 1);
  const ProgramResult result = Prune({"--keep", "0.5"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("warning: embeddings are not kept: "));
  EXPECT_THAT(result.err, HasSubstr("cannot be made as a folder"));
  EXPECT_EQ(ReadFile(Path("out/qrels/train.tsv")), ReadFile(Path("without/qrels/train.tsv")));
}

TEST_F(PruneCommand, AnOutputThatExistsIsNotTouched) {
  std::filesystem::create_directory(Path("out"));
  const ProgramResult result = Prune({"--keep", "0.5"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr(Path("out") + ": exists already"));
  EXPECT_TRUE(std::filesystem::is_empty(Path("out")));
  EXPECT_FALSE(std::filesystem::exists(Path("out.histogram.tsv")));
  EXPECT_THAT(result.err, Not(HasSubstr("scored")));  // it shows before the work
}

}  // namespace
}  // namespace tandem
