// Several data sets in one run: [[data.source]].
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "sampling/catalogue.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "tensor/core/values.h"
#include "train/bag_encoder.h"
#include "train/inputs/batch_figures.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/label_keys.h"
#include "train/inputs/read_sources.h"
#include "train/inputs/run_data.h"
#include "train/inputs/run_prompts.h"
#include "train/inputs/source_cases.h"
#include "train/step/batch.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

class SourcesTest : public testing::Test {
 protected:
  // Grades 2, 1 and 0 for each of 48 queries.
  std::string Graded() {
    WriteTinyData(folder_.path() / "graded", kWords);
    return (folder_.path() / "graded").native();
  }
  std::string Lines(const std::string& name, const std::string& lines) {
    WriteFileAtomically(folder_.path() / name, lines);
    return (folder_.path() / name).native();
  }
  std::string Binary() {
    return Lines("binary.jsonl", R"({"query": "a", "pos": ["p"], "neg": ["n"]}
{"query": "b", "pos": ["r"], "neg": ["p"]}
)");
  }
  void Use(const std::vector<std::string>& paths) {
    loaded_.recipe.data.sources.clear();
    for (const std::string& path : paths) loaded_.recipe.data.sources.push_back({.path = path});
  }
  config::DataRecipe& data() { return loaded_.recipe.data; }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

using Counts = std::map<double, int>;

TEST_F(SourcesTest, OneAloneTrainsTheSameAsWithoutAList) {
  data().train = Graded();
  const RunData alone = ReadRunData(loaded_);
  Use({Graded()});
  const RunData listed = ReadRunData(loaded_);
  ASSERT_EQ(listed.set.examples.size(), alone.set.examples.size());
  EXPECT_EQ(*listed.set.queries.hashes(), *alone.set.queries.hashes());
  EXPECT_EQ(*listed.set.documents.hashes(), *alone.set.documents.hashes());
  EXPECT_EQ(Grades(listed), Grades(alone));
}

TEST_F(SourcesTest, GradedAndBinaryOnesStandBesideEachOther) {
  Use({Graded(), Binary()});
  data().grade_scale = config::Range{0, 2};
  const RunData data = ReadRunData(loaded_, kGraded);
  EXPECT_EQ(Grades(data), (Counts{{0, 50}, {0.5, 48}, {1, 50}}));
  EXPECT_EQ(data.set.examples.size(), 50U);
  EXPECT_EQ(data.set.documents.size(), 63U);
  EXPECT_EQ(data.set.documents.text(data.set.examples[48].positives.at(0).document), "p");
}

TEST_F(SourcesTest, APositiveOfLinesIsAPositiveAtAnyGrade) {
  Use({Graded(), Binary()});
  data().positive_grade = 2;
  const RunData data = ReadRunData(loaded_, kPlain);
  EXPECT_EQ(Grades(data), (Counts{{0, 50}, {1, 48}, {2, 50}}));
  EXPECT_EQ(data.set.queries_without_positive, 0U);
}

TEST_F(SourcesTest, TheTaskOfAQueryIsItsSource) {
  Use({Binary(), Graded(), Binary()});
  const RunData data = ReadRunData(loaded_);
  EXPECT_TRUE(TasksOf(data, loaded_.recipe, data.training).empty());
  loaded_.recipe.sampling.by_task = true;
  const std::vector<uint32_t> tasks = TasksOf(data, loaded_.recipe, data.training);
  ASSERT_EQ(tasks.size(), 52U);
  for (size_t i = 0; i < tasks.size(); ++i) EXPECT_EQ(tasks[i], i < 2 ? 0U : i < 50 ? 1U : 2U);
  EXPECT_EQ(TasksOf(data, loaded_.recipe, std::vector<uint32_t>{51, 3}),
            (std::vector<uint32_t>{2, 1}));
  Use({Graded()});
  EXPECT_TRUE(TasksOf(ReadRunData(loaded_), loaded_.recipe, std::vector<uint32_t>{1}).empty());
}

TEST_F(SourcesTest, TextsOfTwoSourcesAreCopiesOfEachOther) {
  const std::string first = Lines("1.jsonl", R"({"query": "a", "pos": ["p"]})");
  const std::string second = Lines("2.jsonl", R"({"query": "a", "pos": ["q"], "neg": ["p"]})");
  Use({first, second});
  const RunData data = ReadRunData(loaded_);
  ASSERT_EQ(data.set.documents.size(), 3U);
  EXPECT_EQ(data.set.document_hashes[0], data.set.document_hashes[2]);
  EXPECT_EQ(data.set.query_hashes[0], data.set.query_hashes[1]);
  EXPECT_EQ(data.set.examples.size(), 2U);
}

TEST_F(SourcesTest, EachReadsItsOwnFormatAndSplit) {
  const std::string graded = Graded();
  Use({graded, Binary()});
  data().sources[0].split = "dev";
  data().sources[1].format = "flag_embedding";
  EXPECT_EQ(ReadRunData(loaded_).set.examples.size(), 18U);
  data().sources[1].format = "tevatron";
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kData, {"binary.jsonl:1: has no"});
  data().sources[1] = {.path = Binary(), .split = "dev"};
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kUsage,
              {"data.source.2.split does nothing here", "binary.jsonl is a file of lines"});
}

TEST_F(SourcesTest, TheOrderOfSourcesIsPartOfTheData) {
  const std::string graded = Graded();
  const std::string binary = Binary();
  Use({graded, binary});
  const uint64_t fingerprint = ReadRunData(loaded_).fingerprint;
  EXPECT_EQ(ReadRunData(loaded_).fingerprint, fingerprint);
  Use({binary, graded});
  EXPECT_NE(ReadRunData(loaded_).fingerprint, fingerprint);
}

TEST_F(SourcesTest, WhatAnObjectiveNeedsIsAskedOfThem) {
  Use({Binary(), Binary()});
  ExpectError([&] { ReadRunData(loaded_, kGraded); }, ExitCode::kData,
              {"binary.jsonl: has no grades"});
  data().binarize_at = 1;
  EXPECT_EQ(Grades(ReadRunData(loaded_, kGraded)), (Counts{{0, 4}, {1, 4}}));
  data().binarize_at.reset();
  const std::string taught =
      Lines("taught.jsonl",
            R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [2], "neg_scores": [1]})");
  Use({taught, Binary()});
  ExpectError([&] { ReadRunData(loaded_, kTeacher); }, ExitCode::kData,
              {"binary.jsonl: has no teacher scores"});
  Use({taught, taught});
  EXPECT_EQ(ReadRunData(loaded_, kTeacher).set.examples.size(), 2U);
}

TEST_F(SourcesTest, ScoresOfTheirLinesAreUsedAsTheRecipeSays) {
  const std::string pairs = Lines("pairs.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.25}
{"anchor": "a", "positive": "q", "score": 0.5}
)");
  Use({pairs, Binary()});
  EXPECT_EQ(Grades(ReadRunData(loaded_, kGraded)), (Counts{{0, 2}, {0.25, 1}, {0.5, 1}, {1, 2}}));
  data().scores = "ignored";
  EXPECT_EQ(Grades(ReadRunData(loaded_, kPlain)), (Counts{{0, 2}, {1, 4}}));
}

TEST_F(SourcesTest, GradesOutsideTheScaleNameTheirOwnFile) {
  Use({Binary(), Graded()});
  ExpectError([&] { ReadRunData(loaded_, kGraded); }, ExitCode::kData,
              {"graded/qrels/train.tsv:2: query q0, document d0: grade 2 is outside [0, 1]"});
}

TEST_F(SourcesTest, TwoSplitsOfAFolderShareItsTexts) {
  const std::string graded = Graded();
  const CapturedMessages messages;
  Use({Binary(), graded, graded});
  data().sources[2].split = "dev";
  const RunData shared = ReadRunData(loaded_);
  EXPECT_EQ(shared.set.documents.size(), 63);
  EXPECT_EQ(shared.set.examples.size(), 2 + 48 + 16);
  EXPECT_THAT(messages.text(), testing::HasSubstr("source " + graded +
                                                  ": 16 judged queries, 60 documents, those of "
                                                  "data.source.2\n"));
  EXPECT_THAT(messages.text(), testing::Not(testing::HasSubstr("again")));
  const std::vector<uint32_t> sources = SourcesOf(shared);
  EXPECT_TRUE(std::is_sorted(sources.begin(), sources.end()));
  EXPECT_EQ(std::count(sources.begin(), sources.end(), 2), 16);
  // With another prompt they are other texts.
  data().sources[2].document_prompt = "d: ";
  EXPECT_EQ(ReadRunData(loaded_).set.documents.size(), 123);
}

TEST_F(SourcesTest, OneThatIsThereTwiceIsWarnedOf) {
  const CapturedMessages messages;
  Use({Binary(), Graded(), Binary()});
  EXPECT_EQ(ReadRunData(loaded_).set.examples.size(), 52);
  EXPECT_THAT(messages.text(),
              testing::HasSubstr("data.source.3 is data.source.1 again, so that an epoch has its "
                                 "queries twice; data.mixture = \"weight\" gives"));
}

TEST_F(SourcesTest, OneWithoutATrainingQueryIsNamed) {
  const std::string related =
      Lines("related.jsonl", R"({"anchor": "a", "positive": "p", "score": 0.5}
)");
  Use({Graded(), related});
  data().scores = "grades";
  data().positive_grade = 0.75;
  loaded_.positions["data.positive_grade"] = {"recipe.toml", 1, 1};
  ExpectError([&] { ReadRunData(loaded_, kPlain); }, ExitCode::kData,
              {"related.jsonl: data.source.2 brings no query to train on", "tandem inspect"});
  data().mixture = "weight";
  data().sources[1].weight = 0;
  EXPECT_NO_THROW(ReadRunData(loaded_, kPlain));
}

TEST_F(SourcesTest, TasksAreNumberedByTheirNames) {
  Use({Binary(), Graded(), Binary()});
  data().sources[0].task = "qa";
  data().sources[2].task = "qa";
  const RunData run = ReadRunData(loaded_);
  EXPECT_TRUE(TasksOf(run, loaded_.recipe, run.training).empty());
  loaded_.recipe.sampling.by_task = true;
  const std::vector<uint32_t> tasks = TasksOf(run, loaded_.recipe, run.training);
  ASSERT_EQ(tasks.size(), 52);
  EXPECT_EQ(tasks.front(), 0);
  EXPECT_EQ(tasks[2], 1);
  EXPECT_EQ(tasks.back(), 0);
}

// The prompts of a run whose model has "model-q " and "model-d ", text after text.
class PromptsTest : public SourcesTest {
 protected:
  PromptsTest() {
    model_.query_prompt = "model-q ";
    model_.document_prompt = "model-d ";
  }
  std::string Prompted(const std::string& name, const std::string& query,
                       const std::string& prompt = "") {
    const std::string lines = prompt.empty() ? "" : ", \"prompt\": \"" + prompt + "\"";
    return Lines(name, "{\"query\": \"" + query + "\", \"pos\": [\"" + name + "\"]" + lines +
                           "}\n{\"query\": \"other " + query + "\", \"pos\": [\"more " + name +
                           "\"]" + lines + "}\n");
  }
  std::vector<std::string> PromptsOf(const RunPrompts& prompts, const RunData& data,
                                     model::TextKind kind) const {
    std::vector<std::string> all;
    for (const uint32_t e : data.training) {
      const data::TrainingQuery& example = data.set.examples[e];
      const bool query = kind == model::TextKind::kQuery;
      all.emplace_back(
          prompts.Of(kind).Of(query ? example.query : example.positives.at(0).document));
    }
    return all;
  }

  model::BagEncoder model_;
};

TEST_F(PromptsTest, AreTheSourcesElseTheTasksElseTheLinesElseTheModels) {
  Use({Prompted("1", "a"), Prompted("2", "b", "line-2 "), Prompted("3", "c", "line-3 "),
       Prompted("4", "d")});
  data().sources[0].query_prompt = "own ";
  data().sources[0].task = data().sources[2].task = "t";
  data().sources[3].document_prompt = "own-d ";
  const RunData run = ReadRunData(loaded_);
  EXPECT_EQ(run.query_prompt, "");
  const RunPrompts prompts = TrainingPrompts(run, model_);
  using Texts = std::vector<std::string>;
  EXPECT_EQ(PromptsOf(prompts, run, model::TextKind::kQuery),
            (Texts{"own ", "own ", "line-2 ", "line-2 ", "own ", "own ", "model-q ", "model-q "}));
  EXPECT_EQ(PromptsOf(prompts, run, model::TextKind::kDocument),
            (Texts{"model-d ", "model-d ", "model-d ", "model-d ", "model-d ", "model-d ", "own-d ",
                   "own-d "}));
}

TEST_F(PromptsTest, OfAllLinesAreTheRuns) {
  Use({Prompted("1", "a", "line "), Prompted("2", "b", "line ")});
  EXPECT_EQ(ReadRunData(loaded_).query_prompt, "line ");
  data().sources[1].query_prompt = "";
  const CapturedMessages messages;
  const RunData run = ReadRunData(loaded_);
  EXPECT_EQ(run.query_prompt, "");
  EXPECT_EQ(PromptsOf(TrainingPrompts(run, model_), run, model::TextKind::kQuery),
            (std::vector<std::string>{"line ", "line ", "", ""}));
  EXPECT_THAT(messages.text(), testing::HasSubstr("2: the query prompt is the recipe's, \"\", not "
                                                  "that of its lines, \"line \""));
}

// A batch of prompted sources has the token ids of texts that have the prompts written in.
TEST_F(PromptsTest, StandBeforeTheTextsOfABatch) {
  Use({Prompted("1", "a"), Prompted("2", "b", "line-2 "), Prompted("3", "c")});
  data().sources[0].query_prompt = "own of two words ";
  data().sources[2].document_prompt = "own-d ";
  const RunData run = ReadRunData(loaded_);
  const ExampleTexts texts =
      MakeExampleTexts(run.set, 1, run.training, model_, TrainingPrompts(run, model_), 1);
  const auto batch_of = [&](const ExampleTexts& of) {
    const auto sampler = sampling::kUniform.make(of.examples, {.batch = 6});
    return BatchMaker(of, {}).Make(sampler->Next());
  };
  const auto written = [&](const std::string& name, const std::string& query,
                           const std::string& query_prompt, const std::string& document_prompt) {
    std::string lines;
    for (const char* more : {"", "other "}) {
      const std::string text = (*more == '\0' ? "" : "more ") + name.substr(1);
      lines += "{\"query\": \"" + query_prompt + more + query + "\", \"pos\": [\"" +
               document_prompt + text + "\"]}\n";
    }
    return Lines(name, lines);
  };
  Use({written("w1", "a", "own of two words ", "model-d "),
       written("w2", "b", "line-2 ", "model-d "), written("w3", "c", "model-q ", "own-d ")});
  const RunData by_hand = ReadRunData(loaded_);
  const ExampleTexts hand_texts = MakeExampleTexts(by_hand.set, 1, by_hand.training, model_,
                                                   {TextPrompts(""), TextPrompts("")}, 1);
  const TrainingBatch got = batch_of(texts), want = batch_of(hand_texts);
  ASSERT_EQ(got.texts(), 12);
  ASSERT_EQ(got.tokens(), want.tokens());
  EXPECT_EQ(tensor::ValuesOf<int32_t>(got.Pack(0, 12).ids),
            tensor::ValuesOf<int32_t>(want.Pack(0, 12).ids));
  const ExampleTexts unprompted =
      MakeExampleTexts(run.set, 1, run.training, model_, ModelPrompts(model_), 1);
  EXPECT_NE(batch_of(unprompted).tokens(), got.tokens());
}

TEST_F(PromptsTest, OfValidation) {
  Use({Prompted("1", "a"), Prompted("2", "b")});
  data().sources[1].query_prompt = "own ";
  config::ValidationRecipe& validation = loaded_.recipe.validation;
  validation.holdout = config::Quantity::Count(1);
  std::set<uint32_t> seen;  // sources
  for (loaded_.recipe.seed = 1; loaded_.recipe.seed <= 10; ++loaded_.recipe.seed) {
    const RunData held = ReadRunData(loaded_);
    const RunPrompts prompts = ValidationPrompts(held, validation, model_);
    const data::TrainingQuery& example = held.set.examples[held.held_out.at(0)];
    EXPECT_EQ(prompts.queries.Of(example.query), example.source == 1 ? "own " : "model-q ");
    seen.insert(example.source);
  }
  EXPECT_EQ(seen.size(), 2);
  validation.holdout.reset();
  validation.data = Prompted("3", "c", "line-3 ");
  ExpectError([&] { ReadRunData(loaded_); }, ExitCode::kData,
              {"its queries have the prompt \"line-3 \"", "validation.query_prompt says"});
  validation.query_prompt = "measured ";
  const RunData run = ReadRunData(loaded_);
  const RunPrompts prompts = ValidationPrompts(run, validation, model_);
  EXPECT_TRUE(prompts.queries.AreAll("measured "));
  EXPECT_TRUE(prompts.documents.AreAll("model-d "));
}

TEST_F(PromptsTest, AreReportedAndNotTrainedOnesWarnedOf) {
  Use({Prompted("1", "a"), Prompted("2", "b")});
  data().sources[1].query_prompt = "own ";
  {
    const RunData run = ReadRunData(loaded_);
    const CapturedMessages messages;
    ReportPrompts(run, model_);
    EXPECT_EQ(messages.text(), "source " + data().sources[1].path + ": query prompt \"own \"\n");
  }
  data().sources[0].query_prompt = "other ";
  const RunData run = ReadRunData(loaded_);
  const CapturedMessages messages;
  ReportPrompts(run, model_);
  EXPECT_THAT(
      messages.text(),
      testing::HasSubstr("the model is saved with the query prompt \"model-q \", with which "
                         "no data set is trained; model.query_prompt gives another one"));
}

TEST_F(SourcesTest, EachIsNamedWithItsSize) {
  const CapturedMessages messages;
  const std::string graded = Graded();
  const std::string binary = Binary();
  Use({graded, binary});
  ReadRunData(loaded_);
  EXPECT_EQ(messages.text(), "source " + graded + ": 48 judged queries, 60 documents\nsource " +
                                 binary + ": 2 judged queries, 3 documents\n");
}

}  // namespace
}  // namespace tandem::train
