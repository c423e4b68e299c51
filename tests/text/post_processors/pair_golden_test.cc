// Pairs of texts as one input: against the `tokenizers` package, as hashes, and what the template
// and the limit make of short ones.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"
#include "support/test_data.h"
#include "text/golden.h"
#include "text/post_processors/pair_template.h"
#include "text/tokenizer.h"

namespace tandem::text {
namespace {

using nlohmann::json;
using testing::ElementsAre;

constexpr size_t kMostPairs = 2000;

// Pairs texts as tools/golden/make_pair_golden.py does.
std::vector<std::pair<std::string, std::string>> ReadPairs(const std::filesystem::path& folder) {
  std::vector<std::string> queries = ReadTexts(folder / "queries.jsonl");
  queries.resize(std::min(queries.size(), kMostPairs));
  const std::vector<std::string>& documents = ReadTexts(folder / "corpus.jsonl");
  std::vector<std::pair<std::string, std::string>> pairs;
  for (size_t i = 0; i < queries.size(); ++i) {
    pairs.emplace_back(queries[i], documents[7 * i % documents.size()]);
    if (i % 3 == 2) std::swap(pairs.back().first, pairs.back().second);
  }
  return pairs;
}

// BERT's vocabulary as a tokenizer.json with this post-processor.
std::unique_ptr<const Tokenizer> BertWith(const std::filesystem::path& shared,
                                          const json& post_processor) {
  json vocabulary = json::object();
  std::ifstream file(shared / "data/tokenizers/bert-base-uncased-vocab.txt");
  int id = 0;
  for (std::string line; std::getline(file, line);) vocabulary[line] = id++;
  const json settings = {{"version", "1.0"},
                         {"added_tokens", json::array()},
                         {"normalizer",
                          {{"type", "BertNormalizer"},
                           {"clean_text", true},
                           {"handle_chinese_chars", true},
                           {"strip_accents", nullptr},
                           {"lowercase", true}}},
                         {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
                         {"post_processor", post_processor},
                         {"model",
                          {{"type", "WordPiece"},
                           {"unk_token", "[UNK]"},
                           {"continuing_subword_prefix", "##"},
                           {"max_input_chars_per_word", 100},
                           {"vocab", vocabulary}}}};
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "tokenizer.json", settings.dump());
  return LoadTokenizer(folder.path());
}

TEST(PairGolden, IdsAndTypesEqualThePackages) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const json golden = json::parse(ReadFile(TANDEM_SOURCE_DIR "/tests/text/golden/pairs.json"));
  std::string folder_read, processor_made;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::unique_ptr<const Tokenizer> tokenizer;
  for (const json& one : golden["cases"]) {
    if (one["name"] != processor_made) {
      processor_made = one["name"];
      tokenizer = BertWith(*shared, golden["processors"][processor_made]);
    }
    if (one["folder"] != folder_read) {
      folder_read = one["folder"];
      pairs = ReadPairs(*shared / "data" / folder_read);
    }
    std::vector<TextPair> views;
    for (const auto& [first, second] : pairs) views.push_back({first, second});
    const EncodedPairs encoded =
        tokenizer->EncodeAllPairs(views, one["max_length"].get<size_t>(), 2);
    ASSERT_EQ(encoded.texts.size(), one["pairs"].get<size_t>());
    Crc crc;
    for (size_t p = 0; p < encoded.texts.size(); ++p) {
      crc.AddIds(encoded.texts[p]);
      crc.AddIds(
          std::span(encoded.types)
              .subspan(static_cast<size_t>(encoded.texts.starts[p]), encoded.texts[p].size()));
    }
    EXPECT_EQ(fmt::format("{:08x}", crc.value()), one["crc"].get<std::string>()) << one.dump();
  }
}

TEST(LongestFirst, CutsTheLongerTextFirst) {
  EXPECT_EQ(LongestFirst(3, 4, 7), std::pair(size_t{3}, size_t{4}));
  EXPECT_EQ(LongestFirst(3, 9, 7), std::pair(size_t{3}, size_t{4}));
  EXPECT_EQ(LongestFirst(9, 3, 7), std::pair(size_t{4}, size_t{3}));
  EXPECT_EQ(LongestFirst(9, 8, 7), std::pair(size_t{4}, size_t{3}));
  EXPECT_EQ(LongestFirst(8, 9, 7), std::pair(size_t{3}, size_t{4}));
  EXPECT_EQ(LongestFirst(9, 9, 7), std::pair(size_t{3}, size_t{4}));
  EXPECT_EQ(LongestFirst(9, 9, 0), std::pair(size_t{0}, size_t{0}));
  EXPECT_EQ(LongestFirst(0, 9, 7), std::pair(size_t{0}, size_t{7}));
}

class PairEncoding : public testing::Test {
 protected:
  PairEncoding() {
    WriteFileAtomically(folder_.path() / "vocab.txt",
                        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\nb\nc\nd\n");
    tokenizer_ = LoadTokenizer(folder_.path());
  }
  struct Encoded {
    std::vector<int32_t> ids, types;
    bool cut = false;
  };
  Encoded Encode(const TextPair& pair, size_t max_length) const {
    Encoded encoded;
    encoded.cut = tokenizer_->EncodePair(pair, max_length, &encoded.ids, &encoded.types);
    return encoded;
  }

  TemporaryFolder folder_;
  std::unique_ptr<const Tokenizer> tokenizer_;
};

TEST_F(PairEncoding, AVocabularyFileJoinsAsBert) {
  const Encoded both = Encode({"a b", "c"}, 0);
  EXPECT_THAT(both.ids, ElementsAre(2, 5, 6, 3, 7, 3));
  EXPECT_THAT(both.types, ElementsAre(0, 0, 0, 0, 1, 1));
  EXPECT_FALSE(both.cut);
  EXPECT_THAT(Encode({"", ""}, 0).ids, ElementsAre(2, 3, 3));
}

TEST_F(PairEncoding, SaysWhetherATextWasCut) {
  EXPECT_FALSE(Encode({"a b", "c"}, 6).cut);
  const Encoded cut = Encode({"a b", "c"}, 5);
  EXPECT_TRUE(cut.cut);
  EXPECT_THAT(cut.ids, ElementsAre(2, 5, 3, 7, 3));
}

// A text has no more ids than the limit, whatever it is.
TEST_F(PairEncoding, ALimitBelowTheSpecialTokensCutsTheEnd) {
  for (size_t limit = 1; limit < 3; ++limit) {
    const Encoded cut = Encode({"a", "b"}, limit);
    EXPECT_TRUE(cut.cut);
    EXPECT_EQ(cut.ids.size(), limit);
    EXPECT_EQ(cut.types.size(), limit);
  }
}

TEST_F(PairEncoding, ManyPairsAreThoseOneByOne) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (int i = 0; i < 200; ++i) {
    texts.emplace_back(std::string(static_cast<size_t>(i % 7), 'a'), i % 2 == 0 ? "b c" : "d");
  }
  std::vector<TextPair> pairs;
  for (const auto& [first, second] : texts) pairs.push_back({first, second});
  const EncodedPairs encoded = tokenizer_->EncodeAllPairs(pairs, 5, 3);
  ASSERT_EQ(encoded.texts.size(), 200U);
  size_t truncated = 0;
  for (size_t p = 0; p < 200; ++p) {
    const Encoded one = Encode(pairs[p], 5);
    truncated += one.cut;
    EXPECT_TRUE(std::ranges::equal(encoded.texts[p], one.ids)) << p;
    const auto first = static_cast<size_t>(encoded.texts.starts[p]);
    EXPECT_TRUE(
        std::ranges::equal(std::span(encoded.types).subspan(first, one.types.size()), one.types));
  }
  EXPECT_EQ(encoded.texts.truncated, truncated);
}

}  // namespace
}  // namespace tandem::text
