// Laws that hold for every text, length and number of threads.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "text/generated_texts.h"
#include "text/load/tokenizer_json.h"
#include "text/pipeline_tokenizer.h"

namespace tandem::text {
namespace {

const PipelineTokenizer& Fixture(const std::string& name) {
  static std::map<std::string, std::unique_ptr<PipelineTokenizer>> tokenizers;
  auto& tokenizer = tokenizers[name];
  if (!tokenizer) {
    const std::string file = std::string(TANDEM_SOURCE_DIR "/tests/text/golden/") + name;
    tokenizer = std::make_unique<PipelineTokenizer>(ReadTokenizerJson(ReadFile(file), file));
  }
  return *tokenizer;
}

const PipelineTokenizer& AnyFixture() {
  return Fixture(*rc::gen::element<std::string>(
      "added_bare.json", "added_cased.json", "added_uncased.json", "unigram_added.json",
      "unigram_bytes.json", "bpe_gpt2.json", "bpe_roberta.json", "bpe_clip.json", "bpe_llama2.json",
      "bpe_plain.json"));
}

// Draws texts of words, added tokens, all of Unicode and broken UTF-8, short and long.
std::string AnyText() {
  std::string text;
  for (const int kind : *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 6))) {
    const auto number = *rc::gen::arbitrary<uint64_t>();
    if (kind == 0) text += RandomText(number);
    if (kind == 1 || kind == 2) text += SnippetText(number);
    if (kind == 3) text += *rc::gen::arbitrary<std::string>();
    if (kind == 5) text += ClusterText(number);
    if (kind == 4) {
      for (uint64_t i = 0; i < number % 300; ++i) text += SnippetText(number + i) + " ";
    }
  }
  return text;
}

std::vector<int32_t> Ids(const Tokenizer& tokenizer, std::string_view text, size_t max_length,
                         bool* cut) {
  std::vector<int32_t> ids;
  *cut = tokenizer.Encode(text, max_length, &ids);
  return ids;
}

RC_GTEST_PROP(Tokenizer, ATruncatedTextIsAPrefixBetweenTheSpecialTokens, ()) {
  const PipelineTokenizer& tokenizer = AnyFixture();
  const std::string text = AnyText();
  bool cut = false;
  const std::vector<int32_t> whole = Ids(tokenizer, text, 0, &cut);
  RC_ASSERT(!cut);
  const std::vector<int32_t> empty = Ids(tokenizer, "", 0, &cut);
  RC_ASSERT(empty.size() == tokenizer.special_tokens());
  const size_t before = empty.empty() ? 0 : 1;
  const auto length =
      *rc::gen::inRange<size_t>(empty.size() + (empty.empty() ? 1 : 0), whole.size() + 3);
  const std::vector<int32_t> some = Ids(tokenizer, text, length, &cut);
  RC_ASSERT(cut == (whole.size() > length));
  const size_t inner = std::min(length, whole.size()) - empty.size();
  std::vector<int32_t> expected(whole.begin(), whole.begin() + static_cast<long>(before + inner));
  expected.insert(expected.end(), empty.begin() + static_cast<long>(before), empty.end());
  RC_ASSERT(some == expected);
}

RC_GTEST_PROP(Tokenizer, IdsAreInTheVocabulary, ()) {
  const PipelineTokenizer& tokenizer = AnyFixture();
  bool cut = false;
  for (const int32_t id : Ids(tokenizer, AnyText(), *rc::gen::inRange<size_t>(0, 50), &cut)) {
    RC_ASSERT(id >= 0 && static_cast<size_t>(id) < tokenizer.vocabulary_size());
    RC_ASSERT(!tokenizer.token(id).empty());
  }
}

RC_GTEST_PROP(Tokenizer, ThreadsAndNeighboursDoNotMatter, ()) {
  const PipelineTokenizer& tokenizer = AnyFixture();
  const auto length = *rc::gen::inRange<size_t>(0, 20);
  std::vector<std::string> texts;
  for (uint64_t i = *rc::gen::inRange<uint64_t>(0, 300); i > 0; --i)
    texts.push_back(SnippetText(i));
  texts.push_back(AnyText());
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const EncodedTexts all = tokenizer.EncodeAll(views, length, *rc::gen::inRange(1, 9));
  RC_ASSERT(all.size() == texts.size());
  size_t truncated = 0;
  for (size_t b = 0; b < texts.size(); ++b) {
    bool cut = false;
    const std::vector<int32_t> ids = Ids(tokenizer, texts[b], length, &cut);
    RC_ASSERT(std::vector<int32_t>(all[b].begin(), all[b].end()) == ids);
    truncated += cut ? 1 : 0;
  }
  RC_ASSERT(all.truncated == truncated);
}

TEST(Tokenizer, ALimitBelowTheSpecialTokensCutsThem) {
  const PipelineTokenizer& tokenizer = Fixture("added_uncased.json");  // [CLS] A [SEP] [PAD]
  bool cut = false;
  EXPECT_EQ(Ids(tokenizer, "a", 1, &cut), (std::vector<int32_t>{2}));
  EXPECT_TRUE(cut);
  EXPECT_EQ(Ids(tokenizer, "a", 2, &cut), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(Ids(tokenizer, "a", 3, &cut), (std::vector<int32_t>{2, 3, 0}));
  EXPECT_TRUE(cut);
  EXPECT_EQ(Ids(tokenizer, "a", 4, &cut), (std::vector<int32_t>{2, 5, 3, 0}));
  EXPECT_FALSE(cut);
}

// A long text is normalised in parts, unless an added token is looked for in its normal form.
TEST(Tokenizer, PartsOfALongTextDoNotShow) {
  const std::string file = TANDEM_SOURCE_DIR "/tests/text/golden/added_uncased.json";
  std::string json = ReadFile(file);
  const std::string normalized = "\"normalized\": true";
  for (size_t at = json.find(normalized); at != std::string::npos; at = json.find(normalized)) {
    json.replace(at, normalized.size(), "\"normalized\": false");
  }
  const PipelineTokenizer in_parts(ReadTokenizerJson(json, file));
  for (const PipelineTokenizer* tokenizer : {&in_parts, &Fixture("added_uncased.json")}) {
    for (const std::string word : {"hello", "caf\u00e9\u302e\U0001d165", "a-b", "[", "\u4e2d"}) {
      std::string text;
      std::vector<int32_t> expected;
      bool cut = false;
      const std::vector<int32_t> one = Ids(*tokenizer, word, 0, &cut);  // [CLS] ... [SEP] [PAD]
      for (int i = 0; i < 3000; ++i) {
        text += word + (i % 3 == 0 ? "  " : " ");
        expected.insert(expected.end(), one.begin() + 1, one.end() - 2);
      }
      const std::vector<int32_t> ids = Ids(*tokenizer, text, 0, &cut);
      EXPECT_EQ(std::vector<int32_t>(ids.begin() + 1, ids.end() - 2), expected) << word;
    }
  }
}

// A long text is cut into parts though special tokens are looked for in its normal form, as those
// of GPT-2 and RoBERTa are. One that has a space forbids that, and must not change the ids.
TEST(Tokenizer, SpecialTokensInPartsOfALongText) {
  for (const std::string name : {"bpe_gpt2.json", "bpe_roberta.json"}) {
    const PipelineTokenizer& tokenizer = Fixture(name);
    std::string json = ReadFile(std::string(TANDEM_SOURCE_DIR "/tests/text/golden/") + name);
    const size_t end = json.find("],\"normalizer\"");
    ASSERT_NE(end, std::string::npos);
    json.insert(end, R"(,{"id":)" + std::to_string(tokenizer.vocabulary_size()) +
                         R"(,"content":"a token","single_word":false,"lstrip":false,)"
                         R"("rstrip":false,"normalized":true,"special":false})");
    const PipelineTokenizer whole(ReadTokenizerJson(json, name));
    std::string text;
    for (int i = 0; i < 300; ++i) text += "it's <|endoftext|> <s> x <mask>  y1 ";
    for (const size_t length : {size_t{0}, size_t{100}, size_t{5000}}) {
      bool cut = false;
      EXPECT_EQ(Ids(whole, text, length, &cut), Ids(tokenizer, text, length, &cut)) << name;
    }
  }
}

}  // namespace
}  // namespace tandem::text
