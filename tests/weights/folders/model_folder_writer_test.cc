#include "weights/folders/model_folder_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"

namespace tandem::weights {
namespace {

using testing::HasSubstr;
using testing::Not;

std::set<std::string> Names(const std::filesystem::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.insert(entry.path().filename().native());
  }
  return names;
}

class WriteFolder : public testing::Test {
 protected:
  void SetUp() override {
    WriteSmallModel(source_path());
    WriteText(source_path() / "tokenizer.json", "{\"model\": 1}  ");
    WriteText(source_path() / "vocab.txt", "[PAD]\r\n");
    WriteText(source_path() / "config_sentence_transformers.json",
              R"({"prompts": {"query": "Q: "}, "similarity_fn_name": "dot"})");
    WriteText(source_path() / "README.md",
              "---\nlanguage: en\nlicense: apache-2.0\n---\nlicense: x");
    WriteText(source_path() / "training_data.json", "not carried");
  }
  std::filesystem::path source_path() const { return folder_.path() / "base model"; }
  std::filesystem::path target() const { return folder_.path() / "out"; }
  const std::filesystem::path& top() const { return folder_.path(); }
  void Write(const FolderChanges& changes = {}, const ModelCard& card = {}) const {
    WriteModelFolder(ReadModelFolder(source_path()), changes, card, target());
  }
  std::string Written(const std::string& file) const { return ReadFile(target() / file); }

 private:
  TemporaryFolder folder_;
};

TEST_F(WriteFolder, UnchangedIsTheSameModel) {
  Write();
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "vocab.txt"}) {
    EXPECT_TRUE(Written(file) == ReadFile(source_path() / file)) << file;
  }
  const ModelFolder copy = ReadModelFolder(target());
  EXPECT_EQ(copy.tokenizer.max_tokens.tokens, 16u);
  EXPECT_EQ(copy.query_prompt(), "Q: ");
  EXPECT_EQ(copy.similarity, Similarity::kDot);
  ASSERT_EQ(copy.head.size(), 2u);
  EXPECT_EQ(copy.carried_tensors.size(), 3u);
  EXPECT_EQ(Names(target()),
            (std::set<std::string>{"1_Pooling", "README.md", "config.json",
                                   "config_sentence_transformers.json", "model.safetensors",
                                   "modules.json", "sentence_bert_config.json", "tokenizer.json",
                                   "vocab.txt"}));
  EXPECT_EQ(Names(top()), (std::set<std::string>{"base model", "out"}));  // nothing left over
  EXPECT_THAT(Written("modules.json"), HasSubstr("\"sentence_transformers.models.Pooling\""));
  EXPECT_THAT(Written("1_Pooling/config.json"), HasSubstr("\"pooling_mode_mean_tokens\": true"));
}

TEST_F(WriteFolder, ReplacedTensorsAndOnlyThoseChange) {
  const std::vector<float> values(8, 3.0f);
  FolderChanges changes;
  changes.tensors.push_back(Float32Tensor("embeddings.LayerNorm.bias", {8}, values));
  changes.max_tokens = 10;
  changes.query_prompt = "";
  changes.document_prompt = "D: ";
  changes.similarity = Similarity::kCosine;
  changes.further_files["tandem.json"] = "{}";
  Write(changes);
  const ModelFolder before = ReadModelFolder(source_path());
  const ModelFolder after = ReadModelFolder(target());
  for (const TensorView* tensor : before.weights->tensors()) {
    const TensorView* written = after.weights->Find(tensor->name);
    ASSERT_NE(written, nullptr);
    EXPECT_EQ(written->bytes == tensor->bytes, tensor->name != "embeddings.LayerNorm.bias");
  }
  EXPECT_EQ(ToFloat32(*after.weights->Find("embeddings.LayerNorm.bias")), values);
  EXPECT_TRUE(Written("config.json") == ReadFile(source_path() / "config.json"));
  EXPECT_EQ(after.tokenizer.max_tokens.tokens, 10u);
  EXPECT_EQ(after.document_prompt(), "D: ");
  EXPECT_EQ(after.query_prompt(), "");
  EXPECT_EQ(after.similarity, Similarity::kCosine);
  EXPECT_EQ(Written("tandem.json"), "{}");
}

// Readers that guess at a missing name guess differently.
TEST_F(WriteFolder, TheQueryAndTheDocumentPromptAreAlwaysWritten) {
  WriteText(source_path() / "config_sentence_transformers.json",
            R"({"prompts": {"query": "Q: ", "passage": "P: "}, "default_prompt_name": "passage"})");
  Write();
  const auto settings = nlohmann::json::parse(Written("config_sentence_transformers.json"));
  EXPECT_EQ(settings["prompts"],
            nlohmann::json::parse(R"({"query": "Q: ", "passage": "P: ", "document": ""})"));
  EXPECT_EQ(settings["default_prompt_name"], "passage");
  Write({.document_prompt = "P: "});
  EXPECT_EQ(nlohmann::json::parse(Written("config_sentence_transformers.json"))["prompts"],
            nlohmann::json::parse(R"({"query": "Q: ", "passage": "P: ", "document": "P: "})"));
  std::filesystem::remove(source_path() / "config_sentence_transformers.json");
  Write();
  EXPECT_EQ(nlohmann::json::parse(Written("config_sentence_transformers.json"))["prompts"],
            nlohmann::json::parse(R"({"query": "", "document": ""})"));
}

TEST_F(WriteFolder, TheCardSaysTheLengthsOfBothKinds) {
  Write({.max_tokens = 12, .max_query_tokens = 6, .max_document_tokens = 12});
  EXPECT_THAT(Written("README.md"), HasSubstr("Maps queries of up to 6 tokens and documents of up "
                                              "to 12 tokens to 8 numbers"));
  EXPECT_EQ(ReadModelFolder(target()).tokenizer.max_tokens.tokens, 12u);
  Write({.max_query_tokens = 6, .max_document_tokens = 6}, {.tower = "query"});
  EXPECT_THAT(Written("README.md"), HasSubstr("Maps queries of up to 6 tokens to 8 numbers"));
}

TEST_F(WriteFolder, DenseWeightsAreReplacedUnderTheirFoldersName) {
  WriteText(source_path() / "modules.json", R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "3_Dense", "type": "sentence_transformers.models.Dense"}])");
  WriteText(source_path() / "3_Dense/config.json", R"({"in_features": 8, "out_features": 1,
      "bias": false, "activation_function": "torch.nn.modules.activation.Tanh"})");
  WriteTensors(source_path() / "3_Dense/model.safetensors",
               {{"linear.weight", {1, 8}, std::vector<float>(8, 1.0f)}});
  const std::vector<float> values(8, 2.0f);
  FolderChanges changes;
  changes.tensors.push_back(Float32Tensor("3_Dense/linear.weight", {1, 8}, values));
  Write(changes);
  const ModelFolder after = ReadModelFolder(target());
  const Dense& dense = std::get<Dense>(after.head.at(1));
  EXPECT_EQ(dense.folder, "2_Dense");
  EXPECT_EQ(dense.activation, Activation::kTanh);
  EXPECT_FALSE(dense.bias);
  EXPECT_EQ(ToFloat32(*dense.weights->Find("linear.weight")), values);
}

TEST_F(WriteFolder, LayerNormsAreReplacedAndNew) {
  ModelFolder source = ReadModelFolder(source_path());
  LayerNorm norm;
  norm.folder = "new";
  norm.dimension = 8;
  source.head.insert(source.head.begin() + 1, norm);
  const std::vector<float> ones(8, 1.0f), halves(8, 0.5f), twos(8, 2.0f);
  FolderChanges changes;
  changes.tensors.push_back(Float32Tensor("new/norm.weight", {8}, ones));
  ExpectError([&] { WriteModelFolder(source, changes, {}, target()); }, ExitCode::kModel,
              {"new/norm.bias", "is not given in shape [8]"});
  changes.tensors.push_back(Float32Tensor("new/norm.bias", {8}, halves));
  WriteModelFolder(source, changes, {}, target());
  const ModelFolder written = ReadModelFolder(target());
  const LayerNorm& read = std::get<LayerNorm>(written.head.at(1));
  EXPECT_EQ(read.folder, "2_LayerNorm");
  EXPECT_EQ(read.dimension, 8);
  EXPECT_EQ(ToFloat32(*read.Find("norm.weight")), ones);
  EXPECT_TRUE(std::holds_alternative<Normalize>(written.head.at(2)));
  EXPECT_THAT(Written("modules.json"), HasSubstr("\"sentence_transformers.models.LayerNorm\""));
  FolderChanges again;
  again.tensors.push_back(Float32Tensor("2_LayerNorm/norm.bias", {8}, twos));
  WriteModelFolder(written, again, {}, top() / "again");
  const ModelFolder twice = ReadModelFolder(top() / "again");
  EXPECT_EQ(ToFloat32(*std::get<LayerNorm>(twice.head.at(1)).Find("norm.weight")), ones);
  EXPECT_EQ(ToFloat32(*std::get<LayerNorm>(twice.head.at(1)).Find("norm.bias")), twos);
}

TEST_F(WriteFolder, ConfigNamesTheTypeThatTheWeightsHave) {
  const std::vector<SmallTensor> tensors = SmallBertTensors();
  std::vector<TensorToWrite> halves;
  const std::string zeros(32 * 8 * 2, '\0');
  for (const SmallTensor& tensor : tensors) {
    halves.push_back({.name = tensor.name,
                      .dtype = Dtype::kF16,
                      .shape = tensor.shape,
                      .bytes = std::string_view(zeros).substr(0, tensor.values.size() * 2)});
  }
  WriteSafetensors(source_path() / "model.safetensors", halves);
  std::string config = kSmallConfig;
  config.insert(1, R"("torch_dtype": "float16",)");
  WriteText(source_path() / "config.json", config);
  FolderChanges changes;
  for (const SmallTensor& tensor : tensors) {
    changes.tensors.push_back(Float32Tensor(tensor.name, tensor.shape, tensor.values));
  }
  Write(changes);
  EXPECT_THAT(Written("config.json"), HasSubstr("\"torch_dtype\": \"float32\""));
  EXPECT_EQ(ReadModelFolder(target()).encoder.tensors.front().view->dtype, Dtype::kF32);
}

// A part that was trained in float32 beside a frozen first tensor would be rounded in its type.
TEST_F(WriteFolder, ConfigNamesFloat32WhereAnyWeightHasIt) {
  const std::string zeros(32 * 8 * 2, '\0');
  std::vector<TensorToWrite> halves;
  const std::vector<SmallTensor> tensors = SmallBertTensors();
  for (const SmallTensor& tensor : tensors) {
    halves.push_back({.name = tensor.name,
                      .dtype = Dtype::kBF16,
                      .shape = tensor.shape,
                      .bytes = std::string_view(zeros).substr(0, tensor.values.size() * 2)});
  }
  WriteSafetensors(source_path() / "model.safetensors", halves);
  std::string config = kSmallConfig;
  config.insert(1, R"("torch_dtype": "bfloat16",)");
  WriteText(source_path() / "config.json", config);
  const std::string first = ReadModelFolder(source_path()).encoder.tensors.front().name;
  FolderChanges changes;
  for (const SmallTensor& tensor : tensors) {
    if (tensor.name.find(".LayerNorm.") == std::string::npos) continue;
    ASSERT_NE(tensor.name, first);
    changes.tensors.push_back(Float32Tensor(tensor.name, tensor.shape, tensor.values));
  }
  Write(changes);
  EXPECT_THAT(Written("config.json"), HasSubstr("\"torch_dtype\": \"float32\""));
  EXPECT_EQ(ReadModelFolder(target()).encoder.tensors.front().view->dtype, Dtype::kBF16);
}

TEST_F(WriteFolder, ReplacementsMustFit) {
  const std::vector<float> values(9, 0.0f);
  const auto expect = [&](const TensorToWrite& tensor, const std::vector<std::string>& texts) {
    FolderChanges changes;
    changes.tensors.push_back(tensor);
    ExpectError([&] { Write(changes); }, ExitCode::kModel, texts);
    EXPECT_FALSE(std::filesystem::exists(target()));
  };
  expect(Float32Tensor("embeddings.LayerNorm.bias", {9}, values),
         {"cannot be replaced by F32 of shape [9]; its shape is [8]"});
  expect(Float32Tensor("no.such", {9}, values), {"no tensor of that name", "(tensor no.such)"});
  EXPECT_EQ(Names(top()), (std::set<std::string>{"base model"}));
}

TEST_F(WriteFolder, OnlyModelFoldersAreReplaced) {
  WriteText(target() / "modules.json", "[]");
  WriteText(target() / "old file", "");
  Write();
  EXPECT_FALSE(std::filesystem::exists(target() / "old file"));
  std::filesystem::remove_all(target());
  WriteText(target() / "thesis.tex", "years of work");
  ExpectError([&] { Write(); }, ExitCode::kUsage, {"is no model folder; it is not replaced"});
  EXPECT_EQ(Written("thesis.tex"), "years of work");
  std::filesystem::remove_all(target());
  std::filesystem::create_directory_symlink(source_path(), target());
  ExpectError([&] { Write(); }, ExitCode::kUsage, {"is the folder that the model comes from"});
  std::filesystem::remove(target());
  WriteText(target(), "a file");
  ExpectError([&] { Write(); }, ExitCode::kUsage, {"Not a directory"});
  const ModelFolder source = ReadModelFolder(source_path());
  ExpectError([&] { WriteModelFolder(source, {}, {}, target() / "below"); }, ExitCode::kUsage,
              {"Not a directory"});
}

TEST_F(WriteFolder, AFullDiskLeavesTheOldFolder) {
  Write();
  const std::string old_card = Written("README.md");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1000, limit.rlim_max};
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  ExpectError([&] { Write({}, {.objective = "new"}); }, ExitCode::kData, {"File too large"});
  ::setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(Written("README.md"), old_card);
  EXPECT_EQ(Names(top()), (std::set<std::string>{"base model", "out"}));
}

TEST_F(WriteFolder, WhatAKilledProcessLeftIsRemoved) {
  // No process has a number beyond the kernel's limit of 2^22.
  WriteText(top() / ".out.tmp4194305" / "model.safetensors", "half");
  WriteText(top() / ".out.tmpx" / "mine", "other");
  Write();
  EXPECT_EQ(Names(top()), (std::set<std::string>{".out.tmpx", "base model", "out"}));
}

TEST_F(WriteFolder, CardTellsFactsAndNoPaths) {
  ModelCard card{.base_model = source_path().native() + "/",
                 .objective = "mann_whitney",
                 .steps = 120,
                 .facts = {{"batch", "64"}, {"odd|name", "two\nlines"}},
                 .measured_on = "squad-v1.1, split dev",
                 .measures = {{"ndcg@10", 0.25, 0.5}, {"auc", {}, 0.75}}};
  Write({}, card);
  const std::string text = Written("README.md");
  EXPECT_THAT(text, testing::StartsWith("---\nlibrary_name: sentence-transformers\n"));
  EXPECT_THAT(text, HasSubstr("license: \"apache-2.0\"\nbase_model: \"base model\"\n"));
  EXPECT_THAT(text, HasSubstr("- sentence-transformers\n"));
  EXPECT_THAT(text, HasSubstr("Maps queries of up to 16 tokens and documents of up to 16 tokens to "
                              "8 numbers, with mean pooling; texts are compared by dot product, "
                              "each behind its prompt"));
  EXPECT_THAT(text, HasSubstr("| objective | mann_whitney |\n| steps | 120 |\n| batch | 64 |\n"
                              "| odd\\|name | two lines |\n"));
  EXPECT_THAT(text, HasSubstr("| ndcg@10 | 0.2500 | 0.5000 |\n| auc |  | 0.7500 |\n"));
  EXPECT_THAT(text, Not(HasSubstr(top().native())));
}

TEST(WriteRealFolder, IsTheSameModelAgain) {
  const auto path = ModelDir();
  if (!path) GTEST_SKIP() << kNoModelDir;
  const TemporaryFolder folder;
  WriteModelFolder(ReadModelFolder(*path), {}, {}, folder.path() / "out");
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json",
                           "tokenizer_config.json", "special_tokens_map.json", "vocab.txt"}) {
    EXPECT_TRUE(ReadFile(folder.path() / "out" / file) == ReadFile(*path / file)) << file;
  }
}

}  // namespace
}  // namespace tandem::weights
