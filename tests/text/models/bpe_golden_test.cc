// Ids of BPE tokenizers against those of the `tokenizers` package, as hashes: real tokenizers, and
// small ones with the pipelines of others (tools/golden/make_bpe_golden.py trained them).
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "support/test_data.h"
#include "text/golden.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {
namespace {

constexpr uint64_t kTexts = 5000;
constexpr size_t kAddedTokens = 40;

const GoldenFile& BpeHashes() {
  static const GoldenFile hashes("bpe.tsv");
  return hashes;
}

template <typename Function>
std::vector<std::string> Made(const Function& function) {
  std::vector<std::string> texts;
  for (uint64_t i = 0; i < kTexts; ++i) texts.push_back(function(i));
  return texts;
}

std::vector<std::string> AddedTokensOf(const std::string& json) {
  std::vector<std::string> contents;
  const auto document = nlohmann::json::parse(json);
  for (const auto& token : document.at("added_tokens")) {
    if (contents.size() == kAddedTokens) break;
    contents.push_back(token.at("content"));
  }
  return contents;
}

// The texts of the set `label`: generated ones, or those of a file below `data`.
std::vector<std::string> TextsOf(const std::string& label, const std::string& json,
                                 const std::filesystem::path& data) {
  if (label == "characters") return EveryCharacter();
  if (label == "random") return Made(RandomText);
  if (label == "words") return Made(WordText);
  if (label == "broken") return Made(BrokenText);
  if (label == "added") {
    const std::vector<std::string> own = AddedTokensOf(json);
    return Made([&](uint64_t i) { return AddedText(i, own); });
  }
  return ReadTexts(data / label);
}

// Checks every set of `name` and expects that there are `sets` of them.
void ExpectIdsOf(const std::string& name, const std::filesystem::path& file, size_t sets) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const std::string json = ReadFile(file);
  const PipelineTokenizer tokenizer(ReadTokenizerJson(json, file.native()));
  size_t checked = 0;
  std::string last_label;
  std::vector<std::string> texts;
  for (const auto& [set, golden] : BpeHashes().sets()) {
    if (!set.starts_with(name + "/")) continue;
    const size_t length_at = name.size() + 1;
    const size_t label_at = set.find('/', length_at) + 1;
    const std::string label = set.substr(label_at);
    if (label != last_label) texts = TextsOf(label, json, *shared / "data");
    last_label = label;
    const size_t length = std::stoul(set.substr(length_at));
    BpeHashes().Expect(set, texts.size(), CrcOf(EncodeAll(tokenizer, texts, length)));
    ++checked;
  }
  EXPECT_EQ(checked, sets) << name;
}

TEST(BpeGolden, Llama32) {
  const auto folder = LlamaTokenizerDir();
  if (!folder) GTEST_SKIP() << kNoLlamaTokenizerDir;
  ExpectIdsOf("llama-3.2", *folder / "tokenizer.json", 63);
}

TEST(BpeGolden, DeepSeek) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  ExpectIdsOf("deepseek", *shared / "data/tokenizers/json/deepseek/tokenizer.json", 63);
}

TEST(BpeGolden, Mistral) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  ExpectIdsOf("mistral-v3", *shared / "data/tokenizers/json/mistral-v3/tokenizer.json", 63);
}

class BpePipeline : public testing::TestWithParam<std::string> {};

TEST_P(BpePipeline, GivesThePackagesIds) {
  const std::string name = "bpe_" + GetParam() + ".json";
  ExpectIdsOf(name, std::filesystem::path(kGolden) / name, 34);
}

INSTANTIATE_TEST_SUITE_P(Trained, BpePipeline,
                         testing::Values("gpt2", "roberta", "qwen2", "modernbert", "clip", "llama2",
                                         "gemma", "plain"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace tandem::text
