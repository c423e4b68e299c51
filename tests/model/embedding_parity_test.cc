// The real all-MiniLM-L6-v2 against sentence-transformers, on 1,000 texts of different lengths.
// Golden numbers: tools/golden/make_embedding_golden.py.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "model/dual_encoder.h"
#include "model/embedding_golden.h"
#include "support/test_data.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"

namespace tandem::model {
namespace {

constexpr size_t kBatch = 50;

TEST(EmbeddingParity, EqualsSentenceTransformersOnAThousandTexts) {
  const auto shared = SharedDir();
  if (!shared) GTEST_SKIP() << kNoSharedDir;
  const auto folder = ModelDir();
  if (!folder) GTEST_SKIP() << kNoModelDir;
  tensor::SetUpProcess(0);
  const tensor::NoGradGuard no_gradient;
  const EmbeddingGolden golden = ReadEmbeddingGolden(std::filesystem::path(TANDEM_SOURCE_DIR) /
                                                     "tests/model/golden/all_minilm_l6_v2.tsv");
  const std::vector<std::string> texts = GoldenTexts(*shared);
  ASSERT_EQ(GoldenTextHash(texts), golden.text_hash) << "the reference data has changed";
  ASSERT_EQ(texts.size(), golden.rows.size());
  const auto model = DualEncoder::Load(*folder);
  model->Prepare(TextKind::kDocument, tensor::Precision::kFp32, tensor::Passes::kForward);
  double worst = 0;
  for (size_t first = 0; first < texts.size(); first += kBatch) {
    const std::vector<std::string_view> batch(
        texts.begin() + static_cast<std::ptrdiff_t>(first),
        texts.begin() + static_cast<std::ptrdiff_t>(std::min(texts.size(), first + kBatch)));
    const text::EncodedTexts ids = model->tokenizer(TextKind::kDocument)
                                       .EncodeAll(batch, model->max_tokens(TextKind::kDocument), 2);
    std::vector<std::span<const int32_t>> spans;
    for (size_t b = 0; b < ids.size(); ++b) {
      ASSERT_EQ(ids[b].size(), golden.rows[first + b].tokens) << "text " << first + b;
      spans.push_back(ids[b]);
    }
    const tensor::Tensor rows = model->Encode(tensor::Pack(spans), TextKind::kDocument, {});
    for (size_t b = 0; b < ids.size(); ++b) {
      const auto width = static_cast<size_t>(rows.size(1));
      worst = std::max(
          worst, GoldenDifference({rows.data_ptr<float>() + b * width, width}, golden, first + b));
    }
  }
  EXPECT_LE(worst, 1e-5);
  RecordProperty("worst_difference", std::to_string(worst));
}

}  // namespace
}  // namespace tandem::model
