#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class TokenizeCommand : public testing::Test {
 protected:
  TokenizeCommand() {
    Write("vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\n##a\nb\n.\n");
    Write("sentence_bert_config.json", R"({"max_seq_length": 4})");
  }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(folder_.path() / name, text);
  }
  ProgramResult Tokenize(const std::string& input, std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"tokenize", "--model", folder_.path().native()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments, input);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TokenizeCommand, OneLineOfIdsForEachLine) {
  const ProgramResult result = Tokenize("A b\n\naa\r\nlast");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "2 4 6 3\n2 3\n2 4 5 3\n2 1 3\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Tokenize("").out, "");
  EXPECT_EQ(Tokenize("\n").out, "2 3\n");
}

// Only \n ends a line. \r and U+2028 are white space to the tokenizer, the others are dropped.
TEST_F(TokenizeCommand, OtherLineSeparatorsDoNotEndALine) {
  const std::string input("a\rb\vb\fb\u0085b\u2028b\0b\n", 17);
  EXPECT_EQ(Tokenize(input, {"--max-length", "0"}).out, "2 4 1 1 3\n");
}

TEST_F(TokenizeCommand, LengthOfTheModelOfTheFlagAndNone) {
  const ProgramResult cut = Tokenize("a b a b\nb\n");
  EXPECT_EQ(cut.out, "2 4 6 3\n2 6 3\n");
  EXPECT_EQ(cut.err, "warning: lines cut to 4 tokens: 1 of 2\n");
  EXPECT_EQ(Tokenize("a b a b\n", {"--max-length", "3"}).out, "2 4 3\n");
  EXPECT_EQ(Tokenize("a b a b\n", {"--max-length", "2"}).out, "2 3\n");
  EXPECT_EQ(Tokenize("a b a b\n", {"--max-length", "0"}).out, "2 4 6 4 6 3\n");
}

// A whole model folder: 24 positions, max_seq_length 16.
void WriteModel(const std::filesystem::path& folder) {
  weights::WriteSmallModel(folder);
  WriteFileAtomically(folder / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\na\nb\nA\n");
}

ProgramResult TokenizeBy(const std::filesystem::path& model, std::vector<std::string> more,
                         const std::string& input) {
  more.insert(more.begin(), {"tokenize", "--model", model.native()});
  return RunTandem(more, input);
}

// What encode makes of the same texts: kind by kind, whatever the folder's files say.
TEST_F(TokenizeCommand, OfAKindAsEncodeDoes) {
  const TemporaryFolder model;
  WriteModel(model.path());
  const auto count = [&](const std::vector<std::string>& more) {
    std::string words;
    for (int i = 0; i < 100; ++i) words += "a ";
    const std::string out = TokenizeBy(model.path(), more, words).out;
    return std::count(out.begin(), out.end(), ' ') + 1;
  };
  EXPECT_EQ(count({}), 16);
  WriteFileAtomically(model.path() / "tandem.json",
                      R"({"format": 1, "max_query_tokens": 5, "max_document_tokens": 12})");
  EXPECT_EQ(count({"--kind", "query"}), 5);
  EXPECT_EQ(count({"--kind", "document"}), 12);
  EXPECT_EQ(count({}), 12);
  EXPECT_EQ(count({"--kind", "query", "--max-length", "0"}), 102);
  WriteFileAtomically(model.path() / "config_sentence_transformers.json",
                      R"({"prompts": {"query": "b b "}})");
  EXPECT_EQ(TokenizeBy(model.path(), {"--kind", "query"}, "a\n").out, "2 5 5 4 3\n");
  EXPECT_EQ(TokenizeBy(model.path(), {"--kind", "document"}, "a\n").out, "2 4 3\n");
  EXPECT_EQ(TokenizeBy(model.path(), {}, "a\n").out, "2 4 3\n");
}

TEST_F(TokenizeCommand, CutsWhereTheEncodersPositionsEnd) {
  const TemporaryFolder model;
  WriteModel(model.path());
  std::string config = weights::kSmallConfig;
  config.replace(config.find("\"bert\""), 6, "\"roberta\", \"pad_token_id\": 1");
  WriteFileAtomically(model.path() / "config.json", config);
  WriteFileAtomically(model.path() / "tokenizer_config.json",
                      R"({"tokenizer_class": "BertTokenizer"})");  // RoBERTa's reads no vocab.txt
  WriteFileAtomically(model.path() / "sentence_bert_config.json", "{}");
  std::string words;
  for (int i = 0; i < 100; ++i) words += "a ";
  const ProgramResult result = TokenizeBy(model.path(), {}, words);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), ' ') + 1, 22);
  EXPECT_EQ(result.err, "warning: lines cut to 22 tokens: 1 of 1\n");
}

TEST_F(TokenizeCommand, LowerCasesWhereTheFolderSaysSo) {
  const TemporaryFolder model;
  WriteModel(model.path());
  WriteFileAtomically(model.path() / "tokenizer_config.json", R"({"do_lower_case": false})");
  EXPECT_EQ(TokenizeBy(model.path(), {}, "A a\n").out, "2 6 4 3\n");
  WriteFileAtomically(model.path() / "sentence_bert_config.json", R"({"do_lower_case": true})");
  EXPECT_EQ(TokenizeBy(model.path(), {}, "A a\n").out, "2 4 4 3\n");
  std::filesystem::remove(model.path() / "modules.json");  // a plain folder has no such setting
  EXPECT_EQ(TokenizeBy(model.path(), {}, "A a\n").out, "2 6 4 3\n");
}

TEST_F(TokenizeCommand, TwoEncodersAreToldApartByTheKind) {
  const TemporaryFolder model;
  WriteModel(model.path() / "query");
  WriteModel(model.path() / "document");
  WriteFileAtomically(model.path() / "document/sentence_bert_config.json",
                      R"({"max_seq_length": 4})");
  WriteFileAtomically(model.path() / "tandem.json", R"({"format": 1, "towers": "separate"})");
  const ProgramResult neither = TokenizeBy(model.path(), {}, "a\n");
  EXPECT_EQ(neither.exit_code, 2);
  EXPECT_THAT(neither.err, HasSubstr("give --kind query or --kind document"));
  EXPECT_EQ(TokenizeBy(model.path(), {"--kind", "query"}, "a b a\n").out, "2 4 5 4 3\n");
  EXPECT_EQ(TokenizeBy(model.path(), {"--kind", "document"}, "a b a\n").out, "2 4 5 3\n");
}

TEST_F(TokenizeCommand, ManyLinesOnManyThreadsKeepTheirOrder) {
  std::string input;
  std::string expected;
  for (int i = 0; i < 200'000; ++i) {  // more than one block
    const int words = i % 50;
    expected += "2";
    for (int w = 0; w < words; ++w) {
      input += (w + i) % 3 == 0 ? "a " : "b ";
      expected += (w + i) % 3 == 0 ? " 4" : " 6";
    }
    input += '\n';
    expected += " 3\n";
  }
  for (const std::string threads : {"1", "2", "5"}) {
    EXPECT_TRUE(Tokenize(input, {"--max-length", "0", "--threads", threads}).out == expected)
        << threads;
  }
}

TEST_F(TokenizeCommand, ALineLongerThanABlock) {
  std::string input;
  for (int i = 0; i < 5'000'000; ++i) input += "b ";
  const ProgramResult result = Tokenize(input + "\na", {"--max-length", "0"});
  EXPECT_EQ(result.out.size(), 2U * 5'000'000 + 4 + 6);
  EXPECT_TRUE(result.out.ends_with(" 6 3\n2 4 3\n"));
}

TEST_F(TokenizeCommand, AnyBytes) {
  std::string input;
  for (int i = 0; i < 256; ++i) input += {static_cast<char>(i), 'a', '\n'};
  const ProgramResult result = Tokenize(input);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(std::count(result.out.begin(), result.out.end(), '\n'), 257);  // byte 10 is one, too
}

TEST_F(TokenizeCommand, Mistakes) {
  ProgramResult result = Tokenize("a\n", {"--max-length", "1"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--max-length 1 has no room for the 2 special tokens"));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(Tokenize("a\n", {"--max-length", "-1"}).exit_code, 2);
  EXPECT_EQ(RunTandem({"tokenize"}).exit_code, 2);
  result = RunTandem({"tokenize", "--model", "/no/such/folder"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.err, "error: /no/such/folder: no such folder; a model folder was expected\n");
  EXPECT_THAT(RunTandem({"tokenize", "--model", "BAAI/bge-small-en-v1.5"}).err,
              HasSubstr("hf download BAAI/bge-small-en-v1.5"));
  Write("tokenizer.json", R"({"model": {"type": "WordLevel"}})");
  result = Tokenize("a\n");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_THAT(result.err, HasSubstr("tokenizer.json: model: model \"WordLevel\" is not "
                                    "supported; supported: BPE, Unigram, WordPiece"));
}

}  // namespace
}  // namespace tandem
