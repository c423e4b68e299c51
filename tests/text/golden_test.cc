// Ids, normal forms and words against those of the `tokenizers` package, as hashes.
#include "text/golden.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "text/crc.h"
#include "text/load/tokenizer_json.h"
#include "text/normalizers/bert_normalizer.h"
#include "text/pipeline_tokenizer.h"
#include "text/pre_tokenizers/bert_pre_tokenizer.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

const GoldenFile& Hashes() {
  static const GoldenFile hashes("hashes.tsv");
  return hashes;
}

// A model folder that holds BERT's vocab.txt and what `settings` says.
class BertFolder {
 public:
  BertFolder(const std::filesystem::path& shared, const std::string& settings) {
    std::filesystem::copy_file(shared / "data/tokenizers/bert-base-uncased-vocab.txt",
                               folder_.path() / "vocab.txt");
    WriteFileAtomically(folder_.path() / "tokenizer_config.json", settings);
  }
  std::unique_ptr<const Tokenizer> Load() const { return LoadTokenizer(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST(Golden, NormalFormsOfGeneratedTexts) {
  const std::vector<std::string> texts = GeneratedTexts();
  for (int flags = 0; flags < 16; ++flags) {
    const auto flag = [&](int bit) { return (flags >> bit & 1) != 0; };
    const BertNormalizer normalizer({.clean_text = flag(3),
                                     .handle_chinese_chars = flag(2),
                                     .strip_accents = flag(1),
                                     .lowercase = flag(0)});
    Crc crc;
    for (const std::string& text : texts) {
      std::string normal;
      normalizer.Normalize(text, &normal);
      crc.AddString(normal);
    }
    std::string name = "normalizer/";
    for (int bit = 3; bit >= 0; --bit) name += flag(bit) ? 't' : 'f';
    Hashes().Expect(name, texts.size(), crc);
  }
}

TEST(Golden, WordsOfGeneratedTexts) {
  const std::vector<std::string> texts = GeneratedTexts();
  const BertPreTokenizer splitter;
  Crc crc;
  Words words;
  for (const std::string& text : texts) {
    words.Clear();
    splitter.Split(text, true, &words);
    for (const std::string_view word : words.views()) crc.AddString(word);
  }
  Hashes().Expect("pre_tokenizer", texts.size(), crc);
}

TEST(Golden, IdsOfGeneratedTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const std::vector<std::string> texts = GeneratedTexts();
  for (const std::string lowercase : {"false", "true"}) {
    const BertFolder folder(*shared, R"({"do_lower_case": )" + lowercase + "}");
    Hashes().Expect("generated/" + lowercase, texts.size(),
                    CrcOf(EncodeAll(*folder.Load(), texts, 0)));
  }
}

TEST(Golden, AddedTokens) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kRandomTexts; ++i) texts.push_back(SnippetText(i));
  for (const std::string name : {"added_bare.json", "added_cased.json", "added_uncased.json"}) {
    const std::string json = ReadFile(std::filesystem::path(kGolden) / name);
    const PipelineTokenizer tokenizer(ReadTokenizerJson(json, name));
    Hashes().Expect(name, texts.size(), CrcOf(EncodeAll(tokenizer, texts, 0)));
  }
}

TEST(Golden, IdsOfAllSharedTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const auto tokenizer = BertFolder(*shared, "{}").Load();
  const auto expect = [&](const std::string& file, const std::vector<std::string>& texts) {
    for (const size_t length : {0, 24}) {
      Hashes().Expect(fmt::format("shared/{}/{}", length, file), texts.size(),
                      CrcOf(EncodeAll(*tokenizer, texts, length)));
    }
  };
  EXPECT_EQ(ForEachSharedFile(Hashes(), "shared", *shared / "data", expect), 33U);
}

}  // namespace
}  // namespace tandem::text
