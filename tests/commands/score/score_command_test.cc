// `tandem score` on a small model, as a user runs it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/score/score_fixture.h"
#include "model/encoders/formula_cross_encoder.h"
#include "support/held_cache.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ScoreCommand, GradesABeirFolder) {
  const ProgramResult result = Score("grades", {}, "out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("queries             48\npairs               144\n"
                                    "score               max(0, cosine)\n"));
  EXPECT_THAT(result.out, HasSubstr("(96 pairs)"));
  EXPECT_THAT(result.out, HasSubstr("(48 pairs)"));
  const data::Dataset before = Read("data"), graded = Read("out");
  EXPECT_EQ(graded.documents.size(), 60U);
  ASSERT_EQ(graded.judged.size(), 48U);
  for (size_t q = 0; q < 48; ++q) {
    EXPECT_EQ(graded.queries.id(graded.judged[q].query), before.queries.id(before.judged[q].query));
    ASSERT_EQ(graded.judged[q].judgements.size(), 3U);
    for (const data::Judgement& judgement : graded.judged[q].judgements) {
      EXPECT_GE(judgement.grade, 0);
      EXPECT_LE(judgement.grade, 1);
    }
  }
  const data::JudgedQuery& first = graded.judged.front();
  const std::vector<double> cosines = CosinesOf(graded, first);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(first.judgements[i].grade, std::max(0.0, cosines[i]), 1e-5);
  }
}

TEST_F(ScoreCommand, TeachesInEveryFormatOfLines) {
  for (const std::string format : {"sentence_transformers", "flag_embedding", "tevatron"}) {
    const ProgramResult result = Score("teacher", {"--to", format}, format + ".jsonl");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("score               cosine\n"));
    EXPECT_EQ(data::FormatOfLines(Path(format + ".jsonl")), format);
    const data::Dataset scored = Read(format + ".jsonl");
    EXPECT_EQ(scored.scores, data::ScoreKind::kLists);
    ASSERT_EQ(scored.judged.size(), 48U);
    for (const data::JudgedQuery& query : scored.judged) {
      ASSERT_EQ(query.judgements.size(), 3U);
      size_t positives = 0;
      for (const data::Judgement& judgement : query.judgements) {
        ASSERT_TRUE(judgement.has_score());
        positives += judgement.grade > 0;
      }
      EXPECT_EQ(positives, 2U);  // positives and negatives stay what they were
    }
    const data::JudgedQuery& first = scored.judged.front();
    const std::vector<double> cosines = CosinesOf(scored, first);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(first.judgements[i].score, cosines[i], 1e-5) << format;
    }
  }
}

// The model's probability, where training learned one.
TEST_F(ScoreCommand, GradesAreTheModelsProbabilities) {
  WriteFileAtomically(Path("model/tandem.json"), R"json({"format": 1, "objective": "bixse",
 "probability": {"scale": 7.5, "bias": -2.5, "similarity": "cosine",
 "formula": "1 / (1 + exp(-(scale * score + bias)))"}})json");
  const ProgramResult result = Score("grades", {"--to", "tevatron"}, "out.jsonl");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("score               1 / (1 + exp(-(7.5 cosine + -2.5))), as "
                                    "objective bixse\n                    learned\n"));
  const data::Dataset graded = Read("out.jsonl");
  const data::JudgedQuery& first = graded.judged.front();
  const std::vector<double> cosines = CosinesOf(graded, first);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(first.judgements[i].score, 1 / (1 + std::exp(-(7.5 * cosines[i] - 2.5))), 1e-5);
  }
}

TEST_F(ScoreCommand, DotProductsTeachButDoNotGrade) {
  WriteFileAtomically(Path("model/config_sentence_transformers.json"),
                      R"({"similarity_fn_name": "dot"})");
  const ProgramResult result = Score("grades", {}, "out");
  EXPECT_EQ(result.exit_code, 2) << result.err;
  EXPECT_THAT(result.err, HasSubstr("--as grades needs scores with a scale, but the model compares "
                                    "by dot product"));
  const ProgramResult teacher = Score("teacher", {"--to", "tevatron"}, "out.jsonl");
  ASSERT_EQ(teacher.exit_code, 0) << teacher.err;
  EXPECT_THAT(teacher.out, HasSubstr("score               dot\n"));
}

// Embeddings of any length: cosines divide by it, dot products do not.
TEST_F(ScoreCommand, ModelsWithoutNormalizeAreScoredByTheirSimilarity) {
  WriteModulesWithoutNormalize();
  for (const std::string similarity : {"cosine", "dot"}) {
    WriteFileAtomically(Path("model/config_sentence_transformers.json"),
                        fmt::format(R"({{"similarity_fn_name": "{}"}})", similarity));
    const std::string output = similarity + ".jsonl";
    const ProgramResult result = Score("teacher", {"--to", "tevatron"}, output);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr("score               " + similarity + "\n"));
    const data::Dataset scored = Read(output);
    const data::JudgedQuery& first = scored.judged.front();
    const std::vector<Texts> texts = TextsOf(scored, first);
    const std::vector<double> cosines = Cosines(texts), dots = Dots(texts);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_GT(std::abs(dots[i] - cosines[i]), 0.1);
      const double want = similarity == "dot" ? dots[i] : cosines[i];
      EXPECT_NEAR(first.judgements[i].score, want, 1e-5 * std::max(1.0, std::abs(want)));
    }
  }
}

// Broken weights, and finite ones whose dot products no float32 holds.
TEST_F(ScoreCommand, ScoresThatAreNotFiniteAreAnError) {
  const auto expect = [&](float value, const std::string& similarity, const std::string& message) {
    FillTensor(Path("model/model.safetensors"), "encoder.layer.1.output.LayerNorm.bias", value);
    WriteFileAtomically(Path("model/config_sentence_transformers.json"),
                        fmt::format(R"({{"similarity_fn_name": "{}"}})", similarity));
    const ProgramResult result = Score("teacher", {"--to", "tevatron"}, "out.jsonl");
    EXPECT_EQ(result.exit_code, 5) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(Path("out.jsonl")));
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::string similarity : {"cosine", "dot"}) {
    expect(nan, similarity, "an embedding is not finite: the model's weights are broken");
  }
  WriteModulesWithoutNormalize();
  expect(1e30F, "dot", "is not finite");
}

// Grades in columns are lines of single pairs; every judged document has one.
TEST_F(ScoreCommand, GradesInColumnsAreLabelledPairs) {
  ASSERT_EQ(Score("grades", {"--to", "sentence_transformers"}, "out.jsonl").exit_code, 0);
  const std::string text = ReadFile(Path("out.jsonl"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 144);
  EXPECT_THAT(text, testing::StartsWith("{\"anchor\": \""));
  EXPECT_EQ(Read("out.jsonl").scores, data::ScoreKind::kPairs);
}

// Scores, prompt and negatives of lines.
TEST_F(ScoreCommand, LinesStayLinesOfTheirFormat) {
  std::string lines;
  for (int i = 0; i < 5; ++i) {
    lines += fmt::format(
        "{{\"query\": \"alpha {0}\", \"pos\": [\"alpha beta {0}\", \"red {0}\"], \"neg\": [\"music "
        "{0}\"], \"pos_scores\": [7, 8], \"neg_scores\": [1], \"prompt\": \"query: \"}}\n",
        i);
  }
  WriteFileAtomically(Path("lines.jsonl"), lines);
  for (const std::string as : {"grades", "teacher"}) {
    const ProgramResult result = Score(as, {}, as + ".jsonl", "lines.jsonl");
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr("lines.jsonl: its scores give way to the model's"));
    EXPECT_EQ(data::FormatOfLines(Path(as + ".jsonl")), "flag_embedding");
    const data::Dataset scored = Read(as + ".jsonl");
    EXPECT_EQ(scored.query_prompt, "query: ");
    const data::JudgedQuery& first = scored.judged.front();
    ASSERT_EQ(first.judgements.size(), 3U);
    const std::vector<double> cosines = CosinesOf(scored, first);
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(first.judgements[i].score,
                  as == "grades" ? std::max(0.0, cosines[i]) : cosines[i], 1e-5);
    }
  }
}

// A score of a pair is its grade: 0 is a negative where the format tells them apart.
TEST_F(ScoreCommand, ScoredPairsStayPairs) {
  WriteFileAtomically(Path("pairs.jsonl"),
                      R"({"anchor": "one", "positive": "alpha", "score": 1}
{"anchor": "one", "positive": "beta", "score": 0}
{"anchor": "two", "positive": "gamma", "score": 0.5}
)");
  const ProgramResult columns = Score("teacher", {}, "columns.jsonl", "pairs.jsonl");
  ASSERT_EQ(columns.exit_code, 0) << columns.err;
  EXPECT_THAT(columns.out, HasSubstr("(2 pairs)"));
  const std::string text = ReadFile(Path("columns.jsonl"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_EQ(Read("columns.jsonl").scores, data::ScoreKind::kPairs);
  ASSERT_EQ(Score("teacher", {"--to", "flag_embedding"}, "lists.jsonl", "pairs.jsonl").exit_code,
            0);
  EXPECT_THAT(ReadFile(Path("lists.jsonl")),
              HasSubstr(R"({"query": "one", "pos": ["alpha"], "neg": ["beta"], "pos_scores": [)"));
}

TEST_F(ScoreCommand, ReportsAsJson) {
  const ProgramResult result =
      Score("teacher", {"--to", "tevatron", "--format", "json"}, "o.jsonl");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["queries"], 48);
  EXPECT_EQ(json["pairs"], 144);
  EXPECT_EQ(json["positives"], 96);
  EXPECT_EQ(json["score"], "cosine");
  EXPECT_LE(json["lowest"], json["mean"]);
  EXPECT_LE(json["mean"], json["highest"]);
  EXPECT_NEAR(json["mean"].get<double>(),
              (2 * json["positive_mean"].get<double>() + json["other_mean"].get<double>()) / 3,
              1e-9);
}

TEST_F(ScoreCommand, ASecondRunFindsTheEmbeddingsAndWritesTheSame) {
  ASSERT_EQ(Score("grades", {}, "one").exit_code, 0);
  const ProgramResult second = Score("grades", {}, "two");
  EXPECT_THAT(second.err, HasSubstr("48 of 48 embeddings are from " + Path("cache")));
  EXPECT_EQ(ReadFile(Path("one/qrels/train.tsv")), ReadFile(Path("two/qrels/train.tsv")));
  std::filesystem::remove_all(Path("cache"));
  ASSERT_EQ(Score("grades", {"--no-cache"}, "three").exit_code, 0);
  EXPECT_EQ(ReadFile(Path("one/qrels/train.tsv")), ReadFile(Path("three/qrels/train.tsv")));
  EXPECT_FALSE(std::filesystem::exists(Path("cache")));
}

// bf16 rounds: near, and not the same.
TEST_F(ScoreCommand, TakesThePrecision) {
  ASSERT_EQ(Score("teacher", {"--to", "tevatron"}, "fp32.jsonl").exit_code, 0);
  const ProgramResult in_bf16 =
      Score("teacher", {"--to", "tevatron", "--precision", "bf16"}, "bf16.jsonl");
  if (RefusesBf16(in_bf16)) GTEST_SKIP() << "no fast bf16 here";
  ASSERT_EQ(in_bf16.exit_code, 0) << in_bf16.err;
  const data::Dataset exact = Read("fp32.jsonl"), rounded = Read("bf16.jsonl");
  double worst = 0;
  for (size_t q = 0; q < exact.judged.size(); ++q) {
    for (size_t i = 0; i < 3; ++i) {
      worst = std::max(worst, std::abs(exact.judged[q].judgements[i].score -
                                       rounded.judged[q].judgements[i].score));
    }
  }
  EXPECT_GT(worst, 0);
  EXPECT_LT(worst, 0.03);
}

TEST_F(ScoreCommand, ASignalStopsTheScoringAndWritesNothing) {
  ASSERT_EQ(Score("grades", {}, "whole").exit_code, 0);
  for (const int signal : {SIGINT, SIGTERM}) {
    const HeldCache held(Path("cache"));
    const ProgramResult stopped =
        InterruptTandem({"score", "--model", Path("model"), "--pairs", Path("data"), "--as",
                         "grades", "--output", Path("out")},
                        signal);
    EXPECT_EQ(stopped.exit_code, 128 + signal) << stopped.err;
    EXPECT_THAT(stopped.err, HasSubstr("interrupted; " + Path("out") +
                                       " was not written; the next call finds the embeddings that "
                                       "were made so far"));
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
  }
}

TEST_F(ScoreCommand, TruncatedTextsAreCounted) {
  const ProgramResult result =
      Score("grades", {"--max-query-tokens", "4", "--max-document-tokens", "5"}, "out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("queries are longer than 4 tokens and were cut there"));
  EXPECT_THAT(result.err, HasSubstr("documents are longer than 5 tokens and were cut there"));
}

TEST_F(ScoreCommand, WhatIsNotJudgedIsLeftOut) {
  WriteFileAtomically(Path("data/qrels/train.tsv"),
                      "query-id\tcorpus-id\tscore\nq0\td0\t2\nq0\td1\t-1\nq1\td2\t-1\n");
  const ProgramResult result = Score("grades", {}, "out");
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("train.tsv: 2 judgements below 0 say \"not judged\" and are "
                                    "left out"));
  EXPECT_THAT(result.out, HasSubstr("pairs               1\n"));
  WriteFileAtomically(Path("data/qrels/train.tsv"), "query-id\tcorpus-id\tscore\nq0\td1\t-1\n");
  const ProgramResult none = Score("grades", {}, "none");
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.err, HasSubstr("train.tsv: has no pair to score: no query has a document that "
                                  "is judged 0 or above"));
}

TEST_F(ScoreCommand, WhatCannotBeDone) {
  const auto expect = [&](const ProgramResult& result, int code, const std::string& message) {
    EXPECT_EQ(result.exit_code, code) << message;
    EXPECT_THAT(result.err, HasSubstr(message));
    EXPECT_EQ(result.out, "");
    EXPECT_FALSE(std::filesystem::exists(Path("out")));
    EXPECT_FALSE(std::filesystem::exists(Path("cache")));  // it shows before the work
  };
  expect(Score("teacher", {}, "out"), 2,
         "a BEIR folder has no place for a teacher's scores; sentence_transformers, "
         "flag_embedding and tevatron have one: give --to with one of them");
  expect(Score("labels", {}, "out"), 2, "--as");
  expect(Score("grades", {}, "data"), 2, Path("data") + ": exists already");
  expect(Score("grades", {"--split", "none"}, "out"), 3, "data: has no split none");
  WriteFileAtomically(Path("lines.jsonl"), R"({"anchor": "one", "positive": "alpha"}
{"anchor": "two", "positive": "gamma", "negative": "delta"}
)");
  expect(Score("teacher", {}, "out", "lines.jsonl"), 2,
         "1 of 2 queries have no negative, but all lines of sentence_transformers have the same "
         "columns");
  expect(Score("grades", {"--split", "dev"}, "out", "lines.jsonl"), 2,
         "--split names a split of a BEIR folder, but " + Path("lines.jsonl") + " is none");
  expect(Score("grades", {}, "out", "nothing"), 3, "nothing: cannot be read");
  std::filesystem::rename(Path("model"), Path("elsewhere"));
  expect(Score("grades", {}, "out"), 4, Path("model"));
}

// Score, then train on what was written.
TEST_F(ScoreCommand, WhatIsWrittenTrains) {
  struct Case {
    std::string objective, model, as, format, output;
  };
  const Case cases[] = {
      {"bixse", "model", "grades", "beir", "grades"},
      {"bixse", "cross", "grades", "sentence_transformers", "grades-columns.jsonl"},
      {"bixse", "model", "grades", "flag_embedding", "grades-lists.jsonl"},
      {"margin_mse", "model", "teacher", "sentence_transformers", "teacher-columns.jsonl"},
      {"margin_mse", "cross", "teacher", "flag_embedding", "teacher-lists.jsonl.gz"},
      {"kl_distillation", "cross", "teacher", "tevatron", "teacher-passages.jsonl"},
  };
  WriteCrossEncoder(Path("cross"), CrossEncoderCase("bert"), "bert.");
  for (const Case& c : cases) {
    const ProgramResult scored =
        RunTandem({"score", "--model", Path(c.model), "--pairs", Path("data"), "--as", c.as, "--to",
                   c.format, "--output", Path(c.output)});
    ASSERT_EQ(scored.exit_code, 0) << scored.err;
    WriteFileAtomically(Path("recipe.toml"),
                        fmt::format("threads = 1\n[objective]\nname = \"{}\"\n[model]\nbase = "
                                    "\"{}\"\n[data]\ntrain = \"{}\"\nnegatives = 1\n[train]\nbatch "
                                    "= 8\nsteps = 3\n",
                                    c.objective, Path("model"), Path(c.output)));
    const std::string run = "run-" + c.output;
    const ProgramResult trained =
        RunTandem({"train", Path("recipe.toml"), "--output", Path(run), "--quiet"});
    EXPECT_EQ(trained.exit_code, 0) << c.objective << " " << c.format << "\n" << trained.err;
    EXPECT_TRUE(std::filesystem::exists(Path(run + "/model/model.safetensors")));
  }
}

}  // namespace
}  // namespace tandem
