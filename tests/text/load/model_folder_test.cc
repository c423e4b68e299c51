// Tokenizers from folders: which file wins, bare vocabularies, lower-casing, what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "text/load/known_files.h"

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

TEST_F(ModelFolder, NumbersThatNobodyReadMayBeAnyThatPythonWrites) {
  Write("vocab.txt", kVocab);
  for (const char* number : {"1e400", "NaN", "-Infinity", "1000000000000000019884624838656"}) {
    Write("tokenizer_config.json", std::string(R"({"x": )") + number + "}");
    EXPECT_THAT(Ids("x"), ElementsAre(2, 1, 3)) << number;
  }
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
        R"({"unk_token": "NO", "cls_token": {"__type": "AddedToken", "content": "[MASK]"}})");
  Write("special_tokens_map.json", R"({"sep_token": "[PAD]"})");
  EXPECT_THAT(Ids("x"), ElementsAre(4, 11, 0));
  Write("special_tokens_map.json", R"({"unk_token": "[PAD]", "sep_token": {"content": "[PAD]"}})");
  EXPECT_THAT(Ids("x"), ElementsAre(4, 0, 0));  // it is laid over the other file
}

// A cache of what a tokenizer made must know it from another one.
TEST_F(ModelFolder, TheFingerprintChangesWithEverythingThatDecidesIds) {
  const auto fingerprint = [&](const TokenizerOptions& options = {}) {
    return LoadTokenizer(folder_.path(), options)->fingerprint();
  };
  Write("vocab.txt", kVocab);
  const uint64_t plain = fingerprint();
  EXPECT_EQ(plain, fingerprint());
  EXPECT_NE(plain, fingerprint({.lower_case = true}));
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  const uint64_t cased = fingerprint();
  EXPECT_NE(plain, cased);
  Write("special_tokens_map.json", R"({"sep_token": "[PAD]"})");
  const uint64_t mapped = fingerprint();
  EXPECT_NE(cased, mapped);
  Write("vocab.txt", std::string(kVocab) + "more\n");
  EXPECT_NE(mapped, fingerprint());
}

TEST_F(ModelFolder, MergesWithoutTokenizerJson) {
  Write("vocab.json", "{}");
  Write("merges.txt", "#version: 0.2\n");
  ExpectLoadError(
      "holds merges.txt and no tokenizer.json, which is needed; transformers makes it: "
      "AutoTokenizer.from_pretrained(\"" +
      folder_.path().native() + "\").save_pretrained(");
}

TEST_F(ModelFolder, WindowsLineEndsAndNoLastLineEnd) {
  Write("vocab.txt", "[UNK]\r\n[CLS]\r\n[SEP]\r\nword");
  EXPECT_THAT(Ids("word"), ElementsAre(1, 3, 2));
}

TEST_F(ModelFolder, ClassesThatReadVocabTxtAsBertDoes) {
  Write("vocab.txt", kVocab);
  const std::vector<int32_t> ids = Ids("Caf\u00e9");
  for (const std::string name : {"BertTokenizer", "BertTokenizerFast", "ElectraTokenizer"}) {
    Write("tokenizer_config.json", R"({"tokenizer_class": ")" + name + "\"}");
    EXPECT_EQ(Ids("Caf\u00e9"), ids) << name;
  }
  Write("tokenizer_config.json", R"({"tokenizer_class": "MPNetTokenizerFast"})");
  ExpectLoadError("vocab.txt: the special token \"<s>\" is not in the vocabulary");
  Write("vocab.txt", "<s>\n</s>\n[UNK]\ncafe\n");
  EXPECT_THAT(Ids("Caf\u00e9 x"), ElementsAre(0, 3, 2, 1));
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
  ExpectLoadError("tokenizer_config.json: do_lower_case: expected true or false, found 1");
  Write("tokenizer_config.json", R"({"tokenizer_class": "BertJapaneseTokenizer"})");
  ExpectLoadError(
      "tokenizer_class: BertJapaneseTokenizer is not supported: transformers makes this class's");
  Write("tokenizer_config.json", R"({"tokenizer_class": "T5Tokenizer"})");
  ExpectLoadError("tokenizer_class: T5Tokenizer is not supported without a tokenizer.json");
  Write("tokenizer_config.json", "{");
  ExpectLoadError("tokenizer_config.json: is not valid JSON");
}

TEST_F(ModelFolder, NoTokenizer) {
  ExpectLoadError("holds no tokenizer; expected tokenizer.json or vocab.txt");
  EXPECT_THROW(LoadTokenizer(folder_.path() / "absent"), ModelError);
}

TEST_F(ModelFolder, ASentencePieceModelAloneSaysHowToMakeTokenizerJson) {
  const std::string folder = folder_.path().native();
  for (const std::string name : {"spiece.model", "sentencepiece.bpe.model", "tokenizer.model"}) {
    Write(name, "");
    ExpectLoadError(folder + ": holds " + name +
                    " and no tokenizer.json, which is needed; transformers makes it: "
                    "AutoTokenizer.from_pretrained(\"" +
                    folder + "\").save_pretrained(\"" + folder + "\")");
    std::filesystem::remove(folder_.path() / name);
  }
}

// Where tokenizer.json exists, vocab.txt is not read, nor lower-casing unless a class looks at it.
TEST_F(ModelFolder, TokenizerJsonWins) {
  std::filesystem::copy_file(TANDEM_SOURCE_DIR "/tests/text/golden/added_uncased.json",
                             folder_.path() / "tokenizer.json");
  Write("vocab.txt", kVocab);
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(Ids("A"), ElementsAre(2, 5, 3, 0));
  Write("tokenizer_config.json", R"({"do_lower_case": false, "tokenizer_class": "BertTokenizer"})");
  EXPECT_THAT(Ids("A"), ElementsAre(2, 38, 3));
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  Write("tokenizer.json", "{}");
  ExpectLoadError("tokenizer.json: \"model\" is missing");
}

// What sentence-transformers does for `do_lower_case`: it puts a lower-casing in front of the
// tokenizer's own normalizer, which then still keeps the accents that its file keeps.
TEST_F(ModelFolder, LowerCasingComesBeforeTheTokenizersOwnNormalizer) {
  const auto lowered = [&](const std::string& text) {
    std::vector<int32_t> ids;
    LoadTokenizer(folder_.path(), {.lower_case = true})->Encode(text, 0, &ids);
    return ids;
  };
  Write("vocab.txt", kVocab);
  Write("tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_THAT(Ids("Caf\u00e9 Cafe"), ElementsAre(2, 7, 8, 3));
  EXPECT_THAT(lowered("Caf\u00e9 CAFE"), ElementsAre(2, 6, 5, 3));
  EXPECT_THAT(lowered("[MASK] [mask]").size(), 6U);  // special tokens keep their spelling
  EXPECT_EQ(lowered("[MASK] x")[1], 4);
  Write("tokenizer_config.json", R"({"do_lower_case": false, "strip_accents": true})");
  EXPECT_THAT(lowered("Caf\u00e9"), ElementsAre(2, 5, 3));
  const auto json = [&](const std::string& normalizer) {
    Write("tokenizer.json", R"({"normalizer": )" + normalizer + R"(, "pre_tokenizer": {"type":
        "BertPreTokenizer"}, "added_tokens": [{"id": 5, "content": "NeW", "single_word": false,
        "lstrip": false, "rstrip": false, "normalized": true, "special": false}], "model":
        {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100, "vocab": {"[UNK]": 0, "caf\u00e9": 1, "Caf\u00e9": 2,
        "cafe": 3, "\u4e2d": 4}}})");
  };
  json(R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
           "strip_accents": null, "lowercase": false})");
  EXPECT_THAT(Ids("Caf\u00e9 new NeW"), ElementsAre(2, 0, 5));
  EXPECT_THAT(lowered("Caf\u00e9 new NEW"), ElementsAre(1, 5, 5));  // by its normal form
  json("null");
  EXPECT_THAT(Ids("Caf\u00e9"), ElementsAre(2));
  EXPECT_THAT(lowered("CAF\u00c9"), ElementsAre(1));
  json(R"({"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
           "strip_accents": null, "lowercase": true})");
  EXPECT_THAT(lowered("CAF\u00c9"), ElementsAre(3));
}

// As transformers takes what a folder says; golden/settings.json has many more.
TEST_F(ModelFolder, TheBeginningOfTextsIsCutWhereAFileSaysSo) {
  Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n");
  Write("tokenizer_config.json", R"({"truncation_side": "left"})");
  const auto tokenizer = LoadTokenizer(folder_.path());
  EXPECT_TRUE(tokenizer->cuts_left());
  std::vector<int32_t> ids, types;
  EXPECT_TRUE(tokenizer->Encode("a b c d", 4, &ids));
  EXPECT_THAT(ids, ElementsAre(2, 7, 8, 3));
  EXPECT_FALSE(tokenizer->Encode("a b", 4, &ids));
  EXPECT_THAT(ids, ElementsAre(2, 7, 8, 3, 2, 5, 6, 3));
  ids.clear();
  EXPECT_TRUE(tokenizer->EncodePair({"a b c d", "b a"}, 6, &ids, &types));
  EXPECT_THAT(ids, ElementsAre(2, 7, 8, 3, 5, 3));
  EXPECT_THAT(types, ElementsAre(0, 0, 0, 0, 1, 1));
  ids.clear();
  EXPECT_TRUE(
      tokenizer->Encode(std::string(10000, 'x') + " a " + std::string(9999, ' ') + "b", 3, &ids));
  EXPECT_THAT(ids, ElementsAre(2, 6, 3));
  const uint64_t left = tokenizer->fingerprint();
  Write("tokenizer_config.json", R"({"truncation_side": "right"})");
  EXPECT_NE(LoadTokenizer(folder_.path())->fingerprint(), left);
  Write("tokenizer_config.json", R"({"truncation_side": "middle"})");
  ExpectLoadError("truncation_side: expected \"left\" or \"right\", found \"middle\"");
}

TEST_F(ModelFolder, ATokenThatTheModelHasNoRowForIsAnErrorWhereATextHasIt) {
  Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n");  // no [MASK], which the class adds
  EXPECT_EQ(LoadTokenizer(folder_.path())->vocabulary_size(), 6U);
  const auto tokenizer = LoadTokenizer(folder_.path(), {.rows = 5});
  EXPECT_EQ(tokenizer->vocabulary_size(), 5U);
  std::vector<int32_t> ids;
  tokenizer->Encode("a", 0, &ids);
  EXPECT_THAT(ids, ElementsAre(2, 4, 3));
  try {
    tokenizer->Encode("a [MASK]", 0, &ids);
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("has the token \"[MASK]\""));
    EXPECT_THAT(error.what(), HasSubstr("its id is 5, and the model knows 5"));
  }
  EXPECT_EQ(LoadTokenizer(folder_.path(), {.rows = 4})->vocabulary_size(),
            6U);  // refused by models
}

TEST_F(ModelFolder, WhatTransformersTakesNoOtherWayIsRefused) {
  Write("vocab.txt", kVocab);
  const auto refused = [&](const std::string& config, const std::string& message) {
    Write("tokenizer_config.json", config);
    ExpectLoadError("tokenizer_config.json: " + message);
  };
  refused(R"({"cls_token": null})",
          "cls_token: expected a token, which BertTokenizer needs, found");
  refused(R"({"cls_token": {"content": "[CLS]"}})", "cls_token: expected a token: a string, or an");
  refused(R"({"strip_accents": "no"})", "strip_accents: expected true or false, found \"no\"");
  refused(R"({"extra_special_tokens": 3})", "extra_special_tokens: expected a list of tokens, fou");
  refused(R"({"added_tokens_decoder": {"x": {}}})", "added_tokens_decoder: expected tokens by the");
  refused(R"({"fast_tokenizer_files": ["a"]})", "fast_tokenizer_files: expected no such setting");
  refused(R"({"tokenizer_class": 3})", "tokenizer_class: expected a string, found 3");
  Write("tokenizer_config.json", "{}");
  Write("config.json", R"({"model_type": "albert", "attention": NaN})");
  ExpectLoadError("config.json: model_type is albert, of which the class that reads its tokenizer");
}

TEST_F(ModelFolder, FilesThatTheCallerHasReadAreNotReadAgain) {
  Write("vocab.txt", kVocab);
  for (const char* name : {"config.json", "tokenizer_config.json"}) Write(name, "{");
  EXPECT_THROW(LoadTokenizer(folder_.path()), ModelError);
  const std::string config = R"({"model_type": "bert"})", tokenizer = R"({"do_lower_case": false})";
  const auto known = [&](const std::filesystem::path& path) -> const std::string* {
    if (path == folder_.path() / "config.json") return &config;
    return path == folder_.path() / "tokenizer_config.json" ? &tokenizer : nullptr;
  };
  std::vector<int32_t> ids;
  LoadTokenizer(folder_.path(), {}, known)->Encode("Caf\u00e9", 0, &ids);
  EXPECT_THAT(ids, ElementsAre(2, 7, 3));
}

TEST(RealModel, MiniLmIsReadWithoutItsPadding) {
  const auto model = ModelDir();
  if (!model) GTEST_SKIP() << kNoModelDir;
  const auto tokenizer = LoadTokenizer(*model);
  EXPECT_EQ(tokenizer->vocabulary_size(), 30522U);
  std::vector<int32_t> ids;
  tokenizer->Encode("Hello WORLD", 0, &ids);  // not padded to the file's 128
  EXPECT_THAT(ids, ElementsAre(101, 7592, 2088, 102));
}

}  // namespace
}  // namespace tandem::text
