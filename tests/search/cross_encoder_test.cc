// Cross-encoders against sentence-transformers' CrossEncoder, and what cannot be loaded.
#include "model/encoders/cross_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "data/dataset.h"
#include "model/encoders/formula_cross_encoder.h"
#include "search/scoring/cross_encoder_scores.h"
#include "support/temporary_folder.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "weights/architecture.h"
#include "weights/classification_head.h"
#include "weights/folders/model_folder.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// The golden pairs as a data set: a query and a document each.
struct GoldenPairs {
  data::Dataset dataset;
  data::JudgedPairs pairs;

  explicit GoldenPairs(size_t repeats = 1) {
    for (size_t r = 0; r < repeats; ++r) {
      for (const json& pair : CrossEncoderGolden()["pairs"]) {
        const std::string id = std::to_string(pairs.query_of.size());
        pairs.query_of.push_back(dataset.queries.size());
        pairs.document_of.push_back(dataset.documents.size());
        pairs.starts.push_back(pairs.document_of.size());
        dataset.queries.Add(id, pair[0].get<std::string>(), 0);
        dataset.documents.Add(id, pair[1].get<std::string>(), 0);
      }
    }
  }
};

class CrossEncoderGoldenTest : public testing::TestWithParam<std::string> {
 protected:
  CrossEncoderGoldenTest() {
    tensor::SetUpProcess(0);
    const std::string type = golden()["config"]["model_type"];
    WriteCrossEncoder(folder_.path(), golden(),
                      std::string(weights::FindArchitecture(type)->prefixes.front()));
  }
  static const json& golden() { return CrossEncoderCase(GetParam()); }

  TemporaryFolder folder_;
};

TEST_P(CrossEncoderGoldenTest, EqualsSentenceTransformers) {
  model::CrossEncoder model(folder_.path());
  EXPECT_EQ(model.activation(), golden()["activation"].get<std::string>());
  const GoldenPairs golden_pairs;
  const search::CrossEncoderLogits found =
      search::ScoreByCrossEncoder(model, golden_pairs.dataset, golden_pairs.pairs, {});
  const json& logits = golden()["logits"];
  ASSERT_EQ(found.labels, logits[0].size());
  for (size_t p = 0; p < logits.size(); ++p) {
    for (size_t l = 0; l < found.labels; ++l) {
      EXPECT_NEAR(found.logits[p * found.labels + l], logits[p][l].get<float>(), 1e-5) << p;
    }
  }
}

// predict's default scores are the grades, where its activation is Sigmoid.
TEST_P(CrossEncoderGoldenTest, GradesAreWhatPredictGives) {
  model::CrossEncoder model(folder_.path());
  const search::LabelScore rule = search::GradeOf(model, 0);
  for (size_t p = 0; p < golden()["logits"].size(); ++p) {
    const auto logits = golden()["logits"][p].get<std::vector<float>>();
    const double grade = rule.score(logits);
    EXPECT_GE(grade, 0);
    EXPECT_LE(grade, 1);
    if (model.activation() != "Sigmoid") continue;
    EXPECT_NEAR(grade, golden()["scores"][p][0].get<double>(), 1e-6);
  }
}

// The cases whose encoder the catalogue has.
std::vector<std::string> CaseNames() {
  std::vector<std::string> names;
  for (const json& one : CrossEncoderGolden()["cases"]) {
    const std::string type = one["config"]["model_type"];
    if (weights::FindArchitecture(type) != nullptr) names.push_back(one["name"]);
  }
  return names;
}

// A case has few pairs, so that its largest error is a matter of luck; together they are not.
TEST(CrossEncoderGoldenFile, Bf16ErrsAtMostHalfAsMuchAgain) {
  tensor::SetUpProcess(0);
  if (!tensor::HasBf16Products()) GTEST_SKIP() << "no products of bf16";
  const GoldenPairs golden_pairs;
  double ours = 0, theirs = 0;
  for (const std::string& name : CaseNames()) {
    const json& golden = CrossEncoderCase(name);
    const TemporaryFolder folder;
    WriteCrossEncoder(folder.path(), golden);
    model::CrossEncoder model(folder.path());
    const search::CrossEncoderLogits found = search::ScoreByCrossEncoder(
        model, golden_pairs.dataset, golden_pairs.pairs, {.precision = tensor::Precision::kBf16});
    double worst = 0;
    for (size_t i = 0; i < found.logits.size(); ++i) {
      const double exact = golden["logits"][i / found.labels][i % found.labels];
      worst = std::max(worst, std::abs(static_cast<double>(found.logits[i]) - exact));
    }
    EXPECT_GT(worst, 0) << name;
    ours += worst;
    theirs += golden["bf16"].get<double>();
  }
  EXPECT_LE(ours, 1.5 * theirs);
}

TEST(CrossEncoderGoldenFile, HasACaseOfEveryClass) {
  std::set<std::string> classes;
  for (const json& one : CrossEncoderGolden()["cases"]) {
    classes.insert(one["config"]["architectures"][0]);
  }
  for (const weights::ClassificationHead* head : weights::ClassificationHeads()) {
    for (const std::string_view name : head->class_names) {
      EXPECT_TRUE(classes.contains(std::string(name)))
          << name << " has no case in tools/golden/make_cross_encoder_golden.py";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, CrossEncoderGoldenTest, testing::ValuesIn(CaseNames()),
                         [](const auto& named) { return named.param; });

class CrossEncoderTest : public testing::Test {
 protected:
  CrossEncoderTest() {
    tensor::SetUpProcess(0);
    WriteCrossEncoder(folder_.path(), CrossEncoderCase("bert"));
  }
  // Writes the folder again, with changes of its config.json.
  void Rewrite(const json& changes) {
    json one = CrossEncoderCase("bert");
    one["config"].update(changes);
    WriteCrossEncoder(folder_.path(), one);
  }
  void Write(const std::string& name, const json& settings) const {
    WriteFileAtomically(folder_.path() / name, settings.dump());
  }
  void ExpectRefused(const std::string& message) const {
    try {
      const model::CrossEncoder model(folder_.path());
      FAIL() << message;
    } catch (const ModelError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }

  TemporaryFolder folder_;
};

// Batches on one thread or on all, and windows, change nothing but rounding.
TEST_F(CrossEncoderTest, BatchesAndWindowsChangeNothing) {
  model::CrossEncoder model(folder_.path());
  const GoldenPairs many(40);
  const auto score = [&](const search::CrossEncoderOptions& options) {
    return search::ScoreByCrossEncoder(model, many.dataset, many.pairs, options);
  };
  const search::CrossEncoderLogits whole = score({});
  EXPECT_EQ(whole.truncated, 40U);  // one of the golden pairs
  for (const size_t window : {size_t{1}, size_t{7}, size_t{1000}}) {
    const search::CrossEncoderLogits other =
        score({.threads = 2, .batch_tokens = {200, 90}, .window_pairs = window});
    EXPECT_EQ(other.tokens, whole.tokens);
    EXPECT_EQ(other.truncated, whole.truncated);
    for (size_t i = 0; i < whole.logits.size(); ++i) {
      ASSERT_NEAR(other.logits[i], whole.logits[i], 1e-6) << window << " " << i;
    }
  }
}

TEST_F(CrossEncoderTest, LengthsAreTheFoldersOrGiven) {
  EXPECT_EQ(model::CrossEncoder(folder_.path()).max_tokens(), 40U);
  EXPECT_EQ(model::CrossEncoder(folder_.path(), 12).max_tokens(), 12U);
  EXPECT_EQ(model::CrossEncoder(folder_.path(), 0).max_tokens(), 40U);
  EXPECT_THROW(model::CrossEncoder(folder_.path(), 41), UsageError);
}

// CrossEncoder.save of release 6 writes it like this.
TEST_F(CrossEncoderTest, ReadsWhatSentenceTransformersSaves) {
  Write("modules.json", json::array({{{"idx", 0},
                                      {"name", "0"},
                                      {"path", ""},
                                      {"type",
                                       "sentence_transformers.base.modules.transformer."
                                       "Transformer"}}}));
  Write("sentence_bert_config.json",
        {{"transformer_task", "sequence-classification"}, {"module_output_name", "scores"}});
  Write("config_sentence_transformers.json", {{"model_type", "CrossEncoder"},
                                              {"activation_fn", "torch.nn.modules.linear.Identity"},
                                              {"prompts", {{"ask", "query: "}}},
                                              {"default_prompt_name", "ask"}});
  ASSERT_TRUE(weights::IsCrossEncoder(folder_.path()));
  const model::CrossEncoder model(folder_.path());
  EXPECT_EQ(model.activation(), "Identity");
  EXPECT_EQ(model.prompt(), "query: ");
}

TEST_F(CrossEncoderTest, FurtherModulesAreRefused) {
  const auto entry = [](int index, const std::string& type, const std::string& path) {
    return json{{"idx", index},
                {"name", std::to_string(index)},
                {"path", path},
                {"type", "sentence_transformers.models." + type}};
  };
  Write("config_sentence_transformers.json", {{"model_type", "CrossEncoder"}});
  Write("modules.json", json::array({entry(0, "Transformer", ""), entry(1, "Dense", "1_Dense")}));
  ExpectRefused("modules.json: lists sentence_transformers.models.Dense after the Transformer");
}

TEST_F(CrossEncoderTest, ThePromptStandsBeforeTheQuery) {
  const GoldenPairs plain;
  Write("config_sentence_transformers.json", {{"model_type", "CrossEncoder"},
                                              {"prompts", {{"ask", "alpha beta "}}},
                                              {"default_prompt_name", "ask"}});
  model::CrossEncoder model(folder_.path());
  const search::CrossEncoderLogits prompted =
      search::ScoreByCrossEncoder(model, plain.dataset, plain.pairs, {});
  GoldenPairs spelled;
  data::Texts queries;
  for (uint32_t q = 0; q < spelled.dataset.queries.size(); ++q) {
    queries.Add(std::to_string(q), "alpha beta " + std::string(spelled.dataset.queries.text(q)), 0);
  }
  spelled.dataset.queries = queries;
  std::filesystem::remove(folder_.path() / "config_sentence_transformers.json");
  model::CrossEncoder bare(folder_.path());
  EXPECT_EQ(prompted.logits,
            search::ScoreByCrossEncoder(bare, spelled.dataset, spelled.pairs, {}).logits);
}

TEST_F(CrossEncoderTest, LabelsAreFoundByNameOrNumber) {
  Rewrite({{"id2label", {{"0", "no"}, {"1", "yes"}}}});
  const model::CrossEncoder model(folder_.path());
  EXPECT_EQ(search::FindLabel(model, "yes"), 1U);
  EXPECT_EQ(search::FindLabel(model, "0"), 0U);
  const float logits[] = {1, 3};
  EXPECT_NEAR(search::GradeOf(model, 1).score(logits), 1 / (1 + std::exp(-2.0)), 1e-12);
  EXPECT_EQ(search::LogitOf(model, 1).score(logits), 3);
  const auto refused = [&](const std::string& given, const std::string& message) {
    try {
      search::FindLabel(model, given);
      FAIL() << message;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  };
  refused("", "has 2 labels (no, yes), and a pair gets one score: give --label with one of them");
  refused("maybe", "--label is maybe; ");
}

TEST_F(CrossEncoderTest, WhatCannotBeLoaded) {
  json config = CrossEncoderCase("bert")["config"];
  config["architectures"] = {"ElectraForSequenceClassification"};
  Write("config.json", config);
  ExpectRefused(
      "'architectures' is ElectraForSequenceClassification, whose head is not supported; "
      "supported: BertForSequenceClassification, RobertaForSequenceClassification");
}

TEST_F(CrossEncoderTest, AMissingHeadIsNamed) {
  json one = CrossEncoderCase("bert");
  one["config"]["architectures"] = {"DistilBertForSequenceClassification"};
  Write("config.json", one["config"]);
  ExpectRefused(
      "the weights lack it; config.json asks for [32, 32] (tensor pre_classifier.weight)");
  Rewrite(json::object());
  one = CrossEncoderCase("bert");
  one["config"]["id2label"] = {{"0", "a"}, {"1", "b"}};
  Write("config.json", one["config"]);
  ExpectRefused("has shape [1, 32]; [2, 32] expected from config.json (tensor classifier.weight)");
}

TEST_F(CrossEncoderTest, ATokenizerWithoutPairsIsRefused) {
  json one = CrossEncoderCase("bert");
  one["post_processor"] = nullptr;
  WriteCrossEncoder(folder_.path(), one);
  ExpectRefused("its tokenizer has no template for pairs of texts");
}

TEST_F(CrossEncoderTest, OtherActivationsTeachButDoNotGrade) {
  Rewrite({{"sentence_transformers", {{"activation_fn", "torch.nn.modules.activation.Tanh"}}}});
  const model::CrossEncoder model(folder_.path());
  EXPECT_THROW(search::GradeOf(model, 0), UsageError);
  EXPECT_NO_THROW(search::LogitOf(model, 0));
  Rewrite({{"sentence_transformers", {{"activation_fn", "my_package.Squash"}}}});
  EXPECT_EQ(model::CrossEncoder(folder_.path()).activation(), "Sigmoid");
}

TEST_F(CrossEncoderTest, GradesAreByActivationAndNumberOfLabels) {
  const auto grade = [&](size_t label, const std::vector<float>& logits, const char* activation) {
    json changes = {{"id2label", json::object()}};
    for (size_t i = 0; i < logits.size(); ++i) changes["id2label"][std::to_string(i)] = "x";
    changes["sentence_transformers"]["activation_fn"] = activation;
    Rewrite(changes);
    return search::GradeOf(model::CrossEncoder(folder_.path()), label).score(logits);
  };
  const double logistic = 1 / (1 + std::exp(-2.0));
  EXPECT_NEAR(grade(0, {2}, "torch.nn.modules.activation.Sigmoid"), logistic, 1e-12);
  EXPECT_NEAR(grade(0, {2}, "torch.nn.modules.linear.Identity"), logistic, 1e-12);
  EXPECT_NEAR(grade(1, {5, 2, 1}, "torch.nn.modules.activation.Sigmoid"), logistic, 1e-12);
  EXPECT_NEAR(grade(1, {5, 2, 1}, "torch.nn.modules.linear.Identity"),
              std::exp(2.0) / (std::exp(5.0) + std::exp(2.0) + std::exp(1.0)), 1e-12);
}

TEST_F(CrossEncoderTest, IsNoModelOfEmbeddings) {
  try {
    weights::ReadModelFolder(folder_.path());
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("is a cross-encoder (BertForSequenceClassification): it scores pairs of "
                          "texts and makes no embeddings. Score the pairs of training data with it "
                          "(tandem score --model "));
  }
}

TEST_F(CrossEncoderTest, ThatNobodyCanScoreWithIsNotRecommended) {
  json config = CrossEncoderCase("bert")["config"];
  config["architectures"] = {"LlamaForSequenceClassification"};
  Write("config.json", config);
  try {
    weights::ReadModelFolder(folder_.path());
    FAIL();
  } catch (const ModelError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("is a classifier (LlamaForSequenceClassification) and no encoder; "
                          "transformers takes the encoder out of it"));
  }
}

}  // namespace
}  // namespace tandem
