// What an adapter's folder says of the whole model: taken in place of its base's, and written.

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "base/files/files.h"
#include "support/small_model_fixture.h"
#include "weights/folders/model_folder_writer.h"
#include "weights/folders/tandem_file.h"

namespace tandem::weights {
namespace {

using nlohmann::json;

// Its base has 24 positions, max_seq_length 16 and the settings below.
class AdapterSettingsTest : public SmallModel {
 protected:
  void SetUp() override {
    SmallModel::SetUp();
    Write("config_sentence_transformers.json", R"({"prompts": {"query": "base: ", "task": "t: "},
          "default_prompt_name": "task", "similarity_fn_name": "dot", "truncate_dim": 5})");
    Say("modules.json", kSmallModules);
  }
  std::filesystem::path adapter() const { return adapter_.path(); }
  void Say(const std::string& file, const std::string& text) const {
    WriteText(adapter() / file, text);
  }
  // The base with what the adapter's folder says. `file_` is the base's tandem.json.
  ModelFolder Taken() {
    ModelFolder folder = Read();
    TakeSettings(adapter(), &folder, &file_);
    return folder;
  }
  using Lengths = std::pair<std::optional<size_t>, std::optional<size_t>>;  // queries, documents
  // The lengths of a base whose tandem.json says 5 and 6.
  Lengths LengthsOf(const std::string& sentence_config) {
    Say("sentence_bert_config.json", sentence_config);
    file_ = {.max_query_tokens = 5, .max_document_tokens = 6};
    Taken();
    return {file_.max_query_tokens, file_.max_document_tokens};
  }
  json Written(const std::string& file) const { return json::parse(ReadFile(adapter() / file)); }

  TandemFile file_;

 private:
  TemporaryFolder adapter_;
};

TEST_F(AdapterSettingsTest, WhatItDoesNotSayIsTheBases) {
  const ModelFolder base = Read(), taken = Taken();
  EXPECT_EQ(taken.prompts, base.prompts);
  EXPECT_EQ(taken.query_prompt(), "base: ");
  EXPECT_EQ(taken.default_prompt_name, "task");
  EXPECT_EQ(taken.similarity, Similarity::kDot);
  EXPECT_EQ(taken.truncate_dim, 5);
  EXPECT_EQ(taken.tokenizer.max_tokens.tokens, 16U);
  EXPECT_EQ(file_.max_query_tokens, std::nullopt);
  EXPECT_EQ(file_.max_document_tokens, std::nullopt);
}

TEST_F(AdapterSettingsTest, PromptsSimilarityAndWidthReplaceTheBases) {
  Say("config_sentence_transformers.json",
      R"({"prompts": {"query": "own: "}, "similarity_fn_name": "cosine", "truncate_dim": 3})");
  const ModelFolder taken = Taken();
  EXPECT_EQ(taken.prompts,
            (std::map<std::string, std::string>{{"query", "own: "}, {"document", ""}}));
  EXPECT_EQ(taken.default_prompt_name, "");
  EXPECT_EQ(taken.similarity, Similarity::kCosine);
  EXPECT_EQ(taken.truncate_dim, 3);
}

TEST_F(AdapterSettingsTest, ALengthOfAKindGoesBeforeTheLengthOfBoth) {
  EXPECT_EQ(LengthsOf("{}"), Lengths(5, 6));
  EXPECT_EQ(LengthsOf(R"({"query_length": 7})"), Lengths(7, 6));
  EXPECT_EQ(LengthsOf(R"({"document_length": 8})"), Lengths(5, 8));
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 12})"), Lengths(12, 12));
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 12, "query_length": 7})"), Lengths(7, 12));
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 12, "document_length": 8})"), Lengths(12, 8));
}

TEST_F(AdapterSettingsTest, TheLengthOfBothIsTheTokenizers) {
  Say("sentence_bert_config.json", R"({"max_seq_length": 12, "query_length": 7})");
  const TokenLimit limit = Taken().tokenizer.max_tokens;
  EXPECT_EQ(limit.tokens, 12U);
  EXPECT_EQ(limit.source, "sentence_bert_config.json");
  Say("sentence_bert_config.json", R"({"query_length": 7})");
  EXPECT_EQ(Taken().tokenizer.max_tokens.tokens, 16U);
}

// Release 6 of sentence-transformers writes the length there.
TEST_F(AdapterSettingsTest, TheTokenizersOwnLengthCounts) {
  Say("tokenizer_config.json", R"({"model_max_length": 11})");
  EXPECT_EQ(LengthsOf("{}"), Lengths(11, 11));
  EXPECT_EQ(Taken().tokenizer.max_tokens.tokens, 11U);
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 12})"), Lengths(12, 12));
}

// PEFT alone writes no modules; a tokenizer that was saved beside it says nothing of the model.
TEST_F(AdapterSettingsTest, AFolderWithoutModulesSaysNoLength) {
  std::filesystem::remove(adapter() / "modules.json");
  Say("tokenizer_config.json", R"({"model_max_length": 11})");
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 12})"), Lengths(5, 6));
  EXPECT_EQ(Taken().tokenizer.max_tokens.tokens, 16U);
}

// The adapter's folder has no config.json.
TEST_F(AdapterSettingsTest, NoLengthIsAboveTheBasesPositions) {
  EXPECT_EQ(LengthsOf(R"({"max_seq_length": 99})"), Lengths(24, 24));
  EXPECT_EQ(LengthsOf(R"({"query_length": 99, "document_length": 98})"), Lengths(24, 24));
  Say("sentence_bert_config.json", R"({"max_seq_length": 99})");
  EXPECT_EQ(Taken().tokenizer.max_tokens.tokens, 24U);
}

TEST_F(AdapterSettingsTest, AreWrittenAsTheyAreRead) {
  const ModelFolder base = Read();
  WriteModulesAndSettings(base,
                          {.max_tokens = 12,
                           .max_query_tokens = 7,
                           .max_document_tokens = 12,
                           .query_prompt = "own: ",
                           .similarity = Similarity::kCosine,
                           .truncate_dim = 3},
                          adapter());
  EXPECT_EQ(Written("sentence_bert_config.json"),
            json::parse(R"({"max_seq_length": 12, "do_lower_case": false, "query_length": 7,
                            "document_length": 12})"));
  EXPECT_EQ(Written("config_sentence_transformers.json"),
            json::parse(R"({"prompts": {"query": "own: ", "document": "", "task": "t: "},
                            "default_prompt_name": "task", "similarity_fn_name": "cosine",
                            "truncate_dim": 3})"));
  EXPECT_EQ(Written("modules.json").size(), base.head.size() + 1);
  const ModelFolder taken = Taken();
  EXPECT_EQ(taken.query_prompt(), "own: ");
  EXPECT_EQ(taken.similarity, Similarity::kCosine);
  EXPECT_EQ(taken.truncate_dim, 3);
  EXPECT_EQ(file_.max_query_tokens, 7U);
  EXPECT_EQ(file_.max_document_tokens, 12U);
}

// Without changes they are the source's, and no length is of one kind.
TEST_F(AdapterSettingsTest, AreTheSourcesWhereNothingChanged) {
  WriteModulesAndSettings(Read(), {}, adapter());
  EXPECT_EQ(Written("sentence_bert_config.json"),
            json::parse(R"({"max_seq_length": 16, "do_lower_case": false})"));
  EXPECT_EQ(Written("config_sentence_transformers.json"),
            json::parse(R"({"prompts": {"query": "base: ", "document": "", "task": "t: "},
                            "default_prompt_name": "task", "similarity_fn_name": "dot",
                            "truncate_dim": 5})"));
}

}  // namespace
}  // namespace tandem::weights
