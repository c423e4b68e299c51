// Texts that several processes (threads here) encode together.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dist/ranks.h"
#include "search/encode.h"
#include "search/encoding/embedding_cache.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::search {
namespace {

using model::TextKind;
using testing::Each;
using testing::IsEmpty;

class SharedEncoding : public testing::Test {
 protected:
  SharedEncoding() {
    WriteTinyModel(folder_.path() / "model");
    const std::vector<std::string> words = TinyWords();
    for (size_t i = 0; i < 50; ++i) {
      std::string& text = texts_.emplace_back();
      for (size_t w = 0; w <= i % 7; ++w) text += words[(i * 5 + w * 3) % words.size()] + " ";
    }
    texts_[4] = "";
  }
  std::unique_ptr<model::DualEncoder> Model() const {
    return model::DualEncoder::Load(folder_.path() / "model");
  }
  TextSource Source() const {
    return [this](size_t i) { return std::string_view(texts_[i]); };
  }
  // Encodes in windows of 16 texts.
  tensor::Tensor Encode(dist::ProcessGroup* group, EncodeCounts* counts) const {
    const auto model = Model();
    const tensor::Tensor all = tensor::Empty(
        {static_cast<int64_t>(texts_.size()), model->embedding_width()}, tensor::kFloat);
    *counts = EncodeTexts(*model, TextKind::kDocument, texts_.size(), Source(),
                          {.window_texts = 16, .group = group},
                          [&](size_t first, const tensor::Tensor& rows) {
                            all.narrow(0, static_cast<int64_t>(first), rows.size(0)).copy_(rows);
                          });
    return all;
  }
  CachedEmbeddings Embed(dist::ProcessGroup* group, const std::filesystem::path& cache) const {
    const auto model = Model();
    CachedEmbeddings found = EmbedDistinct(*model, TextKind::kDocument, texts_.size(), Source(),
                                           {.folder = cache, .encode = {.group = group}});
    found.rows = found.rows.clone();  // the model and its cache end here
    return found;
  }
  static void ExpectNear(const tensor::Tensor& got, const tensor::Tensor& want) {
    ASSERT_EQ(got.sizes(), want.sizes());
    EXPECT_LT(LargestDifference(got, want), 1e-5);
  }

  TemporaryFolder folder_;
  std::vector<std::string> texts_;
};

TEST_F(SharedEncoding, GivesEveryProcessTheRowsAndCountsOfOne) {
  EncodeCounts want_counts;
  const tensor::Tensor want = Encode(nullptr, &want_counts);
  EXPECT_EQ(want_counts.empty, 1);
  const auto errors = dist::RunRanks(3, [&](dist::ProcessGroup& group) {
    EncodeCounts counts;
    ExpectNear(Encode(&group, &counts), want);
    EXPECT_TRUE(counts == want_counts);
  });
  EXPECT_THAT(errors, Each(IsEmpty()));
}

TEST_F(SharedEncoding, OnlyRankZeroUsesTheCacheAndAllHaveItsRows) {
  const CachedEmbeddings want = Embed(nullptr, {});
  const auto cache = [&](int rank) { return folder_.path() / ("cache" + std::to_string(rank)); };
  // The second time nothing is left to encode.
  for (const size_t encoded : {want.distinct(), size_t{0}}) {
    const auto errors = dist::RunRanks(3, [&](dist::ProcessGroup& group) {
      const CachedEmbeddings got = Embed(&group, cache(group.rank()));
      ExpectNear(got.rows, want.rows);
      EXPECT_EQ(got.row_of, want.row_of);
      EXPECT_EQ(got.counts.texts, encoded);
    });
    EXPECT_THAT(errors, Each(IsEmpty()));
  }
  EXPECT_TRUE(std::filesystem::exists(cache(0)));
  EXPECT_FALSE(std::filesystem::exists(cache(1)));
}

}  // namespace
}  // namespace tandem::search
