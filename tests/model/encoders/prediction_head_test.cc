// ModernBERT's prediction head as pooler: against transformers
// (tools/golden/make_prediction_head_golden.py), what is written, and which folders it can be taken
// from.
#include "weights/modules/prediction_head.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "model/encoders/formula_weights.h"
#include "model/fingerprint.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/kernels/cpu/bf16_products.h"
#include "tensor/machine/process.h"
#include "weights/safetensors/safetensors_writer.h"

namespace tandem::model {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const json& HeadGolden() {
  static const json golden =
      json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/model/golden/prediction_heads.json"));
  return golden;
}

// The head's tensors in the files of task models.
std::vector<weights::ModuleParameter> HeadTensors(const json& config) {
  const int64_t hidden = config["hidden_size"];
  std::vector<weights::ModuleParameter> tensors = {{"head.dense.weight", {hidden, hidden}},
                                                   {"head.norm.weight", {hidden}}};
  if (config.value("classifier_bias", false)) tensors.push_back({"head.dense.bias", {hidden}});
  if (config.value("norm_bias", false)) tensors.push_back({"head.norm.bias", {hidden}});
  return tensors;
}

tensor::Tensor Rows(DualEncoder& model, const std::vector<int64_t>& lengths,
                    tensor::Precision precision = tensor::Precision::kFp32) {
  std::vector<std::vector<int32_t>> texts;
  for (const int64_t length : lengths) {
    texts.push_back(FormulaIds(static_cast<int>(texts.size()), length, 96));
  }
  const std::vector<std::span<const int32_t>> spans(texts.begin(), texts.end());
  model.Prepare(TextKind::kQuery, precision, tensor::Passes::kBoth);
  return model.Encode(tensor::Pack(spans), TextKind::kQuery, {.precision = precision});
}

class PredictionHead : public testing::Test {
 protected:
  PredictionHead() { tensor::SetUpProcess(0); }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  // A folder of the class that the case names: "base", with modules.json or plain.
  void WriteBase(const json& config, bool plain = true) const {
    WriteFormulaFolder(Path("base"), config, {.prefix = "model.", .further = HeadTensors(config)});
    if (plain) std::filesystem::remove(Path("base/modules.json"));
  }
  std::unique_ptr<DualEncoder> Load(const std::string& name = "base",
                                    LoadOptions options = {.head = true}) const {
    return DualEncoder::Load(Path(name), options);
  }
  void ExpectProblem(ExitCode code, const std::vector<std::string>& texts) const {
    ExpectError([&] { Load(); }, code, texts);
  }
  json Written(const std::string& file) const { return json::parse(ReadFile(Path(file))); }

  const json& config() const { return HeadGolden()[0]["config"]; }

 private:
  TemporaryFolder folder_;
};

TEST_F(PredictionHead, EqualsTransformers) {
  for (const json& golden : HeadGolden()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    WriteBase(golden["config"]);
    const auto model = Load();
    const tensor::Tensor rows = Rows(*model, golden["lengths"]);
    ASSERT_EQ(static_cast<size_t>(rows.size(0)), golden["rows"].size());
    for (int64_t b = 0; b < rows.size(0); ++b) {
      const json& want = golden["rows"][static_cast<size_t>(b)];
      const double norm = want[0];
      EXPECT_NEAR(NormOf(rows[b]), norm, 1e-5 * norm) << b;
      for (size_t c = 0; c < golden["columns"].size(); ++c) {
        EXPECT_NEAR(rows[b][golden["columns"][c].get<int64_t>()].item<double>(),
                    want[c + 1].get<double>(), 1e-5 * norm)
            << b;
      }
    }
  }
}

TEST_F(PredictionHead, GradientsEqualAutograds) {
  const std::map<std::string, std::string> names = {
      {"head.dense/linear.weight", "head.dense.weight"},
      {"head.dense/linear.bias", "head.dense.bias"},
      {"head.norm/norm.weight", "head.norm.weight"},
      {"head.norm/norm.bias", "head.norm.bias"}};
  for (const json& golden : HeadGolden()) {
    SCOPED_TRACE(golden["name"].get<std::string>());
    WriteBase(golden["config"]);
    const auto model = Load();
    SineLoss(Rows(*model, golden["lengths"])).backward();
    size_t compared = 0;
    for (const NamedParameter& parameter : model->Parameters()) {
      const auto found = names.find(parameter.name);
      const std::string& name = found == names.end() ? parameter.name : found->second;
      if (!golden["gradients"].contains(name)) continue;
      ++compared;
      const json& want = golden["gradients"][name];
      const double norm = want[0];
      const tensor::Tensor gradient = parameter.value.grad();
      EXPECT_NEAR(NormOf(gradient), norm, 1e-4 * norm) << name;
      EXPECT_NEAR(ElementsOf(gradient).at(want[1].get<size_t>()), want[2].get<double>(),
                  1e-4 * norm)
          << name;
    }
    EXPECT_EQ(compared, golden["gradients"].size());
  }
}

TEST_F(PredictionHead, Bf16ErrsAtMostHalfAsMuchAgain) {
  if (!tensor::HasBf16Products()) GTEST_SKIP() << "no products of bf16";
  const tensor::NoGradGuard no_gradient;
  for (const json& golden : HeadGolden()) {
    WriteBase(golden["config"]);
    const auto model = Load();
    const tensor::Tensor exact = Rows(*model, golden["lengths"]);
    const tensor::Tensor got = Rows(*model, golden["lengths"], tensor::Precision::kBf16);
    double squares = 0;
    for (const double error : golden["bf16"]) squares += error * error;
    EXPECT_LE(Distance(got, exact), 1.5 * std::sqrt(squares)) << golden["name"];
  }
}

TEST_F(PredictionHead, IsSavedAsModulesBeforeNormalize) {
  WriteBase(config(), /*plain=*/false);
  WriteFileAtomically(Path("base/modules.json"), R"([
 {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
 {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
 {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])");
  const auto model = Load("base", {.head = true, .projection = 8, .seed = 4});
  model->Save(Path("saved"));
  std::vector<std::string> types;
  for (const json& module : Written("saved/modules.json")) types.push_back(module["type"]);
  const std::string place = "sentence_transformers.models.";
  EXPECT_THAT(types, ElementsAre(place + "Transformer", place + "Pooling", place + "Dense",
                                 place + "LayerNorm", place + "Dense", place + "Normalize"));
  EXPECT_EQ(Written("saved/2_Dense/config.json"),
            json::parse(R"({"in_features": 32, "out_features": 32, "bias": false,
                            "activation_function": "torch.nn.modules.activation.GELU"})"));
  EXPECT_EQ(Written("saved/3_LayerNorm/config.json"), json::parse(R"({"dimension": 32})"));
  const weights::WeightFiles norm(Path("saved/3_LayerNorm"));
  EXPECT_EQ(weights::ToFloat32(*norm.Find("norm.weight")), FormulaValues("head.norm.weight", {32}));
  EXPECT_EQ(weights::ToFloat32(*norm.Find("norm.bias")), std::vector<float>(32, 0.0F));
  const tensor::Tensor want = Rows(*model, {3, 9, 40});
  EXPECT_TRUE(AreEqual(Rows(*Load("saved", {}), {3, 9, 40}), want));
}

TEST_F(PredictionHead, AFolderThatHasItKeepsIt) {
  WriteBase(config());
  const auto model = Load();
  for (NamedParameter& parameter : model->Parameters()) {  // no longer the base's
    if (parameter.name.starts_with("head."))
      parameter.value.set_data(tensor::Mul(parameter.value.detach(), 2));
  }
  model->Save(Path("saved"));
  const CapturedMessages captured;
  const auto again = Load("saved");
  EXPECT_THAT(captured.text(), HasSubstr("has the prediction head as modules already"));
  EXPECT_TRUE(AreEqual(Rows(*again, {3, 9}), Rows(*model, {3, 9})));
  EXPECT_EQ(Fingerprint(*again), Fingerprint(*Load("saved", {})));
}

// A Dense module that is not the head of this config.json stands where the head would.
TEST_F(PredictionHead, OtherModulesAreNotTakenForIt) {
  WriteBase(config());
  Load()->Save(Path("saved"));
  const auto refused = [&] {
    ExpectError([&] { Load("saved"); }, ExitCode::kUsage,
                {"has the module 2_Dense after its pooling", "leave model.head out"});
  };
  const json dense = Written("saved/2_Dense/config.json");
  const json modules = Written("saved/modules.json"), whole = Written("saved/config.json");
  json changed = dense;
  changed["activation_function"] = "torch.nn.modules.activation.Tanh";
  WriteFileAtomically(Path("saved/2_Dense/config.json"), changed.dump());
  refused();
  WriteFileAtomically(Path("saved/2_Dense/config.json"), dense.dump());
  changed = whole;
  changed["classifier_bias"] = true;
  WriteFileAtomically(Path("saved/config.json"), changed.dump());
  refused();
  WriteFileAtomically(Path("saved/config.json"), whole.dump());
  EXPECT_NO_THROW(Load("saved"));
  changed = modules;
  changed[3]["type"] = "sentence_transformers.models.Normalize";
  WriteFileAtomically(Path("saved/modules.json"), changed.dump());
  refused();
  WriteFileAtomically(Path("saved/modules.json"), modules.dump());
  changed = dense;
  changed["out_features"] = 8;
  WriteFileAtomically(Path("saved/2_Dense/config.json"), changed.dump());
  WriteFileAtomically(Path("saved/3_LayerNorm/config.json"), R"({"dimension": 8})");
  const std::vector<float> matrix(8 * 32, 0.5F), row(8, 1.0F);
  const std::vector<weights::TensorToWrite> linear = {
      weights::Float32Tensor("linear.weight", {8, 32}, matrix)};
  const std::vector<weights::TensorToWrite> norm = {weights::Float32Tensor("norm.weight", {8}, row),
                                                    weights::Float32Tensor("norm.bias", {8}, row)};
  weights::WriteSafetensors(Path("saved/2_Dense/model.safetensors"), linear);
  weights::WriteSafetensors(Path("saved/3_LayerNorm/model.safetensors"), norm);
  refused();
}

TEST_F(PredictionHead, ChangesFingerprints) {
  WriteBase(config());
  const auto with = Load(), without = Load("base", {});
  EXPECT_NE(Fingerprint(*with), Fingerprint(*without));
  EXPECT_THAT(with->settings(), HasSubstr("dense 32 to 32, torch.nn.modules.activation.GELU\n"
                                          "layer norm 32\n"));
}

TEST_F(PredictionHead, PlainFoldersPoolAsTheirClassifiers) {
  json of_mean = config();
  of_mean["classifier_pooling"] = "mean";
  const CapturedMessages captured;
  WriteBase(config());
  EXPECT_THAT(Load()->settings(), HasSubstr("pooling cls\n"));
  EXPECT_THAT(captured.text(), HasSubstr("pooling cls, as its classifiers pool"));
  EXPECT_THAT(Load("base", {})->settings(), HasSubstr("pooling mean\n"));
  const LoadOptions by_mean{.head = true, .pooling = {.mode = weights::PoolingMode::kMean}};
  EXPECT_THAT(Load("base", by_mean)->settings(), HasSubstr("pooling mean\n"));
  WriteBase(of_mean);
  EXPECT_THAT(Load()->settings(), HasSubstr("pooling mean\n"));
  WriteBase(config(), /*plain=*/false);  // 1_Pooling says mean
  EXPECT_THAT(Load()->settings(), HasSubstr("pooling mean\n"));
}

TEST_F(PredictionHead, ClassifiersAreBasesForItAlone) {
  json classifier = config();
  classifier["architectures"] = {"ModernBertForSequenceClassification"};
  WriteBase(classifier);
  ExpectError([&] { Load("base", {}); }, ExitCode::kModel, {"is a cross-encoder"});
  const tensor::Tensor want = Rows(*Load(), {3, 9});
  // sentence-transformers' CrossEncoder saves it like this.
  WriteFileAtomically(Path("base/config_sentence_transformers.json"),
                      R"({"model_type": "CrossEncoder", "prompts": {"query": "Q: "}})");
  WriteFileAtomically(Path("base/modules.json"), R"([{"idx": 0, "name": "0", "path": "",
      "type": "sentence_transformers.base.modules.transformer.Transformer"}])");
  const auto model = Load();
  EXPECT_TRUE(AreEqual(Rows(*model, {3, 9}), want));
  EXPECT_EQ(model->prompt(TextKind::kQuery), "");
  model->Save(Path("saved"));
  EXPECT_TRUE(AreEqual(Rows(*Load("saved", {}), {3, 9}), want));
}

TEST_F(PredictionHead, TwoTowersGetOneEach) {
  WriteBase(config());
  const auto model = Load("base", {.towers = weights::Towers::kSeparate, .head = true});
  size_t of_heads = 0;
  for (const NamedParameter& parameter : model->Parameters()) {
    of_heads += parameter.name.find(".head.") != std::string::npos;
  }
  EXPECT_EQ(of_heads, 6U);
  model->Save(Path("saved"));
  EXPECT_TRUE(AreEqual(Rows(*Load("saved", {}), {3, 9}), Rows(*model, {3, 9})));
}

TEST_F(PredictionHead, IsTrainedAndFrozenAsModulesAre) {
  WriteBase(config());
  const auto trained = [&](const TrainingOptions& training) {
    std::vector<std::string> names;
    const auto model = Load("base", {.head = true, .training = training});
    for (const NamedParameter& parameter : TrainedOf(model->Parameters())) {
      names.push_back(parameter.name);
    }
    return names;
  };
  EXPECT_THAT(
      trained({.what = Trained::kHead}),
      ElementsAre("head.dense/linear.weight", "head.norm/norm.weight", "head.norm/norm.bias"));
  EXPECT_THAT(trained({.what = Trained::kHead, .freeze = {"head.norm"}}),
              ElementsAre("head.dense/linear.weight"));
  EXPECT_THAT(trained({.what = Trained::kNothing}), IsEmpty());
  EXPECT_THAT(trained({.what = Trained::kLora}), Not(testing::Contains(HasSubstr("head."))));
  ExpectError([&] { trained({.freeze = {"head"}}); }, ExitCode::kUsage,
              {"\"head\" names no part", "head.dense, head.norm"});
  for (const NamedParameter& parameter : Load()->Parameters()) {
    if (parameter.name.starts_with("head.")) {
      EXPECT_EQ(parameter.decay, parameter.name == "head.dense/linear.weight") << parameter.name;
    }
  }
}

// The adapter's folder lists the head as modules, which are not the base's any more.
TEST_F(PredictionHead, IsKeptInAnAdaptersFolder) {
  WriteBase(config());
  const auto first = Load("base", {.head = true, .training = {.what = Trained::kLora}});
  for (NamedParameter& parameter : first->Parameters()) {
    const bool changes = parameter.trained() || parameter.name.starts_with("head.");
    if (!changes) continue;
    const tensor::Tensor changed = tensor::Mul(parameter.value.detach(), 1.25);
    AddToEach(changed, 0.01);
    parameter.value.set_data(changed);
  }
  first->SaveAdapter(Path("adapter"), {"base", ""});
  const tensor::Tensor want = Rows(*first, {3, 9});
  const TrainingOptions on{.what = Trained::kLora, .adapter = Path("adapter")};
  for (const bool head : {true, false}) {
    EXPECT_TRUE(AreEqual(Rows(*Load("base", {.head = head, .training = on}), {3, 9}), want))
        << head;
  }
  EXPECT_FALSE(AreEqual(Rows(*Load(), {3, 9}), want));
}

// An adapter that was trained without the head gets it.
TEST_F(PredictionHead, FollowsTheModulesOfAnAdapterWithoutIt) {
  WriteBase(config());
  Load("base", {.training = {.what = Trained::kLora}})->SaveAdapter(Path("adapter"), {"base", ""});
  const TrainingOptions on{.what = Trained::kLora, .adapter = Path("adapter")};
  const auto with = Load("base", {.head = true, .training = on});
  EXPECT_THAT(with->settings(), HasSubstr("pooling mean\n"
                                          "dense 32 to 32, torch.nn.modules.activation.GELU\n"
                                          "layer norm 32\n"));
  const LoadOptions by_mean{.head = true, .pooling = {.mode = weights::PoolingMode::kMean}};
  EXPECT_TRUE(AreEqual(Rows(*with, {3, 9}), Rows(*Load("base", by_mean), {3, 9})));
  Load("base", {.projection = 8, .training = {.what = Trained::kLora}})
      ->SaveAdapter(Path("projected"), {"base", ""});
  const TrainingOptions on_projected{.what = Trained::kLora, .adapter = Path("projected")};
  ExpectError([&] { Load("base", {.head = true, .training = on_projected}); }, ExitCode::kUsage,
              {"has the module projection after its pooling"});
}

TEST_F(PredictionHead, FoldersWithoutItSayWhatWasLookedFor) {
  WriteFormulaFolder(Path("base"), config(), {.prefix = "model."});
  ExpectProblem(ExitCode::kModel, {Path("base").native(), "head.dense.weight and head.norm.weight",
                                   "ModernBertForSequenceClassification", "the weights lack it"});
  json with_bias = config();
  with_bias["classifier_bias"] = true;
  WriteBase(config());
  WriteFileAtomically(Path("base/config.json"), with_bias.dump());
  ExpectProblem(ExitCode::kModel, {"head.dense.bias", "the weights lack it"});
}

TEST_F(PredictionHead, OtherEncodersNameThoseThatHaveOne) {
  WriteTinyModel(Path("base"));
  ExpectProblem(ExitCode::kUsage, {"(bert) has no prediction head", "with one: modernbert"});
}

TEST_F(PredictionHead, WhatModulesCannotExpressIsRefused) {
  json changed = config();
  changed["norm_eps"] = 1e-6;
  WriteBase(changed);
  ExpectProblem(ExitCode::kModel, {"config.json", "epsilon 1e-06", "1e-05"});
  changed = config();
  changed["classifier_activation"] = "gelu_pytorch_tanh";
  WriteBase(changed);
  ExpectProblem(ExitCode::kModel, {"config.json", "is gelu_tanh", "gelu, relu, silu, tanh"});
}

TEST_F(PredictionHead, StandsBehindPoolingAlone) {
  WriteBase(config(), /*plain=*/false);
  Load("base", {.projection = 8})->Save(Path("saved"));
  ExpectError([&] { Load("saved"); }, ExitCode::kUsage,
              {"has the module 2_Dense after its pooling", "leave model.head out"});
  const LoadOptions wide{.head = true};
  WriteFileAtomically(Path("base/1_Pooling/config.json"), R"({"pooling_mode": ["cls", "mean"]})");
  ExpectError([&] { Load("base", wide); }, ExitCode::kModel, {"head.dense", "32", "cls + mean"});
}

}  // namespace
}  // namespace tandem::model
