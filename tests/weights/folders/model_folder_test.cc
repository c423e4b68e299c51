#include "weights/folders/model_folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/captured_messages.h"
#include "support/small_model_fixture.h"

namespace tandem::weights {
namespace {

TEST_F(SmallModel, IsReadWhole) {
  const ModelFolder folder = Read();
  EXPECT_TRUE(folder.has_modules);
  EXPECT_EQ(folder.encoder_path, path());
  EXPECT_EQ(folder.encoder.model_type, "bert");
  EXPECT_EQ(folder.encoder.vocabulary_size, 32);
  EXPECT_EQ(folder.encoder.hidden_size, 8);
  EXPECT_EQ(folder.encoder.layers.size(), 2U);
  EXPECT_EQ(folder.encoder.heads, 2);
  EXPECT_EQ(folder.encoder.intermediate_size, 16);
  EXPECT_EQ(folder.encoder.max_positions, 24);
  EXPECT_EQ(folder.tensor("embeddings.token_type_embeddings.weight").shape, Shape({2, 8}));
  EXPECT_EQ(folder.encoder.activation, HiddenActivation::kGelu);
  EXPECT_EQ(folder.encoder.norm_epsilon, 1e-12);
  EXPECT_EQ(folder.encoder.dropout.feed_forward_output, 0.1);
  EXPECT_EQ(folder.encoder.dropout.attention, 0.2);
  ASSERT_EQ(folder.head.size(), 2u);
  EXPECT_EQ(std::get<Pooling>(folder.head[0]).modes, std::vector{PoolingMode::kMean});
  EXPECT_TRUE(std::holds_alternative<Normalize>(folder.head[1]));
  EXPECT_EQ(folder.embedding_width, 8);
  EXPECT_EQ(folder.tokenizer.max_tokens.tokens, 16u);
  EXPECT_EQ(folder.similarity, Similarity::kCosine);
  EXPECT_EQ(folder.carried_tensors.size(), 3u);  // pooler weight and bias, position_ids
  EXPECT_EQ(folder.tensor("encoder.layer.1.output.dense.weight").view->shape, (Shape{8, 16}));
  EXPECT_THROW(folder.tensor("encoder.layer.2.output.dense.weight"), std::out_of_range);
}

TEST_F(SmallModel, CountsParametersWithoutCarriedTensors) {
  size_t wanted = 0;
  for (const SmallTensor& tensor : SmallBertTensors()) {
    if (!tensor.name.starts_with("pooler")) wanted += tensor.values.size();
  }
  EXPECT_EQ(Read().parameter_count(), static_cast<int64_t>(wanted));
}

TEST_F(SmallModel, TensorsMayHaveATaskModelsPrefixOrTheOldSpelling) {
  std::vector<SmallTensor> tensors = SmallBertTensors("bert.");
  for (SmallTensor& tensor : tensors) {
    if (tensor.name.ends_with("output.LayerNorm.weight")) {
      tensor.name = Replaced(tensor.name, "LayerNorm.weight", "LayerNorm.gamma");
    } else if (tensor.name.ends_with("output.LayerNorm.bias")) {
      tensor.name = Replaced(tensor.name, "LayerNorm.bias", "LayerNorm.beta");
    }
  }
  WriteTensors(path() / "model.safetensors", tensors);
  const ModelFolder folder = Read();
  EXPECT_EQ(folder.tensor("encoder.layer.0.output.LayerNorm.weight").view->name,
            "bert.encoder.layer.0.output.LayerNorm.gamma");
  EXPECT_EQ(folder.carried_tensors.size(), 3u);
}

TEST_F(SmallModel, TensorsMustBeThereWithTheirShapeAndANumberType) {
  std::vector<SmallTensor> tensors = SmallBertTensors();
  const auto dense = std::find_if(tensors.begin(), tensors.end(), [](const SmallTensor& tensor) {
    return tensor.name == "encoder.layer.1.intermediate.dense.weight";
  });
  dense->shape = {8, 16};
  WriteTensors(path() / "model.safetensors", tensors);
  ExpectBroken({"has shape [8, 16]; [16, 8] expected",
                "(tensor encoder.layer.1.intermediate.dense.weight)"});
  tensors.erase(dense);
  WriteTensors(path() / "model.safetensors", tensors);
  ExpectBroken({"the weights lack it", "[16, 8]", "intermediate.dense.weight)"});
  const std::vector<SmallTensor> whole = SmallBertTensors();
  std::vector<TensorToWrite> integers;
  for (const SmallTensor& tensor : whole) {
    integers.push_back(Float32Tensor(tensor.name, tensor.shape, tensor.values));
    integers.back().dtype = Dtype::kI32;
  }
  WriteSafetensors(path() / "model.safetensors", integers);
  ExpectBroken({"has type I32; F32, F16 or BF16 expected"});
}

TEST_F(SmallModel, BrokenWeightsAreAModelError) {
  const std::string whole = ReadFile(path() / "model.safetensors");
  Write("model.safetensors", whole.substr(0, whole.size() - 1));
  ExpectBroken({"model.safetensors", "cut short"});
  Remove("model.safetensors");
  ExpectBroken({"has no weights"});
}

TEST_F(SmallModel, UnsupportedArchitectureNamesTheSupportedOnes) {
  ExpectBrokenConfig("\"bert\"", "\"birt\"",
                     {"the architecture 'birt' is not supported; supported: bert, roberta",
                      "; did you mean bert?"});
  ExpectBrokenConfig(R"("model_type": "bert",)", "", {"'model_type' is missing"});
  ExpectBrokenConfig("{", R"({"position_embedding_type": "relative_key",)",
                     {"\"absolute\" (the only supported one)"});
  ExpectBrokenConfig("{", R"({"is_decoder": true,)", {"'is_decoder' is true"});
}

TEST_F(SmallModel, ConfigValuesAreChecked) {
  ExpectBrokenConfig(R"("vocab_size": 32)", R"("a": 1)", {"'vocab_size' is missing"});
  ExpectBrokenConfig(R"("vocab_size": 32)", R"("vocab_size": "32")",
                     {"'vocab_size' is \"32\"; an integer from 1"});
  ExpectBrokenConfig(R"("num_hidden_layers": 2)", R"("num_hidden_layers": 18446744073709551615)",
                     {"'num_hidden_layers'", "an integer from 1 to 10000"});
  ExpectBrokenConfig(R"("num_hidden_layers": 2)", R"("num_hidden_layers": 1e9)",
                     {"'num_hidden_layers'"});
  ExpectBrokenConfig(R"("num_attention_heads": 2)", R"("num_attention_heads": 3)",
                     {"a divisor of hidden_size 8"});
  ExpectBrokenConfig(R"("hidden_dropout_prob": 0.1)", R"("hidden_dropout_prob": 1.0)",
                     {"'hidden_dropout_prob' is 1.0"});
  ExpectBrokenConfig(R"("hidden_act": "gelu")", R"("hidden_act": 5)", {"a string expected"});
  ExpectBrokenConfig("{", "", {"is not valid JSON"});
  Write("config.json", "[1]");
  ExpectBroken({"config.json: is not a JSON object"});
  Write("config.json", std::string(1 << 20, '['));
  ExpectBroken({"nested deeper than 64 levels"});
  Write("config.json", std::string(17 << 20, ' '));
  ExpectBroken({"at most 16777216 are expected"});
}

TEST_F(SmallModel, NumbersOfPythonArePassedOverOrRefusedByKey) {
  const EncoderSpec plain = Read().encoder;
  Write("config.json",
        Replaced(kSmallConfig, "{",
                 R"({"task_specific_params": {"a": NaN, "b": [Infinity, 1e999]}, "seed": )"
                 "123456789012345678901234567890, "));
  EXPECT_EQ(SpecText(Read().encoder), SpecText(plain));
  ExpectBrokenConfig(R"("hidden_dropout_prob": 0.1)", R"("hidden_dropout_prob": NaN)",
                     {"'hidden_dropout_prob' is NaN; a number from 0 to 0.99 expected"});
  ExpectBrokenConfig(R"("vocab_size": 32)", R"("vocab_size": -Infinity)",
                     {"'vocab_size' is -Infinity; an integer from 1"});
  ExpectBrokenConfig(R"("hidden_act": "gelu")", R"("hidden_act": NaN)",
                     {"'hidden_act' is NaN; a string expected"});
  ExpectBrokenConfig(R"("vocab_size": 32)", R"("vocab_size": 32,,)",
                     {"is not valid JSON: line ", ", stands where a key in double quotes"});
}

TEST_F(SmallModel, WhatIsNoModelFileIsNamed) {
  const std::string pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:4665\nsize 90868376\n";
  Write("model.safetensors", pointer);
  ExpectBroken(
      {"model.safetensors: is a Git LFS pointer, not the file itself: fetch it with `git "
       "lfs pull` in its repository, or download the file"});
  for (const auto& [bytes, found] :
       {std::pair{std::string("PK\x03\x04\x14\0\0\0archive/data.pkl", 24),
                  "is a pickle of PyTorch"},
        std::pair{std::string("<!DOCTYPE html><html>"), "is an HTML page"},
        std::pair{std::string("\x80\x02}q\x01"), "is a pickle"},
        std::pair{std::string(), "is empty; fetch or copy it again"}}) {
    Write("model.safetensors", bytes);
    ExpectBroken({"model.safetensors: ", found});
  }
  WriteSmallModel(path());
  Write("config.json", pointer);
  ExpectBroken({"config.json: is a Git LFS pointer"});
  Write("config.json", "<html>Sign in</html>");
  ExpectBroken({"config.json: is an HTML page"});
  Write("config.json", "");
  ExpectBroken({"config.json: is not valid JSON: it is empty"});
}

TEST_F(SmallModel, NewerSpellingIsRead) {
  Write("modules.json", R"([
    {"idx": 0, "name": "0", "path": "",
     "type": "sentence_transformers.base.modules.transformer.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling",
     "type": "sentence_transformers.sentence_transformer.modules.pooling.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize",
     "type": "sentence_transformers.base.modules.normalize.Normalize"}])");
  Write("1_Pooling/config.json",
        R"({"embedding_dimension": 8, "pooling_mode": "cls", "include_prompt": true})");
  Write("2_Normalize/config.json", R"({"module_input_name": "sentence_embedding",
                                       "module_output_name": "sentence_embedding"})");
  Write("sentence_bert_config.json", R"({"transformer_task": "feature-extraction"})");
  Write("tokenizer_config.json", R"({"model_max_length": 20})");
  const ModelFolder folder = Read();
  EXPECT_EQ(std::get<Pooling>(folder.head[0]).modes, std::vector{PoolingMode::kCls});
  EXPECT_TRUE(std::holds_alternative<Normalize>(folder.head[1]));
  EXPECT_EQ(folder.tokenizer.max_tokens.tokens, 20u);
  EXPECT_EQ(folder.tokenizer.max_tokens.source, "tokenizer_config.json");
}

TEST_F(SmallModel, LowerCasingIsReadWithoutAWarning) {
  EXPECT_FALSE(Read().tokenizer.lower_case);
  Write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": true})");
  Write("tokenizer.json", R"({"normalizer": {"type": "BertNormalizer", "lowercase": false}})");
  const CapturedMessages captured;
  EXPECT_TRUE(Read().tokenizer.lower_case);
  EXPECT_EQ(captured.text(), "");
}

TEST_F(SmallModel, Similarity) {
  Write("config_sentence_transformers.json", R"({"similarity_fn_name": "dot"})");
  EXPECT_EQ(Read().similarity, Similarity::kDot);
  Write("config_sentence_transformers.json", R"({"similarity_fn_name": null})");
  EXPECT_EQ(Read().similarity, Similarity::kCosine);
  Write("config_sentence_transformers.json", R"({"similarity_fn_name": "manhattan"})");
  ExpectBroken({"'similarity_fn_name' is \"manhattan\"; \"cosine\" or \"dot\""});
  Write("config_sentence_transformers.json", R"({"model_type": "SparseEncoder"})");
  ExpectBroken({"'model_type' is \"SparseEncoder\""});
}

struct PromptCase {
  const char* settings;  // of config_sentence_transformers.json
  const char* query;     // what texts of each kind get
  const char* document;
  bool warned;  // that a document prompt of another name is not used
};

// What sentence-transformers 6.2's encode_query and encode_document take for each of these folders:
// it always has prompts of the names "query" and "document", so that no other name is asked.
TEST_F(SmallModel, PromptsAreThoseThatSentenceTransformersTakes) {
  const PromptCase cases[] = {
      {R"({"prompts": {"query": "Q: ", "document": "D: "}})", "Q: ", "D: ", false},
      {R"({"prompts": {"query": "Q: ", "passage": "P: "}})", "Q: ", "", true},
      {R"({"prompts": {"query": "Q: ", "corpus": "C: "}})", "Q: ", "", true},
      {R"({"prompts": {"query": "Q: ", "document": "D: ", "passage": "P: "}})",
       "Q: ", "D: ", false},
      {R"({"prompts": {"query": "Q: ", "document": "", "passage": "P: "}})", "Q: ", "", false},
      {R"({"prompts": {"query": "Q: ", "document": null, "passage": "P: "}})", "Q: ", "", false},
      {R"({"prompts": {"query": "Q: ", "passage": ""}})", "Q: ", "", false},
      {R"({"prompts": {"query": "Q: "}})", "Q: ", "", false},
      {R"({"prompts": {"document": "D: "}})", "", "D: ", false},
      {R"({"prompts": {"other": "O: "}, "default_prompt_name": "other"})", "", "", false},
      {R"({"prompts": {"query": "Q: "}, "default_prompt_name": "query"})", "Q: ", "", false},
      {R"({"prompts": {}, "default_prompt_name": "document"})", "", "", false},
      {R"({"prompts": null})", "", "", false},
      {"{}", "", "", false},
  };
  for (const PromptCase& one : cases) {
    Write("config_sentence_transformers.json", one.settings);
    const CapturedMessages captured;
    const ModelFolder folder = Read();
    EXPECT_EQ(captured.text(), "");  // who gives documents a prompt of its own hears nothing
    WarnOfUnusedDocumentPrompt(folder);
    const std::string printed = captured.text();
    EXPECT_EQ(folder.query_prompt(), one.query) << one.settings;
    EXPECT_EQ(folder.document_prompt(), one.document) << one.settings;
    EXPECT_EQ(printed.find("documents get no prompt") != std::string::npos, one.warned)
        << one.settings << printed;
  }
  Write("config_sentence_transformers.json", R"({"default_prompt_name": "passage"})");
  ExpectBroken({"the name of one of the prompts"});
  Write("config_sentence_transformers.json", R"({"prompts": {"query": 1}})");
  ExpectBroken({"texts as values"});
}

TEST_F(SmallModel, EncoderMayLieInAFolderOfItsOwn) {
  Write("modules.json", Replaced(kSmallModules, R"("path": "")", R"("path": "0_Transformer")"));
  std::filesystem::create_directory(path() / "0_Transformer");
  for (const char* file : {"config.json", "model.safetensors", "sentence_bert_config.json"}) {
    std::filesystem::rename(path() / file, path() / "0_Transformer" / file);
  }
  const ModelFolder folder = Read();
  EXPECT_EQ(folder.encoder_path, path() / "0_Transformer");
  EXPECT_EQ(folder.tokenizer.max_tokens.tokens, 16u);
}

TEST_F(SmallModel, APlainFolderIsReadAsMeanPoolingAndSaysSo) {
  Remove("modules.json");
  const CapturedMessages captured;
  const ModelFolder folder = Read();
  EXPECT_THAT(captured.text(), testing::HasSubstr("read as encoder with mean pooling"));
  EXPECT_FALSE(folder.has_modules);
  ASSERT_EQ(folder.head.size(), 1u);
  EXPECT_EQ(std::get<Pooling>(folder.head[0]).modes, std::vector{PoolingMode::kMean});
  EXPECT_EQ(folder.tokenizer.max_tokens.source,
            "config.json");  // sentence_bert_config is not read then
}

TEST(ModelFolder, WhatIsNoModelFolderSaysSo) {
  const TemporaryFolder folder;
  ExpectError([&] { ReadModelFolder(folder.path()); }, ExitCode::kModel,
              {"neither modules.json nor config.json"});
  ExpectError([&] { ReadModelFolder(folder.path() / "none"); }, ExitCode::kModel,
              {"no such folder"});
  // A name of the Hugging Face hub, as users of sentence-transformers give it.
  ExpectError([&] { ReadModelFolder("BAAI/bge-small-en-v1.5"); }, ExitCode::kModel,
              {"BAAI/bge-small-en-v1.5: no such folder",
               "hf download BAAI/bge-small-en-v1.5 --local-dir models/bge-small-en-v1.5"});
  for (const char* no_name : {"none", "./a/b", "/a/b", "a/b/c", "a/", "../a", "a b/c"}) {
    try {
      ReadModelFolder(no_name);
      ADD_FAILURE() << no_name;
    } catch (const ModelError& error) {
      EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("Hugging Face"))) << no_name;
    }
  }
  WriteText(folder.path() / "file", "x");
  ExpectError([&] { ReadModelFolder(folder.path() / "file"); }, ExitCode::kModel, {"is a file"});
  WriteText(folder.path() / "modules.json", kSmallModules);
  ExpectError([&] { ReadModelFolder(folder.path()); }, ExitCode::kModel,
              {"config.json is missing"});
}

TEST(ModelFolder, ARealOneHasItsTrapsDecided) {
  const auto path = ModelDir();
  if (!path) GTEST_SKIP() << kNoModelDir;
  const CapturedMessages captured;
  const ModelFolder folder = ReadModelFolder(*path);
  EXPECT_EQ(captured.text(), "");
  EXPECT_EQ(folder.tokenizer.max_tokens.tokens,
            256u);  // tokenizer_config: 512, tokenizer.json: 128
  EXPECT_EQ(folder.parameter_count(), 22'565'376);
  EXPECT_EQ(folder.embedding_width, 384);
  ASSERT_EQ(folder.carried_tensors.size(), 3u);
  EXPECT_EQ(folder.carried_tensors[0]->name, "embeddings.position_ids");
  EXPECT_EQ(folder.carried_tensors[0]->dtype, Dtype::kI64);
  EXPECT_TRUE(std::holds_alternative<Normalize>(folder.head.at(1)));  // its folder does not exist
}

}  // namespace
}  // namespace tandem::weights
