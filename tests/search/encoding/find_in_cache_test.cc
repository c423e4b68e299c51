// FindInCache: embeddings that EmbedDistinct has kept, for those who keep none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "search/encoding/embedding_cache.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"

namespace tandem::search {
namespace {

using model::TextKind;

class FindInCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(2);
    WriteTinyModel(folder_.path() / "model");
    model_ = model::DualEncoder::Load(folder_.path() / "model");
  }
  // `count` texts, of which every third is a copy of the first.
  static std::vector<std::string> Texts(size_t count) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      texts.push_back(i % 3 == 2 ? texts[0] : TinyWords()[0] + " " + std::to_string(i));
    }
    return texts;
  }
  CachedEmbeddings Embed(const std::vector<std::string>& texts, CacheOptions options) {
    options.folder = Cache();
    return EmbedDistinct(
        *model_, TextKind::kDocument, texts.size(),
        [&](size_t i) { return std::string_view(texts[i]); }, options);
  }
  CachedEmbeddings Embed(const std::vector<std::string>& texts) { return Embed(texts, {}); }
  std::filesystem::path Cache() const { return folder_.path() / "cache"; }

  TemporaryFolder folder_;
  std::unique_ptr<model::DualEncoder> model_;
};

TEST_F(FindInCacheTest, FindsTextsOfWhichSomeAreCopies) {
  const std::vector<std::string> texts = Texts(60);
  std::vector<size_t> asked;
  const auto find = [&](const std::vector<std::string>& of, CacheOptions options) {
    asked.clear();
    options.folder = Cache();
    return FindInCache(
        *model_, TextKind::kDocument, of.size(),
        [&](size_t i) {
          asked.push_back(i);
          return std::string_view(of[i]);
        },
        options);
  };
  EXPECT_FALSE(find(texts, {}));
  EXPECT_TRUE(asked.empty());  // the cache knows nothing of this model
  const CachedEmbeddings made = Embed(texts);
  const CapturedMessages messages;
  const auto found = find(texts, {.encode = {.label = "encode"}});
  ASSERT_TRUE(found);
  EXPECT_TRUE(AreEqual(found->RowsOf(0, texts.size()), made.RowsOf(0, texts.size())));
  EXPECT_EQ(found->row_of, made.row_of);
  EXPECT_THAT(messages.text(),
              testing::StartsWith("encode: " + std::to_string(60 - made.distinct()) +
                                  " of 60 texts are copies of others and share their embeddings: " +
                                  std::to_string(made.distinct()) + " are left\nencode: "));
  const std::vector<std::string> distinct = {"alpha", "beta", "gamma"};
  EXPECT_FALSE(find(distinct, {}));
  const CachedEmbeddings three = Embed(distinct);
  const auto all = find(distinct, {});
  ASSERT_TRUE(all);
  EXPECT_EQ(asked.size(), 3U);
  EXPECT_TRUE(AreEqual(all->RowsOf(1, 2), three.RowsOf(1, 2)));
}

TEST_F(FindInCacheTest, SaysWhyNothingIsFound) {
  const auto why = [&](const std::vector<std::string>& texts, CacheOptions options) {
    options.folder = Cache();
    const CapturedMessages messages;
    EXPECT_FALSE(FindInCache(
        *model_, TextKind::kDocument, texts.size(),
        [&](size_t i) { return std::string_view(texts[i]); }, options));
    return messages.text();
  };
  const std::vector<std::string> texts = {"alpha", "beta"};
  EXPECT_EQ(why(texts, {}), "");
  Embed(texts);
  EXPECT_EQ(why({"alpha", "gamma"}, {}),
            "all 2 texts are encoded: the cache has embeddings by this model of other texts\n");
  EXPECT_EQ(why({"alpha"}, {}), "");  // the cache has nothing so small
  EXPECT_EQ(why(texts, {.encode = {.precision = tensor::Precision::kInt8}}),
            "all 2 texts are encoded: the cache has embeddings by this model that were made in "
            "another way (\"precision fp32\", here \"precision int8\")\n");
  const std::vector<std::string> many = Texts(9000);
  CacheOptions stopped{.folder = Cache()};
  stopped.between_blocks = [] { throw std::runtime_error("stopped"); };
  EXPECT_THROW(Embed(many, stopped), std::runtime_error);
  EXPECT_EQ(why(many, {}),
            "all 9000 texts are encoded: the cache has 4096 of their embeddings, of a command that "
            "was stopped\n");
}

}  // namespace
}  // namespace tandem::search
