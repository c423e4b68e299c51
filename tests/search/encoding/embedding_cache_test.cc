#include "search/encoding/embedding_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

using model::TextKind;
using testing::HasSubstr;

class EmbeddingCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(2);
    WriteTinyModel(folder_.path() / "model");
    Load();
  }
  void Load(const model::LoadOptions& options = {}) {
    model_ = model::DualEncoder::Load(folder_.path() / "model", options);
  }
  // `count` texts, of which every third is a copy of the first.
  static std::vector<std::string> Texts(size_t count) {
    const std::vector<std::string> words = TinyWords();
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      std::string text = words[i % words.size()];
      for (size_t rest = i % 3 == 2 ? 0 : i; rest > 0; rest /= words.size()) {
        text += " " + words[rest % words.size()];
      }
      texts.push_back(i % 3 == 2 ? texts[0] : text);
    }
    return texts;
  }
  CachedEmbeddings Embed(const std::vector<std::string>& texts, CacheOptions options,
                         TextKind kind = TextKind::kDocument) {
    options.encode.threads = 2;
    return EmbedDistinct(
        *model_, kind, texts.size(), [&](size_t i) { return std::string_view(texts[i]); }, options);
  }
  CachedEmbeddings Embed(const std::vector<std::string>& texts,
                         TextKind kind = TextKind::kDocument) {
    return Embed(texts, {.folder = Cache()}, kind);
  }
  std::filesystem::path Cache() const { return folder_.path() / "cache"; }
  size_t Files() const {
    size_t files = 0;
    for ([[maybe_unused]] const auto& one :
         std::filesystem::directory_iterator(Cache() / "embeddings")) {
      ++files;
    }
    return files;
  }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
};

TEST_F(EmbeddingCacheTest, EncodesEachDistinctTextOnceAndFindsItAgain) {
  const std::vector<std::string> texts = Texts(60);
  const CachedEmbeddings made = Embed(texts);
  EXPECT_LT(made.distinct(), 45U);
  EXPECT_EQ(made.counts.texts, made.distinct());
  ASSERT_EQ(made.row_of.size(), texts.size());
  EXPECT_EQ(made.row_of[2], made.row_of[0]);
  EXPECT_TRUE(std::filesystem::exists(made.file));
  const CapturedMessages messages;
  const CachedEmbeddings found = Embed(texts);
  EXPECT_EQ(found.counts.texts, 0U);
  EXPECT_TRUE(AreEqual(made.rows, found.rows));
  EXPECT_EQ(made.row_of, found.row_of);
  const std::string all = std::to_string(made.distinct());
  EXPECT_THAT(messages.text(), HasSubstr(all + " of " + all + " embeddings are from "));
}

// What encoding says of texts that are cut is said of those of the cache too.
TEST_F(EmbeddingCacheTest, SaysHowManyTextsFromTheCacheWereCut) {
  Load({.max_document_tokens = 4});
  const std::vector<std::string> texts = {"alpha", "alpha beta gamma", "alpha beta gamma delta",
                                          "alpha"};
  const CachedEmbeddings made = Embed(texts);
  EXPECT_EQ(made.counts.truncated, 2U);
  const std::string said =
      "warning: 2 of 3 documents from the cache are longer than 4 tokens and were cut there\n";
  {
    const CapturedMessages messages;
    Embed(texts);
    EXPECT_THAT(messages.text(), testing::EndsWith(said));
  }
  const CapturedMessages messages;
  EXPECT_TRUE(FindInCache(*model_, TextKind::kDocument, texts.size(),
                          [&](size_t i) { return std::string_view(texts[i]); },
                          {.folder = Cache()}));
  EXPECT_THAT(messages.text(), testing::EndsWith(said));
}

TEST_F(EmbeddingCacheTest, TextsWithPromptsOfTheirOwn) {
  const std::vector<std::string> texts = {"alpha", "beta", "alpha", "alpha"};
  const std::vector<std::string> prompts = {"gamma ", "", "", "gamma "};
  const auto embed = [&](const PromptSource& prompt) {
    return Embed(texts, {.folder = Cache(), .encode = {.prompt = prompt}});
  };
  const CachedEmbeddings made = embed([&](size_t i) { return std::string_view(prompts[i]); });
  EXPECT_EQ(made.row_of, (std::vector<uint32_t>{0, 1, 2, 0}));  // the same text under two prompts
  const CachedEmbeddings by_hand = Embed({"gamma alpha", "beta", "alpha"}, CacheOptions{});
  EXPECT_TRUE(AreEqual(made.rows, by_hand.rows));
  EXPECT_EQ(Files(), 1);
  EXPECT_EQ(embed([&](size_t i) { return std::string_view(prompts[i]); }).counts.texts, 0);
  embed([&](size_t i) -> std::string_view {
    if (i == 1) return "delta ";
    return prompts[i];
  });
  embed(nullptr);
  EXPECT_EQ(Files(), 3);
}

// Prompts are those of their texts in every block, also of an encoding that goes on.
TEST_F(EmbeddingCacheTest, TextsOfManyBlocksWithPromptsOfTheirOwn) {
  const std::vector<std::string> texts = Texts(9000);
  const auto prompt_of = [](size_t i) { return std::string_view(i % 3 == 0 ? "gamma " : ""); };
  std::vector<std::string> written;
  for (size_t i = 0; i < texts.size(); ++i) {
    written.push_back(std::string(prompt_of(i)) + texts[i]);
  }
  CacheOptions options{.folder = Cache(), .encode = {.prompt = prompt_of}};
  options.between_blocks = [] { throw std::runtime_error("stopped"); };
  EXPECT_THROW(Embed(texts, options), std::runtime_error);
  options.between_blocks = nullptr;
  const CachedEmbeddings made = Embed(texts, options);
  const CachedEmbeddings by_hand = Embed(written, CacheOptions{});
  EXPECT_LT(made.counts.texts, made.distinct());
  EXPECT_EQ(made.row_of, by_hand.row_of);
  EXPECT_TRUE(AreEqual(made.rows, by_hand.rows));
}

TEST_F(EmbeddingCacheTest, RowsAreWhatTheEncoderMakes) {
  const std::vector<std::string> texts = {"alpha beta", "alpha beta", "red"};
  const CachedEmbeddings cached = Embed(texts, TextKind::kQuery);
  data::Texts distinct;
  distinct.Add("a", texts[0]);
  distinct.Add("b", texts[2]);
  EXPECT_TRUE(AreEqual(cached.rows, EncodeAll(*model_, TextKind::kQuery, distinct, {})));
}

TEST_F(EmbeddingCacheTest, WithoutACacheTheBytesAreTheSame) {
  const std::vector<std::string> texts = Texts(9000);  // several blocks
  const CachedEmbeddings memory = Embed(texts, CacheOptions{});
  EXPECT_TRUE(memory.file.empty());
  EXPECT_GT(memory.distinct(), 4096U);
  const CachedEmbeddings kept = Embed(texts);
  EXPECT_TRUE(AreEqual(memory.rows, kept.rows));
  EXPECT_EQ(memory.counts.tokens, kept.counts.tokens);
}

TEST_F(EmbeddingCacheTest, AnInterruptedEncodingGoesOn) {
  const std::vector<std::string> texts = Texts(9000);
  const CacheOptions stopped{.folder = Cache(),
                             .between_blocks = [] { throw std::runtime_error("stopped"); }};
  EXPECT_THROW(Embed(texts, stopped), std::runtime_error);
  const CapturedMessages messages;
  const CachedEmbeddings rest = Embed(texts);
  EXPECT_EQ(rest.counts.texts, rest.distinct() - 4096);
  EXPECT_THAT(messages.text(), HasSubstr("4096 of "));
  EXPECT_TRUE(AreEqual(rest.rows, Embed(texts, CacheOptions{}).rows));
}

TEST_F(EmbeddingCacheTest, WhateverDecidesTheBytesIsAnotherFile) {
  const std::vector<std::string> texts = {"alpha red", "beta fast", "gamma music zebra"};
  Embed(texts);
  Embed(texts, TextKind::kQuery);
  EXPECT_EQ(Files(), 2U);
  Embed({texts[1], texts[0], texts[2]});
  EXPECT_EQ(Files(), 3U);
  Load({.document_prompt = "alpha "});
  Embed(texts);
  EXPECT_EQ(Files(), 4U);
  Load({.max_document_tokens = 4});
  Embed(texts);
  EXPECT_EQ(Files(), 5U);
  Load();
  model_->Parameters()[7].value.data_ptr<float>()[0] += 1e-6F;
  Embed(texts);
  EXPECT_EQ(Files(), 6U);
  tensor::SetUpProcess(1);
  Embed(texts);
  EXPECT_EQ(Files(), 7U);
  tensor::SetUpProcess(2);
  Load();
  Embed(texts);
  EXPECT_EQ(Files(), 7U);
  if (tensor::ResolvePrecision("auto") == tensor::Precision::kBf16) {
    Embed(texts, {.folder = Cache(), .encode = {.precision = tensor::Precision::kBf16}});
    EXPECT_EQ(Files(), 8U);
  }
}

TEST_F(EmbeddingCacheTest, AnotherTokenizerIsAnotherFile) {
  const std::vector<std::string> texts = {"alpha red", "beta fast"};
  Embed(texts);
  const auto config = folder_.path() / "model" / "tokenizer_config.json";
  WriteFileAtomically(config, R"({"do_lower_case": false})");
  Load();
  Embed(texts);
  EXPECT_EQ(Files(), 2U);
}

TEST_F(EmbeddingCacheTest, AnAlteredFileIsSaidAndMadeAgain) {
  const std::vector<std::string> texts = Texts(60);
  const CachedEmbeddings made = Embed(texts);
  const std::string whole = ReadFile(made.file);
  std::string altered = whole;
  altered.back() ^= 1;
  WriteFileAtomically(made.file, altered);
  const CapturedMessages messages;
  const CachedEmbeddings again = Embed(texts);
  EXPECT_THAT(messages.text(), HasSubstr("1 of 1 blocks are not as they were written"));
  EXPECT_EQ(again.counts.texts, made.distinct());
  EXPECT_EQ(ReadFile(made.file), whole);
}

TEST_F(EmbeddingCacheTest, AnotherModelsFileUnderThisNameIsNotUsed) {
  const std::vector<std::string> texts = Texts(60);
  const CachedEmbeddings one = Embed(texts);
  WriteTinyModel(folder_.path() / "other", {.seed = 2});
  model_ = model::DualEncoder::Load(folder_.path() / "other");
  const CachedEmbeddings two = Embed(texts);
  ASSERT_NE(one.file, two.file);
  ASSERT_FALSE(AreEqual(one.rows, two.rows));
  const tensor::Tensor right = two.rows.clone();
  std::filesystem::remove(two.file);
  std::filesystem::copy_file(one.file, two.file);
  const CapturedMessages messages;
  const CachedEmbeddings again = Embed(texts);
  EXPECT_THAT(messages.text(), HasSubstr("belongs to another model"));
  EXPECT_TRUE(AreEqual(again.rows, right));
}

TEST_F(EmbeddingCacheTest, ACacheThatCannotBeWrittenIsSaidAndNotNeeded) {
  WriteFileAtomically(Cache(), "a file");
  const std::vector<std::string> texts = Texts(60);
  const CapturedMessages messages;
  const CachedEmbeddings made = Embed(texts);
  EXPECT_THAT(messages.text(), HasSubstr("embeddings are not kept: "));
  EXPECT_TRUE(made.file.empty());
  EXPECT_TRUE(AreEqual(made.rows, Embed(texts, CacheOptions{}).rows));
}

TEST_F(EmbeddingCacheTest, WhatIsAboveTheLimitIsNotKept) {
  const std::vector<std::string> texts = Texts(60);
  const CapturedMessages messages;
  const CachedEmbeddings made = Embed(texts, {.folder = Cache(), .limit = 8192});
  EXPECT_THAT(messages.text(), HasSubstr("TANDEM_CACHE_BYTES leaves the cache 8.0 KiB"));
  EXPECT_TRUE(AreEqual(made.rows, Embed(texts, CacheOptions{}).rows));
  EXPECT_EQ(Files(), 0U);
}

// What is on the disk already and what is encoded afterwards are one set of rows.
TEST_F(EmbeddingCacheTest, ADiskThatFillsUpOnTheWayLosesNothing) {
  const std::vector<std::string> texts = Texts(13000);  // three blocks
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto on_excess = ::signal(SIGXFSZ, SIG_IGN);
  CacheOptions options{.folder = Cache()};
  options.between_blocks =
      [&] {  // the file has its size by now; its second block cannot be written
        const rlimit small{8192, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
      };
  const CapturedMessages messages;
  const CachedEmbeddings made = Embed(texts, options);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, on_excess);
  EXPECT_GT(made.distinct(), 8192U);
  EXPECT_THAT(messages.text(), HasSubstr("embeddings are not kept: "));
  EXPECT_EQ(made.counts.texts, made.distinct());
  EXPECT_TRUE(AreEqual(made.rows, Embed(texts, CacheOptions{}).rows));
  const CapturedMessages again;
  EXPECT_TRUE(AreEqual(made.rows, Embed(texts).rows));  // goes on after the first block
  EXPECT_THAT(again.text(), HasSubstr("4096 of "));
}

TEST_F(EmbeddingCacheTest, InOrderAreTheRowsOfAllTextsWithACacheAndWithout) {
  for (const size_t count : {size_t{1}, size_t{60}, size_t{9000}}) {
    const std::vector<std::string> texts = Texts(count);
    const tensor::Tensor expected = Embed(texts, CacheOptions{}).RowsOf(0, count);
    const auto in_order = [&](CacheOptions options) {
      options.encode.threads = 2;
      options.encode.window_texts = 1000;
      tensor::Tensor rows =
          tensor::Empty({static_cast<int64_t>(count), expected.size(1)}, tensor::kFloat);
      size_t next = 0;
      const EncodeCounts counts = EmbedInOrder(
          *model_, TextKind::kDocument, count, [&](size_t i) { return std::string_view(texts[i]); },
          options,
          [&](size_t first, const tensor::Tensor& window) {
            EXPECT_EQ(first, next);
            next += static_cast<size_t>(window.size(0));
            EXPECT_EQ(static_cast<size_t>(window.size(0)), std::min<size_t>(1000, count - first));
            rows.narrow(0, static_cast<int64_t>(first), window.size(0)).copy_(window);
          });
      EXPECT_EQ(next, count);
      EXPECT_TRUE(AreEqual(rows, expected)) << count;
      return counts;
    };
    const EncodeCounts without = in_order({});
    EXPECT_EQ(without.texts, Embed(texts, CacheOptions{}).distinct());
    EXPECT_EQ(in_order({.folder = Cache()}).texts, without.texts);
    EXPECT_EQ(in_order({.folder = Cache()}).texts, 0U);
    EXPECT_EQ(Embed(texts).counts.texts, 0U);  // the same file
  }
}

TEST_F(EmbeddingCacheTest, WhoAsksIsToldOfTextsThatAreToBeEncodedAlone) {
  const std::vector<std::string> texts = Texts(60);
  std::vector<size_t> told;
  CacheOptions options{.folder = Cache()};
  options.encode.before = [&](const EncodingAhead& ahead) {
    told.push_back(ahead.count);
    EXPECT_EQ(ahead.texts, ahead.count);
    EXPECT_EQ(ahead.text(0), texts[0]);
  };
  const size_t distinct = Embed(texts, options).distinct();
  EXPECT_EQ(told, std::vector<size_t>{distinct});
  Embed(texts, options);
  EXPECT_EQ(told.size(), 1U);
}

TEST_F(EmbeddingCacheTest, NoTextsHaveNoRows) {
  const CachedEmbeddings none = Embed(std::vector<std::string>{});
  EXPECT_EQ(none.rows.size(0), 0);
  EXPECT_EQ(none.rows.size(1), model_->embedding_width());
}

}  // namespace
}  // namespace tandem::search
