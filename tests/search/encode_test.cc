#include "search/encode.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "search/encoding/embedding_cache.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"
#include "tensor/machine/process.h"
#include "weights/modules/pooling.h"

namespace tandem::search {
namespace {

data::Texts SomeTexts(size_t count) {
  const std::vector<std::string> words = TinyWords();
  RandomStream stream({.seed = 1, .purpose = "encode_test"});
  data::Texts texts;
  for (size_t i = 0; i < count; ++i) {
    std::string text;
    for (uint64_t w = stream.Below(12); w > 0; --w) text += words[stream.Below(words.size())] + " ";
    texts.Add("t" + std::to_string(i), text);
  }
  return texts;
}

class EncodeTest : public testing::Test {
 protected:
  void SetUp() override {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path() / "model");
  }
  void TearDown() override { tensor::SetUpProcess(0); }
  std::unique_ptr<model::DualEncoder> Load(const model::LoadOptions& options = {}) const {
    return model::DualEncoder::Load(folder_.path() / "model", options);
  }
  TemporaryFolder folder_;
};

TEST_F(EncodeTest, WindowsAndBatchesChangeNothingButRounding) {
  const auto model = Load();
  const data::Texts texts = SomeTexts(57);
  const tensor::Tensor whole = EncodeAll(*model, model::TextKind::kDocument, texts, {});
  const tensor::Tensor pieces =
      EncodeAll(*model, model::TextKind::kDocument, texts, {.batch_tokens = 2, .window_texts = 2});
  EXPECT_LE(LargestDifference(whole, pieces), 1e-6);
}

// Encodes on one thread, on several, and on so many that the last ones get no text.
TEST_F(EncodeTest, ThreadsWithBatchesOfTheirOwnChangeNothingButRounding) {
  const auto model = Load();
  const data::Texts texts = SomeTexts(1057);
  const EncodeOptions together{.thread_batch_tokens = size_t{1} << 30};
  const tensor::Tensor whole = EncodeAll(*model, model::TextKind::kDocument, texts, together);
  for (const int threads : {1, 2, 5, 16}) {
    tensor::SetUpProcess(threads);
    for (const size_t tokens : {1, 8, 40}) {
      EncodeCounts counts;
      const tensor::Tensor apart = EncodeAll(*model, model::TextKind::kDocument, texts,
                                             {.thread_batch_tokens = tokens}, &counts);
      EXPECT_LE(LargestDifference(whole, apart), 1e-6) << threads << ", " << tokens;
      EXPECT_EQ(counts.texts, 1057U);
      const tensor::Tensor again =
          EncodeAll(*model, model::TextKind::kDocument, texts, {.thread_batch_tokens = tokens});
      EXPECT_TRUE(AreEqual(apart, again)) << threads << ", " << tokens;
    }
  }
}

// Each text's own prompt is left out of pooling, whatever batch and window it is in.
TEST_F(EncodeTest, PoolingLeavesOutThePromptOfEachText) {
  const auto model = Load({.pooling = {.mode = std::nullopt, .include_prompt = false}});
  const data::Texts texts = SomeTexts(9);
  const std::vector<std::string> prompts = {"", "alpha ", "alpha beta gamma "};
  const std::vector<int32_t> tokens = {0, 2, 4};  // [CLS] among them
  EncodeOptions options{.batch_tokens = 24, .window_texts = 4};
  options.prompt = [&](size_t i) { return std::string_view(prompts[i % 3]); };
  const tensor::Tensor rows = EncodeAll(*model, model::TextKind::kDocument, texts, options);
  const tensor::NoGradGuard no_gradient;
  for (size_t i = 0; i < texts.size(); ++i) {
    std::vector<int32_t> ids;
    model->tokenizer(model::TextKind::kDocument)
        .Encode(prompts[i % 3] + std::string(texts.text(i)), 0, &ids);
    const std::span<const int32_t> span(ids);
    const tensor::Tensor want = model->Encode(tensor::Pack({&span, 1}, {}, {&tokens[i % 3], 1}),
                                              model::TextKind::kDocument, {});
    EXPECT_LE(LargestDifference(rows[static_cast<int64_t>(i)], want[0]), 1e-6) << i;
  }
  const tensor::Tensor whole = EncodeAll(*Load(), model::TextKind::kDocument, texts, options);
  EXPECT_LE(LargestDifference(rows[0], whole[0]), 1e-6);
  EXPECT_GT(LargestDifference(rows[1], whole[1]), 1e-3);
}

TEST_F(EncodeTest, AStreamGivesTheSameRowsAndCountsInWindowsOfAnySize) {
  const auto model = Load();
  const data::Texts texts = SomeTexts(57);
  EncodeCounts wanted;
  const tensor::Tensor whole = EncodeAll(*model, model::TextKind::kDocument, texts, {}, &wanted);
  for (const size_t size : {1U, 5U, 57U, 100U}) {
    const EncodeOptions options;
    StreamEncoder encoder(*model, model::TextKind::kDocument, options, texts.size());
    EncodeCounts counts;
    for (size_t first = 0; first < texts.size(); first += size) {
      std::vector<std::string> window;
      for (size_t i = first; i < std::min(first + size, texts.size()); ++i) {
        window.emplace_back(texts.text(i));
      }
      EncodeCounts of_window;
      const tensor::Tensor rows = encoder.Encode(window, &of_window);
      EXPECT_EQ(of_window.texts, window.size());
      counts += of_window;
      const tensor::Tensor want = whole.narrow(0, static_cast<int64_t>(first), rows.size(0));
      EXPECT_LE(LargestDifference(rows, want), 1e-6);
    }
    EXPECT_EQ(counts, wanted);
  }
}

TEST_F(EncodeTest, StopsBetweenPasses) {
  const auto model = Load();
  const data::Texts texts = SomeTexts(57);
  size_t asked = 0;
  const EncodeOptions options{.batch_tokens = 64, .stop = [&] { return ++asked > 2 ? 15 : 0; }};
  try {
    EncodeAll(*model, model::TextKind::kDocument, texts, options);
    FAIL() << "went on to the end";
  } catch (const Interrupted& stopped) {
    EXPECT_EQ(static_cast<int>(stopped.exit_code()), 128 + 15);
  }
  EXPECT_EQ(asked, 3U);
}

TEST_F(EncodeTest, TellsWhichShareOfAWindowIsDoneWhereNobodyMayStopIt) {
  const auto model = Load();
  const data::Texts texts = SomeTexts(57);
  std::vector<double> shares;
  EncodeOptions options{.batch_tokens = 64,
                        .thread_batch_tokens = 64,
                        .window_share = [&](double share) { shares.push_back(share); }};
  EncodeAll(*model, model::TextKind::kDocument, texts, options);
  ASSERT_GT(shares.size(), 2U);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_GT(shares[1], 0);
  EXPECT_LT(shares[1], 0.5);
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);

  shares.clear();
  options.stop = [] { return 0; };
  EncodeAll(*model, model::TextKind::kDocument, texts, options);
  EXPECT_TRUE(shares.empty());
}

TEST_F(EncodeTest, CountsTruncatedAndEmptyTexts) {
  const auto model = Load({.max_document_tokens = 6});
  data::Texts texts;
  texts.Add("long", "red green blue red green blue");
  texts.Add("fits", "red green blue fast");
  texts.Add("empty", "  ");
  EncodeCounts counts;
  EncodeAll(*model, model::TextKind::kDocument, texts, {}, &counts);
  EXPECT_EQ(counts.truncated, 1U);
  EXPECT_EQ(counts.empty, 1U);
  EXPECT_EQ(counts.tokens, 6U + 6U + 2U);
}

// tokenizer.json of the tiny vocabulary, without special tokens around a text. BertTokenizer would
// put its own there.
std::string BareTokenizer() {
  std::istringstream lines(TinyVocabulary());
  std::string vocabulary, line;
  for (int id = 0; std::getline(lines, line); ++id) {
    vocabulary += (id > 0 ? ", \"" : "\"") + line + "\": " + std::to_string(id);
  }
  return R"({"version": "1.0", "added_tokens": [], "normalizer": null, "post_processor": null,
             "pre_tokenizer": {"type": "BertPreTokenizer"},
             "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
                       "max_input_chars_per_word": 100, "vocab": {)" +
         vocabulary + "}}}";
}

TEST_F(EncodeTest, AnEmptyTextWithoutSpecialTokensHasAnEmbeddingOfZeros) {
  WriteFileAtomically(folder_.path() / "model" / "tokenizer.json", BareTokenizer());
  WriteFileAtomically(folder_.path() / "model" / "tokenizer_config.json",
                      R"({"tokenizer_class": "PreTrainedTokenizerFast"})");
  data::Texts with, without;
  with.Add("a", "red green");
  with.Add("empty", "");
  with.Add("b", "file");
  without.Add("a", "red green");
  without.Add("b", "file");
  using enum weights::PoolingMode;
  for (const weights::PoolingMode mode :
       {kMean, kMeanSqrtLen, kWeightedMean, kMax, kCls, kLastToken}) {
    for (const bool include_prompt : {true, false}) {
      SCOPED_TRACE(fmt::format("{} {}", weights::PoolingModeName(mode), include_prompt));
      const auto model = Load({.pooling = {.mode = mode, .include_prompt = include_prompt}});
      EncodeCounts counts;
      const tensor::Tensor rows = EncodeAll(*model, model::TextKind::kDocument, with, {}, &counts);
      EXPECT_EQ(counts.tokenless, 1U);
      EXPECT_EQ(counts.empty, 0U);
      const CachedEmbeddings cached = EmbedDistinct(*model, model::TextKind::kDocument, with.size(),
                                                    [&](size_t i) { return with.text(i); }, {});
      EXPECT_EQ(cached.counts, counts);
      EXPECT_EQ(LargestOf(rows[1]), 0);
      const tensor::Tensor alone = EncodeAll(*model, model::TextKind::kDocument, without, {});
      EXPECT_LE(LargestDifference(rows[0], alone[0]), 1e-6);
      EXPECT_LE(LargestDifference(rows[2], alone[1]), 1e-6);
      EXPECT_GT(LargestOf(alone), 0.01);
    }
  }
}

TEST_F(EncodeTest, APromptGoesBeforeTheText) {
  const auto prompted = Load({.query_prompt = "red "});
  const auto plain = Load();
  data::Texts without, with;
  without.Add("q", "file");
  with.Add("q", "red file");
  const tensor::Tensor a = EncodeAll(*prompted, model::TextKind::kQuery, without, {});
  const tensor::Tensor b = EncodeAll(*plain, model::TextKind::kQuery, with, {});
  EXPECT_TRUE(AreEqual(a, b));
}

}  // namespace
}  // namespace tandem::search
