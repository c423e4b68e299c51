// Tests which file of a model folder says how texts are lower-cased and cut.
#include "weights/settings/tokenizer_settings.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "weights/folders/model_folder.h"

namespace tandem::weights {
namespace {

class TokenizerSettingsTest : public testing::Test {
 protected:
  const std::filesystem::path& path() const { return folder_.path(); }
  void Write(const std::string& file, std::string_view text) { WriteText(path() / file, text); }
  TokenizerSettings Read() const { return ReadTokenizerSettings(path()); }
  void ExpectLimit(size_t tokens, const std::string& source) const {
    EXPECT_EQ(Read().max_tokens.tokens, tokens);
    EXPECT_EQ(Read().max_tokens.source, source);
  }
  void ExpectBroken(const std::vector<std::string>& texts) const {
    ExpectError([&] { Read(); }, ExitCode::kModel, texts);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TokenizerSettingsTest, TheFirstFileThatSaysALengthDecides) {
  ExpectLimit(0, "");
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  ExpectLimit(24, "config.json");
  Write("tokenizer.json", R"({"truncation": null, "model": {"vocab": {"a": 0}}})");
  ExpectLimit(24, "config.json");
  Write("tokenizer.json", R"({"truncation": {"max_length": 12}, "model": {"vocab": {"a": 0}}})");
  ExpectLimit(24, "config.json");  // as in sentence-transformers 6.2
  Write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  ExpectLimit(24, "config.json");
  Write("tokenizer_config.json", R"({"max_len": 13})");
  ExpectLimit(13, "tokenizer_config.json");
  Write("tokenizer_config.json", R"({"model_max_length": 14})");
  ExpectLimit(14, "tokenizer_config.json");
  Write("sentence_bert_config.json", R"({"max_seq_length": null})");
  ExpectLimit(14, "tokenizer_config.json");
  Write("sentence_bert_config.json", R"({"max_seq_length": 16})");
  ExpectLimit(16, "sentence_bert_config.json");
  Write("sentence_bert_config.json", R"({"max_seq_length": 25})");
  EXPECT_EQ(Read().max_tokens.tokens, 24u);  // no more positions
}

TEST_F(TokenizerSettingsTest, QueriesAndDocumentsMayHaveLengthsOfTheirOwn) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  Write("sentence_bert_config.json", R"({"max_seq_length": 16, "query_length": 7})");
  EXPECT_EQ(Read().max_query_tokens, 7U);
  EXPECT_EQ(Read().max_document_tokens, std::nullopt);
  ExpectLimit(16, "sentence_bert_config.json");
  Write("sentence_bert_config.json", R"({"query_length": null, "document_length": 99})");
  EXPECT_EQ(Read().max_query_tokens, std::nullopt);
  EXPECT_EQ(Read().max_document_tokens, 24U);  // no more positions
}

TEST_F(TokenizerSettingsTest, SettingsOfTheTokenizersCallsAreRefusedWhereTheyMatter) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  Write("sentence_bert_config.json",
        R"({"max_seq_length": 16, "processing_kwargs": {"text": {"padding": "longest"},
            "common": {"return_tensors": "pt"}, "audio": {"sampling_rate": 8000}}})");
  ExpectLimit(16, "sentence_bert_config.json");
  Write("sentence_bert_config.json",
        R"({"max_seq_length": 16, "processing_kwargs": {"text": {"max_length": 8}}})");
  ExpectBroken({"sentence_bert_config.json", "processing_kwargs", "\"max_length\"", "\"text\""});
  Write("sentence_bert_config.json",
        R"({"max_seq_length": 16, "processing_kwargs": {"common": {"truncation": false}}})");
  ExpectBroken({"sentence_bert_config.json", "processing_kwargs", "\"truncation\"", "\"common\""});
}

TEST_F(TokenizerSettingsTest, SettingsThatMeanAnotherModelAreRefused) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  const auto write = [&](const std::string& member) {
    Write("sentence_bert_config.json", R"({"max_seq_length": 16, )" + member + "}");
  };
  for (const char* fine :
       {R"("unpad_inputs": true)", R"("model_args": {"torch_dtype": "float16"})",
        R"("tokenizer_args": {"trust_remote_code": true})", R"("query_expansion": null)",
        R"("modality_config": {"text": {"method": "forward",
            "method_output_name": "last_hidden_state"}}, "module_output_name": "token_embeddings")",
        // sentence-transformers 6.2 writes a cross-encoder like this.
        R"("transformer_task": "sequence-classification", "modality_config": {"text": {
            "method": "forward", "method_output_name": "logits"}},
            "module_output_name": "scores")"}) {
    write(fine);
    ExpectLimit(16, "sentence_bert_config.json");
  }
  for (const auto& [member, texts] :
       {std::pair{R"("max_seq_lenght": 8)",
                  "the key 'max_seq_lenght' is unknown, to sentence-transformers too; did you mean "
                  "max_seq_length?"},
        std::pair{R"("config_args": {"num_hidden_layers": 1})",
                  "'config_args' is {\"num_hidden_layers\":1}; no \"num_hidden_layers\" in it"},
        std::pair{R"("processor_kwargs": {"model_max_length": 8})",
                  "no \"model_max_length\" in it"},
        std::pair{R"("model_kwargs": 3)", "'model_kwargs' is 3; an object expected"},
        std::pair{R"("query_expansion": {"length": 32})", "'query_expansion' is"},
        std::pair{R"("tokenizer_name_or_path": "other")", "'tokenizer_name_or_path' is \"other\""},
        std::pair{R"("modality_config": {"text": {"method": "get_text_features",
            "method_output_name": "pooler_output"}}, "module_output_name": "token_embeddings")",
                  "'modality_config' is"},
        std::pair{R"("modality_config": {"text": {"method": "forward",
            "method_output_name": "last_hidden_state"}, "message": {"method": "forward",
            "method_output_name": "last_hidden_state", "format": "flat"}},
            "module_output_name": "token_embeddings")",
                  "no \"message\" in it (texts would pass through the chat template"},
        std::pair{R"("modality_config": {"text": {"method": "forward",
            "method_output_name": "last_hidden_state"}}, "module_output_name": "sentence_embedding")",
                  "'module_output_name' is \"sentence_embedding\""},
        std::pair{R"("modality_config": {"text": {"method": "forward",
            "method_output_name": "logits"}}, "module_output_name": "scores")",
                  "to its output \"last_hidden_state\" expected"},
        std::pair{R"("transformer_task": "sequence-classification", "modality_config": {"text": {
            "method": "forward", "method_output_name": "last_hidden_state"}},
            "module_output_name": "scores")",
                  "to its output \"logits\" expected"},
        std::pair{R"("transformer_task": "sequence-classification", "modality_config": {"text": {
            "method": "forward", "method_output_name": "logits"}},
            "module_output_name": "token_embeddings")",
                  "'module_output_name' is \"token_embeddings\"; \"scores\", with"}}) {
    write(member);
    ExpectBroken({"sentence_bert_config.json", texts});
  }
}

TEST_F(TokenizerSettingsTest, BehindAnEmptyFileTheNextOlderNameCounts) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  Write("sentence_bert_config.json", "{}");
  ExpectLimit(24, "config.json");
  Write("sentence_roberta_config.json", R"({"max_seq_length": 9})");
  ExpectLimit(9, "sentence_roberta_config.json");
}

TEST_F(TokenizerSettingsTest, NoLimitMayBeInfinite) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  Write("tokenizer_config.json", R"({"model_max_length": Infinity})");
  ExpectLimit(24, "config.json");
}

TEST_F(TokenizerSettingsTest, ArgumentsOfTheTokenizerAreRefusedWhereTheyMatter) {
  Write("modules.json", kSmallModules);
  Write("config.json", kSmallConfig);
  Write("sentence_bert_config.json",
        R"({"max_seq_length": 16, "processor_kwargs": {"padding_side": "left"},
            "tokenizer_args": {}})");
  ExpectLimit(16, "sentence_bert_config.json");
  Write("sentence_bert_config.json", R"({"processor_kwargs": {"truncation_side": "left"}})");
  ExpectBroken({"sentence_bert_config.json", "processor_kwargs", "no \"truncation_side\" in it"});
  Write("sentence_bert_config.json", R"({"tokenizer_args": {"do_lower_case": true}})");
  ExpectBroken({"sentence_bert_config.json", "tokenizer_args", "no \"do_lower_case\" in it"});
  Write("sentence_bert_config.json", R"({"tokenizer_name_or_path": "bert-base-cased"})");
  ExpectBroken({"tokenizer_name_or_path", "the tokenizer's files in the folder itself"});
}

// Its position table has rows that no token of a text reads.
TEST_F(TokenizerSettingsTest, RobertasTextsAreCutWhereItsPositionsEnd) {
  nlohmann::json config = nlohmann::json::parse(kSmallConfig);
  config["model_type"] = "roberta";
  config["pad_token_id"] = 1;
  Write("config.json", config.dump());
  ExpectLimit(22, "config.json");
  Write("modules.json", kSmallModules);
  Write("sentence_bert_config.json", R"({"max_seq_length": 22})");
  ExpectLimit(22, "sentence_bert_config.json");
  Write("sentence_bert_config.json", R"({"max_seq_length": 23})");
  ExpectLimit(22,
              "config.json; sentence_bert_config.json says 23, for which there are no positions");
  config["pad_token_id"] = 30;
  Write("config.json", config.dump());
  ExpectBroken({"config.json", "more than 31, which precede the first position"});
}

TEST_F(TokenizerSettingsTest, OtherArchitecturesCountByTheirPositions) {
  Write("config.json", R"({"model_type": "nomic_bert", "max_position_embeddings": 50})");
  ExpectLimit(50, "config.json");
  Write("config.json", R"({"max_position_embeddings": 40})");
  ExpectLimit(40, "config.json");
  Write("config.json", R"({"model_type": "t5", "vocab_size": 40, "d_model": 16, "num_layers": 2,
                           "num_heads": 2, "d_kv": 4, "d_ff": 24})");
  ExpectLimit(512, "config.json");  // any length can be read
  Write("tokenizer_config.json", R"({"model_max_length": 9000})");
  ExpectLimit(9000, "tokenizer_config.json");
}

// sentence-transformers, too, reads no settings of its own from a folder that it did not write.
TEST_F(TokenizerSettingsTest, APlainFolderHasNoSentenceSettings) {
  Write("config.json", kSmallConfig);
  Write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": true})");
  ExpectLimit(24, "config.json");
  EXPECT_FALSE(Read().lower_case);
  Write("modules.json", kSmallModules);
  ExpectLimit(16, "sentence_bert_config.json");
  EXPECT_TRUE(Read().lower_case);
}

TEST_F(TokenizerSettingsTest, AFolderThatHoldsATokenizerAloneHasAllItsFilesRead) {
  Write("sentence_bert_config.json", R"({"max_seq_length": 16, "do_lower_case": true})");
  ExpectLimit(16, "sentence_bert_config.json");
  EXPECT_TRUE(Read().lower_case);
}

TEST_F(TokenizerSettingsTest, OlderNamesAndAFolderOfTheEncoderAreRead) {
  std::string modules = kSmallModules;
  modules.replace(modules.find(R"("path": "")"), 10, R"("path": "0_Transformer")");
  Write("modules.json", modules);
  Write("sentence_bert_config.json", R"({"max_seq_length": 3})");  // not where the encoder is
  Write("0_Transformer/config.json", kSmallConfig);
  Write("0_Transformer/sentence_roberta_config.json", R"({"max_seq_length": 16})");
  EXPECT_EQ(Read().folder, path() / "0_Transformer");
  ExpectLimit(16, "sentence_roberta_config.json");
}

TEST_F(TokenizerSettingsTest, BrokenFilesAreModelErrors) {
  const std::vector<std::string> values = {"0", "-3", "\"256\"", "1.5", "[]"};
  for (const std::string& value : values) {
    Write("sentence_bert_config.json", "{\"max_seq_length\": " + value + "}");
    ExpectBroken({"sentence_bert_config.json", "'max_seq_length' is " + value});
  }
  Write("sentence_bert_config.json", R"({"do_lower_case": "yes"})");
  ExpectBroken({"'do_lower_case' is \"yes\"; true or false expected"});
  Write("sentence_bert_config.json", R"({"transformer_task": "text-generation"})");
  ExpectBroken({"'transformer_task'", "feature-extraction"});
  Write("sentence_bert_config.json", "[]");
  ExpectBroken({"is not a JSON object"});
  ExpectError([&] { ReadTokenizerSettings(path() / "none"); }, ExitCode::kModel,
              {"no such folder; a model folder was expected"});
}

TEST(RealModel, ContradictionsOfItsFilesAreDecided) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  const TokenizerSettings settings = ReadTokenizerSettings(*model);
  EXPECT_EQ(settings.max_tokens.tokens, 256U);  // the other files say 128 and 512
  EXPECT_EQ(settings.max_tokens.source, "sentence_bert_config.json");
  EXPECT_FALSE(settings.lower_case);
}

}  // namespace
}  // namespace tandem::weights
