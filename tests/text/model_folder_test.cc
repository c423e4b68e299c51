// Tokenizers and lengths from folders: which file wins, bare vocabularies, what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/test_data.h"
#include "text/max_length.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kVocab =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\ncafe\ncaf\u00e9\nCaf\u00e9\nCafe\n\u4e2d\n##\u4e2d\nNO\n";

class ModelFolder : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  std::vector<int32_t> Ids(const std::string& text) const {
    std::vector<int32_t> ids;
    LoadTokenizer(folder_.path())->Encode(text, 0, &ids);
    return ids;
  }
  void ExpectLoadError(const std::string& message) const {
    try {
      LoadTokenizer(folder_.path());
      FAIL() << "accepted; expected: " << message;
    } catch (const ModelError& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
  size_t MaxLength() const { return ModelMaxLength(folder_.path()); }

  TemporaryFolder folder_;
};

TEST_F(ModelFolder, BareVocabularyIsUncasedByDefault) {
  Write("vocab.txt", kVocab);
  EXPECT_THAT(Ids("Caf\u00e9"), ElementsAre(2, 5, 3));
  EXPECT_THAT(Ids("\u4e2d\u4e2d"), ElementsAre(2, 9, 9, 3));
  EXPECT_THAT(Ids("x[MASK]x"), ElementsAre(2, 1, 4, 1, 3));
  EXPECT_THAT(Ids(""), ElementsAre(2, 3));
  EXPECT_EQ(LoadTokenizer(folder_.path())->vocabulary_size(), 12U);
}

TEST_F(ModelFolder, SettingsOfABareVocabulary) {
  Write("vocab.txt", kVocab);
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(Ids("Caf\u00e9"), ElementsAre(2, 7, 3));
  Write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_THAT(Ids("Caf\u00e9"), ElementsAre(2, 8, 3));
  Write("tokenizer_config.json", R"({"do_lower_case": true, "strip_accents": false})");
  EXPECT_THAT(Ids("Caf\u00e9"), ElementsAre(2, 6, 3));
  Write("tokenizer_config.json", R"({"tokenize_chinese_chars": false})");
  EXPECT_THAT(Ids("\u4e2d\u4e2d"), ElementsAre(2, 9, 10, 3));
  Write("tokenizer_config.json",
        R"({"unk_token": "NO", "cls_token": {"content": "[MASK]", "lstrip": false}})");
  Write("special_tokens_map.json", R"({"unk_token": "[PAD]", "sep_token": "[PAD]"})");
  EXPECT_THAT(Ids("x"), ElementsAre(4, 11, 0));
}

TEST_F(ModelFolder, WindowsLineEndsAndNoLastLineEnd) {
  Write("vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\nword");
  EXPECT_THAT(Ids("word"), ElementsAre(1, 3, 2));
}

TEST_F(ModelFolder, BrokenVocabularies) {
  Write("vocab.txt", "");
  ExpectLoadError("vocab.txt: the vocabulary is empty");
  Write("vocab.txt", "[UNK]\n[CLS]\n");
  ExpectLoadError("vocab.txt: the special token \"[SEP]\" is not in the vocabulary");
  Write("vocab.txt", "[CLS]\n[SEP]\n");
  ExpectLoadError("vocab.txt: the unknown token \"[UNK]\" is not in the vocabulary");
  Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\na\na\n");
  ExpectLoadError("vocab.txt: token \"a\" has two ids, 3 and 4");
  Write("vocab.txt", "[UNK]\n[CLS]\n[SEP]\n\xFF\n");
  ExpectLoadError("vocab.txt: line 4 is not valid UTF-8");
  Write("vocab.txt", kVocab);
  Write("tokenizer_config.json", R"({"do_lower_case": 1})");
  ExpectLoadError("tokenizer_config.json: do_lower_case: expected true or false, found number");
  Write("tokenizer_config.json", R"({"do_basic_tokenize": false})");
  ExpectLoadError("do_basic_tokenize: false is not supported");
  Write("tokenizer_config.json", "{");
  ExpectLoadError("tokenizer_config.json: is not valid JSON");
}

TEST_F(ModelFolder, NoTokenizer) {
  ExpectLoadError("holds no tokenizer; expected tokenizer.json or vocab.txt");
  EXPECT_THROW(LoadTokenizer(folder_.path() / "absent"), ModelError);
}

// Where tokenizer.json exists, lower-casing of tokenizer_config.json and vocab.txt are not read.
TEST_F(ModelFolder, TokenizerJsonWins) {
  std::filesystem::copy_file(TANDEM_SOURCE_DIR "/tests/text/golden/added_uncased.json",
                             folder_.path() / "tokenizer.json");
  Write("vocab.txt", kVocab);
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(Ids("A"), ElementsAre(2, 5, 3, 0));
  Write("tokenizer.json", "{}");
  ExpectLoadError("tokenizer.json: \"model\" is missing");
}

TEST_F(ModelFolder, LengthsInOrderOfPrecedence) {
  EXPECT_EQ(MaxLength(), 0U);
  Write("config.json", R"({"max_position_embeddings": 512})");
  EXPECT_EQ(MaxLength(), 512U);
  Write("tokenizer.json", R"({"truncation": {"max_length": 128}})");
  EXPECT_EQ(MaxLength(), 128U);
  Write("tokenizer_config.json", R"({"model_max_length": 1000000000000000019884624838656})");
  EXPECT_EQ(MaxLength(), 128U);
  Write("tokenizer_config.json", R"({"model_max_length": 300})");
  EXPECT_EQ(MaxLength(), 300U);
  Write("sentence_bert_config.json", R"({"max_seq_length": null})");
  EXPECT_EQ(MaxLength(), 300U);
  Write("sentence_bert_config.json", R"({"max_seq_length": 256})");
  EXPECT_EQ(MaxLength(), 256U);
  Write("sentence_bert_config.json", R"({"max_seq_length": 5000})");
  EXPECT_EQ(MaxLength(), 512U);
}

TEST_F(ModelFolder, BrokenLengths) {
  const std::vector<std::string> values = {"0", "-3", "\"256\"", "1.5", "[]"};
  for (const std::string& value : values) {
    Write("sentence_bert_config.json", "{\"max_seq_length\": " + value + "}");
    EXPECT_THROW(MaxLength(), ModelError) << value;
  }
  Write("sentence_bert_config.json", "[]");
  EXPECT_THROW(MaxLength(), ModelError);
}

TEST(RealModel, MiniLmContradictionsAreDecided) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  EXPECT_EQ(ModelMaxLength(*model), 256U);  // the other files say 128 and 512
  const auto tokenizer = LoadTokenizer(*model);
  EXPECT_EQ(tokenizer->vocabulary_size(), 30522U);
  std::vector<int32_t> ids;
  tokenizer->Encode("Hello WORLD", 0, &ids);  // not padded to the file's 128
  EXPECT_THAT(ids, ElementsAre(101, 7592, 2088, 102));
}

}  // namespace
}  // namespace tandem::text
