// Ids, normal forms and words against those of the `tokenizers` package, as hashes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/temporary_folder.h"
#include "base/test_data.h"
#include "text/bert_normalizer.h"
#include "text/bert_pre_tokenizer.h"
#include "text/crc.h"
#include "text/generated_texts.h"
#include "text/pipeline_tokenizer.h"
#include "text/tokenizer.h"
#include "text/tokenizer_json.h"

namespace tandem::text {
namespace {

constexpr uint64_t kRandomTexts = 20000;
constexpr const char* kGolden = TANDEM_SOURCE_DIR "/tests/text/golden";

struct Golden {
  size_t texts = 0;
  std::string crc;
};

const std::map<std::string, Golden>& GoldenHashes() {
  static const auto hashes = [] {
    std::map<std::string, Golden> result;
    std::ifstream file(std::string(kGolden) + "/hashes.tsv");
    std::string line;
    std::getline(file, line);  // who made it
    while (std::getline(file, line)) {
      const size_t first = line.find('\t');
      const size_t second = line.find('\t', first + 1);
      result[line.substr(0, first)] = {std::stoul(line.substr(first + 1, second - first - 1)),
                                       line.substr(second + 1)};
    }
    return result;
  }();
  return hashes;
}

void ExpectGolden(const std::string& name, size_t texts, const Crc& crc) {
  ASSERT_TRUE(GoldenHashes().contains(name)) << name;
  const Golden& golden = GoldenHashes().at(name);
  EXPECT_EQ(texts, golden.texts) << name;
  EXPECT_EQ(fmt::format("{:08x}", crc.value()), golden.crc) << name;
}

std::vector<std::string> GeneratedTexts() {
  std::vector<std::string> texts = EveryCharacter();
  for (uint64_t i = 0; i < kRandomTexts; ++i) texts.push_back(RandomText(i));
  return texts;
}

Crc CrcOf(const EncodedTexts& encoded) {
  Crc crc;
  for (size_t b = 0; b < encoded.size(); ++b) crc.AddIds(encoded[b]);
  return crc;
}

EncodedTexts EncodeAll(const Tokenizer& tokenizer, const std::vector<std::string>& texts,
                       size_t max_length) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  return tokenizer.EncodeAll(views, max_length, 2);
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
    ExpectGolden(name, texts.size(), crc);
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
  ExpectGolden("pre_tokenizer", texts.size(), crc);
}

TEST(Golden, IdsOfGeneratedTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const std::vector<std::string> texts = GeneratedTexts();
  for (const std::string lowercase : {"false", "true"}) {
    const BertFolder folder(*shared, R"({"do_lower_case": )" + lowercase + "}");
    ExpectGolden("generated/" + lowercase, texts.size(),
                 CrcOf(EncodeAll(*folder.Load(), texts, 0)));
  }
}

TEST(Golden, AddedTokens) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kRandomTexts; ++i) texts.push_back(SnippetText(i));
  for (const std::string name : {"added_bare.json", "added_cased.json", "added_uncased.json"}) {
    const std::string json = ReadFile(std::filesystem::path(kGolden) / name);
    const PipelineTokenizer tokenizer(ReadTokenizerJson(json, name));
    ExpectGolden(name, texts.size(), CrcOf(EncodeAll(tokenizer, texts, 0)));
  }
}

// Title and text of each line, as BEIR joins them.
std::vector<std::string> ReadTexts(const std::filesystem::path& path) {
  std::vector<std::string> texts;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const auto record = nlohmann::json::parse(line);
    std::string text = record.value("title", "");
    if (!text.empty()) text += ' ';
    texts.push_back(text + record.at("text").get<std::string>());
  }
  return texts;
}

TEST(Golden, IdsOfAllSharedTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const auto tokenizer = BertFolder(*shared, "{}").Load();
  size_t files = 0;
  for (const auto& [name, golden] : GoldenHashes()) {
    const std::string prefix = "shared/0/";
    if (!name.starts_with(prefix)) continue;
    const std::string file = name.substr(prefix.size());
    const std::vector<std::string> texts = ReadTexts(*shared / "data" / file);
    ExpectGolden(name, texts.size(), CrcOf(EncodeAll(*tokenizer, texts, 0)));
    ExpectGolden("shared/24/" + file, texts.size(), CrcOf(EncodeAll(*tokenizer, texts, 24)));
    ++files;
  }
  EXPECT_EQ(files, 33U);
}

}  // namespace
}  // namespace tandem::text
