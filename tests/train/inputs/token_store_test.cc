#include "train/inputs/token_store.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "train/bag_encoder.h"

namespace tandem::train {
namespace {

class Store : public testing::TestWithParam<size_t> {};  // vocabulary: below and above 16 bits

TEST_P(Store, HoldsTheTokenizersIdsOfWantedTexts) {
  const model::WordTokenizer tokenizer(GetParam());
  std::vector<std::string> texts;
  for (int i = 0; i < 70000; ++i) {  // more than one window
    texts.push_back(i % 10 == 0 ? "" : std::string("word ") + char('a' + i % 26) + " x y z");
  }
  const TokenStore store(tokenizer, {.count = texts.size(),
                                     .text = [&](size_t i) { return std::string_view(texts[i]); },
                                     .wanted = [](size_t i) { return i % 3 != 1; },
                                     .prompt = [](size_t) { return std::string_view("query: "); },
                                     .max_length = 6,
                                     .threads = 2});
  ASSERT_EQ(store.size(), texts.size());
  size_t wanted = 0, truncated = 0, tokens = 0;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> got, want;
    store.Append(i, &got);
    if (i % 3 != 1) {
      truncated += tokenizer.Encode("query: " + texts[i], 6, &want);
      ++wanted;
    }
    ASSERT_EQ(got, want) << i;
    ASSERT_EQ(store.length(i), want.size());
    tokens += want.size();
  }
  EXPECT_EQ(store.wanted(), wanted);
  EXPECT_EQ(store.truncated(), truncated);
  EXPECT_GT(truncated, 0);
  EXPECT_EQ(store.tokens(), tokens);
  EXPECT_GE(store.bytes(), tokens * (GetParam() > 65536 ? 4 : 2));
}

INSTANTIATE_TEST_SUITE_P(Widths, Store, testing::Values(997, 65536, 65537, 250000));

TEST(TokenStore, KnowsTheTokensOfPromptsWhereSomebodyAsks) {
  const model::WordTokenizer tokenizer(997);
  const std::vector<std::string> texts = {"a b", "c", "d"};
  TokenStoreInput input{.count = 3,
                        .text = [&](size_t i) { return std::string_view(texts[i]); },
                        .wanted = [](size_t i) { return i != 1; },
                        .prompt = [](size_t i) { return std::string_view(i == 0 ? "p q " : ""); },
                        .max_length = 4};
  const TokenStore without(tokenizer, input);
  EXPECT_FALSE(without.has_prompts());
  EXPECT_EQ(without.prompt_tokens(0), 0);
  EXPECT_EQ(without.only_prompt(), 0);
  input.prompt_tokens = [](std::string_view prompt) { return prompt.empty() ? 0 : 4; };
  const TokenStore with(tokenizer, input);
  EXPECT_TRUE(with.has_prompts());
  EXPECT_EQ(with.prompt_tokens(0), 4);
  EXPECT_EQ(with.prompt_tokens(2), 0);
  EXPECT_EQ(with.only_prompt(), 1);  // the first: start, p, q, end
  EXPECT_NE(with.hash(), without.hash());
  EXPECT_GT(with.bytes(), without.bytes());
}

// Whatever decides the ids is looked at: the same are taken, others are made.
TEST(SharedTokens, OnlyIdsOfTheSameTextsPromptsAndLengthsAreShared) {
  const model::WordTokenizer tokenizer(997), another(65537);
  const std::vector<std::string> texts = {"a b", "c d", "e f"};
  const auto words = [](const char* words) {
    return [words](size_t) { return std::string_view(words); };
  };
  const TokenStoreInput input{.count = 3,
                              .text = [&](size_t i) { return std::string_view(texts[i]); },
                              .wanted = [](size_t i) { return i != 1; },
                              .prompt = words("p "),
                              .max_length = 4};
  SharedTokens shared;
  const auto made_of = [&](const TokenStoreInput& one, const text::Tokenizer& by, int kind = 0) {
    const int64_t before = shared.made();
    EXPECT_EQ(shared.Of(kind, by, one).hash(), TokenStore(by, one).hash());
    return shared.made() - before;
  };
  EXPECT_EQ(made_of(input, tokenizer), 1);
  EXPECT_EQ(made_of(input, tokenizer), 0);
  EXPECT_EQ(made_of(input, tokenizer, 1), 1);
  EXPECT_EQ(made_of(input, tokenizer), 0);  // each kind has its place
  EXPECT_EQ(made_of(input, another), 1);
  TokenStoreInput changed = input;
  changed.text = words("a b");
  EXPECT_EQ(made_of(changed, another), 1);
  changed.prompt = words("q ");
  EXPECT_EQ(made_of(changed, another), 1);
  changed.prompt = nullptr;
  EXPECT_EQ(made_of(changed, another), 1);
  changed.max_length = 3;
  EXPECT_EQ(made_of(changed, another), 1);
  changed.wanted = [](size_t) { return true; };
  EXPECT_EQ(made_of(changed, another), 1);
  changed.prompt_tokens = [](std::string_view) { return 0; };
  EXPECT_EQ(made_of(changed, another), 1);
  changed.count = 2;
  EXPECT_EQ(made_of(changed, another), 1);
  EXPECT_EQ(made_of(changed, another), 0);
}

TEST(TokenStore, OfNothingIsEmpty) {
  const model::WordTokenizer tokenizer(997);
  const TokenStore store(tokenizer, {});
  EXPECT_EQ(store.size(), 0);
  EXPECT_EQ(store.tokens(), 0);
}

}  // namespace
}  // namespace tandem::train
