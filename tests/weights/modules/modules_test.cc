// modules.json, and Dense and LayerNorm modules after pooling.
#include "weights/modules/modules.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/captured_messages.h"
#include "support/small_model_fixture.h"

namespace tandem::weights {
namespace {

TEST_F(SmallModel, ModulesAreChecked) {
  ExpectBrokenModules(
      "models.Normalize", "models.LSTM",
      {"'sentence_transformers.models.LSTM' is not supported: it is a model of word "
       "vectors; take one that begins with a Transformer. Supported: Transformer, "
       "Pooling, Dense, LayerNorm, Normalize, Dropout"});
  ExpectBrokenModules("sentence_transformers.models.Pooling", "custom.Pooling",
                      {"'custom.Pooling' is not supported: it is code that comes with the model, "
                       "which is never run"});
  ExpectBrokenModules("models.Pooling", "models.Normalize", {"module 1 is"});
  ExpectBrokenModules("models.Normalize", "models.Pooling", {"module 2 is"});
  ExpectBrokenModules("models.Transformer", "models.Pooling", {"the first module is"});
  ExpectBrokenModules("1_Pooling", "../1_Pooling", {"leads out of the folder"});
  ExpectBrokenModules("1_Pooling", "/etc", {"leads out of the folder"});
  Write("modules.json", Replaced(kSmallModules, "1_Pooling", "9_Pooling"));
  ExpectBroken({"9_Pooling/config.json", "cannot be read"});
  Write("modules.json", "{}");
  ExpectBroken({"is not a list of modules"});
  Write("modules.json", R"([{"type": "sentence_transformers.models.Transformer"}])");
  ExpectBroken({"lists no Pooling module"});
}

TEST_F(SmallModel, ModulesOfOtherModelsAreRefusedByName) {
  for (const auto& [name, why] :
       {std::pair{"sentence_transformer.modules.StaticEmbedding", "a model of word vectors"},
        std::pair{"models.WordEmbeddings", "a model of word vectors"},
        std::pair{"models.BoW", "a model of word vectors"},
        std::pair{"models.CNN", "a model of word vectors"},
        std::pair{"models.WeightedLayerPooling", "a mean of several layers' outputs"},
        std::pair{"models.CLIPModel", "a model of images"},
        std::pair{"sparse_encoder.models.MLMTransformer", "of a sparse encoder"},
        std::pair{"sparse_encoder.modules.splade_pooling.SpladePooling", "of a sparse encoder"},
        std::pair{"sparse_encoder.models.SparseAutoEncoder", "of a sparse encoder"},
        std::pair{"multi_vector_encoder.modules.MultiVectorMask", "a vector for each token"},
        std::pair{"models.Frobnicate", "is unknown"}}) {
    ExpectBrokenModules("models.Normalize", name, {"is not supported: it is", why});
  }
}

TEST_F(SmallModel, DropoutIsLeftOut) {
  Write("modules.json",
        Replaced(kSmallModules, R"("type": "sentence_transformers.models.Normalize"})",
                 R"("type": "sentence_transformers.models.Dropout"},
    {"idx": 3, "name": "3", "path": "3_Normalize",
     "type": "sentence_transformers.models.Normalize"})"));
  Write("2_Normalize/config.json", R"({"dropout": 0.2})");
  const CapturedMessages messages;
  const ModelFolder folder = Read();
  ASSERT_EQ(folder.head.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<Normalize>(folder.head[1]));
  EXPECT_NE(messages.text().find("modules.json: the Dropout module changes no embedding"),
            std::string::npos);
}

class DenseModel : public SmallModel {
 protected:
  void SetUp() override {
    SmallModel::SetUp();
    Write("modules.json", Replaced(Replaced(kSmallModules, "2_Normalize", "2_Dense"),
                                   "models.Normalize", "models.Dense"));
    WriteConfig("torch.nn.modules.linear.Identity");
    WriteWeights({4, 8});
  }
  void WriteConfig(const std::string& activation, const std::string& more = "") {
    Write("2_Dense/config.json", R"({"in_features": 8, "out_features": 4, "bias": true,
          "activation_function": ")" +
                                     activation + "\"" + more + "}");
  }
  void WriteWeights(const Shape& shape) {
    WriteTensors(path() / "2_Dense/model.safetensors",
                 {{"linear.weight", shape, std::vector<float>(32, 0.5f)},
                  {"linear.bias", {4}, std::vector<float>(4, 0.25f)}});
  }
};

TEST_F(DenseModel, IsRead) {
  const ModelFolder folder = Read();
  const Dense& dense = std::get<Dense>(folder.head[1]);
  EXPECT_EQ(dense.activation, Activation::kIdentity);
  EXPECT_EQ(dense.in_features, 8);
  EXPECT_TRUE(dense.bias);
  EXPECT_EQ(dense.folder, "2_Dense");
  EXPECT_EQ(ToFloat32(*dense.weights->Find("linear.bias")), std::vector<float>(4, 0.25f));
  EXPECT_EQ(folder.embedding_width, 4);
}

TEST_F(DenseModel, EveryActivationReadsBackUnderBothNames) {
  for (const Activation activation : {Activation::kIdentity, Activation::kTanh, Activation::kRelu,
                                      Activation::kGelu, Activation::kSigmoid, Activation::kSilu}) {
    const std::string name(ActivationName(activation));
    WriteConfig(name);
    EXPECT_EQ(std::get<Dense>(Read().head[1]).activation, activation) << name;
    WriteConfig("torch.nn." + name.substr(name.rfind('.') + 1));
    EXPECT_EQ(std::get<Dense>(Read().head[1]).activation, activation) << name;
  }
}

TEST_F(DenseModel, IsChecked) {
  WriteConfig("torch.nn.modules.activation.Mish");
  ExpectBroken(
      {"'torch.nn.modules.activation.Mish' is not supported", "torch.nn.modules.activation.Tanh"});
  WriteConfig("os.system");
  ExpectBroken({"'os.system' is not supported"});
  WriteConfig("torch.nn.Tanh", R"(, "use_residual": true)");
  ExpectBroken({"'use_residual' is true"});
  WriteConfig("torch.nn.Tanh", R"(, "module_input_name": "token_embeddings")");
  ExpectBroken({"'module_input_name' is \"token_embeddings\""});
  WriteConfig("torch.nn.Tanh");
  WriteWeights({8, 4});
  ExpectBroken({"of shape [8, 4]", "of shape [4, 8] expected", "(tensor linear.weight)"});
  Write("2_Dense/config.json", R"({"in_features": 9, "out_features": 4})");
  ExpectBroken({"'in_features' is 9; 8, what the module before it gives"});
  Remove("2_Dense");
  ExpectBroken({"2_Dense/config.json", "cannot be read"});
}

class LayerNormModel : public SmallModel {
 protected:
  void SetUp() override {
    SmallModel::SetUp();
    WriteType("sentence_transformers.models.LayerNorm");
    Write("2_LayerNorm/config.json", R"({"dimension": 8})");
    WriteWeights({8});
  }
  void WriteType(const std::string& type) {
    Write("modules.json", Replaced(Replaced(kSmallModules, "2_Normalize", "2_LayerNorm"),
                                   "sentence_transformers.models.Normalize", type));
  }
  void WriteWeights(const Shape& shape) {
    WriteTensors(path() / "2_LayerNorm/model.safetensors",
                 {{"norm.weight", shape, std::vector<float>(8, 2.0f)},
                  {"norm.bias", {8}, std::vector<float>(8, 0.25f)}});
  }
};

TEST_F(LayerNormModel, IsReadUnderEverySpelling) {
  for (const char* type :
       {"sentence_transformers.models.LayerNorm",
        "sentence_transformers.models.LayerNorm.LayerNorm",
        "sentence_transformers.sentence_transformer.modules.layer_norm.LayerNorm"}) {
    WriteType(type);
    const ModelFolder folder = Read();
    const LayerNorm& norm = std::get<LayerNorm>(folder.head.at(1));
    EXPECT_EQ(norm.dimension, 8);
    EXPECT_EQ(norm.folder, "2_LayerNorm");
    EXPECT_EQ(ToFloat32(*norm.Find("norm.weight")), std::vector<float>(8, 2.0f));
    EXPECT_EQ(ToFloat32(*norm.Find("norm.bias")), std::vector<float>(8, 0.25f));
    EXPECT_EQ(folder.embedding_width, 8);
  }
  const int64_t with = Read().parameter_count();
  Write("modules.json", kSmallModules);
  EXPECT_EQ(with, Read().parameter_count() + 16);
}

TEST_F(LayerNormModel, IsChecked) {
  WriteType("sentence_transformers.sentence_transformer.modules.layernorm.LayerNorm");
  ExpectBroken({"modules.layernorm.LayerNorm' is not supported"});
  WriteType("sentence_transformers.models.LayerNorm");
  WriteWeights({2, 4});
  ExpectBroken({"(tensor norm.weight)", "of shape [2, 4]", "of shape [8] expected"});
  WriteTensors(path() / "2_LayerNorm/model.safetensors",
               {{"norm.weight", {8}, std::vector<float>(8, 2.0f)}});
  ExpectBroken({"(tensor norm.bias)", "the module's weights lack it"});
  WriteWeights({8});
  Write("2_LayerNorm/config.json", R"({"dimension": 7})");
  ExpectBroken({"2_LayerNorm/config.json", "'dimension' is 7; 8, what the module before it gives"});
  Write("2_LayerNorm/config.json", "{}");
  ExpectBroken({"'dimension'"});
}

TEST_F(LayerNormModel, NeedsTheWidthThatPoolingGives) {
  ModelFolder folder = Read();
  std::get<Pooling>(folder.head.front()).modes = {PoolingMode::kCls, PoolingMode::kMean};
  ExpectError([&] { ChangePooling(&folder, {.include_prompt = false}); }, ExitCode::kModel,
              {"2_LayerNorm", "takes 8 numbers", "gives 16"});
}

}  // namespace
}  // namespace tandem::weights
