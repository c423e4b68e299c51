// Prompts that are chosen, saved and left out of pooling; embeddings that are cut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "model/dual_encoder.h"
#include "model/fingerprint.h"
#include "model/prompt_lengths.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "support/tiny_model.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/tensor.h"
#include "tensor/ops.h"

namespace tandem::model {
namespace {

using testing::HasSubstr;
using weights::Towers;
using Json = nlohmann::json;

class PromptsAndWidths : public testing::Test {
 protected:
  PromptsAndWidths() {
    WriteTinyModel(Path("base"));
    Write("base/config_sentence_transformers.json",
          R"({"prompts": {"query": "fast ", "sts": "slow red "}})");
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  void Write(const std::string& name, const std::string& text) const {
    WriteFileAtomically(Path(name), text);
  }
  std::unique_ptr<DualEncoder> Load(const LoadOptions& options = {}) const {
    return DualEncoder::Load(Path("base"), options);
  }
  static void ExpectUsageError(const std::string& text, const std::function<void()>& run) {
    try {
      run();
      ADD_FAILURE() << "no error: " << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text));
    }
  }
  // Embeddings of texts with the kind's prompt in front.
  static tensor::Tensor Encode(DualEncoder& model, TextKind kind = TextKind::kQuery) {
    PromptLengths lengths(model.tokenizer(kind), model.max_tokens(kind));
    std::vector<std::vector<int32_t>> ids;
    std::vector<int32_t> prompts;
    for (const char* text : {"red photo editor", "a", "music"}) {
      model.tokenizer(kind).Encode(model.prompt(kind) + text, 0, &ids.emplace_back());
      prompts.push_back(lengths.Of(model.prompt(kind)));
    }
    model.Prepare(kind, tensor::Precision::kFp32, tensor::Passes::kForward);
    const std::vector<std::span<const int32_t>> spans(ids.begin(), ids.end());
    return model.Encode(tensor::Pack(spans, {}, prompts), kind, {}).detach();
  }

  TemporaryFolder folder_;
};

TEST_F(PromptsAndWidths, APromptIsCountedWithTheTokenThatBeginsATextAndWithoutTheOneThatEndsIt) {
  const auto model = Load();
  PromptLengths lengths(model->tokenizer(TextKind::kQuery), 6);
  EXPECT_EQ(lengths.Of(""), 0);
  EXPECT_EQ(lengths.Of("fast "), 2);  // [CLS] fast
  EXPECT_EQ(lengths.Of("slow red "), 3);
  EXPECT_EQ(lengths.Of("slow red fast blue green alpha beta "), 5);  // cut at 6, [SEP] among them
  EXPECT_EQ(lengths.Of("fast "), 2);
}

TEST_F(PromptsAndWidths, APromptIsChosenByNameOrAsText) {
  EXPECT_EQ(Load({.chosen_query_prompt = "sts"})->prompt(TextKind::kQuery), "slow red ");
  EXPECT_EQ(Load({.chosen_query_prompt = R"(find\n)"})->prompt(TextKind::kQuery), "find\n");
  EXPECT_EQ(Load({.chosen_document_prompt = "query"})->prompt(TextKind::kDocument), "fast ");
  EXPECT_EQ(Load({.chosen_document_prompt = "query"})->prompt(TextKind::kQuery), "fast ");
  const auto two = Load({.towers = Towers::kSeparate, .chosen_query_prompt = "sts"});
  EXPECT_EQ(two->prompt(TextKind::kQuery), "slow red ");
  EXPECT_EQ(two->prompt(TextKind::kDocument), "");
  ExpectUsageError("has no prompt named stz", [&] { Load({.chosen_query_prompt = "stz"}); });
}

TEST_F(PromptsAndWidths, PromptsOfTasksAreSavedUnderTheirNames) {
  for (const Towers towers : {Towers::kShared, Towers::kSeparate}) {
    const auto model = Load({.towers = towers});
    model->set_task_prompts({{"nli", "Instruct: entailed?\nQuery: "}, {"sts", "new "}});
    model->Save(Path("saved"));
    const Json settings = Json::parse(ReadFile(Path("saved/config_sentence_transformers.json")));
    EXPECT_EQ(settings["prompts"], Json::parse(R"({"query": "fast ", "document": "", "sts": "new ",
                              "nli": "Instruct: entailed?\nQuery: "})"));
    const auto chosen = DualEncoder::Load(Path("saved"), {.chosen_query_prompt = "nli"});
    EXPECT_EQ(chosen->prompt(TextKind::kQuery), "Instruct: entailed?\nQuery: ");
  }
}

TEST_F(PromptsAndWidths, PoolingMayLeaveThePromptOut) {
  const auto with = Load();
  const auto without = Load({.pooling = {.mode = std::nullopt, .include_prompt = false}});
  EXPECT_FALSE(without->include_prompt(TextKind::kQuery));
  EXPECT_GT(LargestDifference(Encode(*with), Encode(*without)), 1e-3);
  // Documents have no prompt here: nothing is left out.
  EXPECT_TRUE(AreEqual(Encode(*with, TextKind::kDocument), Encode(*without, TextKind::kDocument)));
  EXPECT_NE(Fingerprint(*with), Fingerprint(*without));
  without->Save(Path("saved"));
  const auto loaded = DualEncoder::Load(Path("saved"));
  EXPECT_FALSE(loaded->include_prompt(TextKind::kQuery));
  EXPECT_TRUE(AreEqual(Encode(*loaded), Encode(*without)));
}

TEST_F(PromptsAndWidths, AnotherPoolingIsSaved) {
  const auto model = Load({.pooling = {.mode = weights::PoolingMode::kWeightedMean}});
  EXPECT_THAT(model->settings(), HasSubstr("pooling weightedmean\n"));
  model->Save(Path("saved"));
  const auto loaded = DualEncoder::Load(Path("saved"));
  EXPECT_TRUE(AreEqual(Encode(*loaded), Encode(*model)));
  EXPECT_GT(LargestDifference(Encode(*loaded), Encode(*Load())), 1e-3);
}

TEST_F(PromptsAndWidths, CutEmbeddingsAreTheLeadingNumbersOfUnitLengthAgain) {
  const auto whole = Load();
  const auto cut = Load({.dimensions = 12});
  EXPECT_EQ(whole->embedding_width(), 32);
  EXPECT_EQ(cut->embedding_width(), 12);
  const tensor::Tensor leading = tensor::Columns(Encode(*whole), 0, 12);
  EXPECT_LE(LargestDifference(Encode(*cut), tensor::NormalizeRows(leading)), 1e-6);
  EXPECT_TRUE(AreEqual(Encode(*Load({.dimensions = 0})), Encode(*whole)));
  EXPECT_NE(Fingerprint(*whole), Fingerprint(*cut));
  ExpectUsageError("its embeddings have 32 numbers; they cannot be cut to 33",
                   [&] { Load({.dimensions = 33}); });
}

TEST_F(PromptsAndWidths, CutEmbeddingsOfADotProductModelKeepTheirLength) {
  Write("base/config_sentence_transformers.json", R"({"similarity_fn_name": "dot"})");
  EXPECT_TRUE(AreEqual(Encode(*Load({.dimensions = 12})), tensor::Columns(Encode(*Load()), 0, 12)));
}

TEST_F(PromptsAndWidths, TheFoldersTruncateDimHoldsUntilAFlagSaysOtherwise) {
  Write("base/config_sentence_transformers.json", R"({"truncate_dim": 8})");
  EXPECT_EQ(Load()->embedding_width(), 8);
  EXPECT_EQ(Load({.dimensions = 16})->embedding_width(), 16);
  EXPECT_EQ(Load({.dimensions = 0})->embedding_width(), 32);
  EXPECT_EQ(Load({.towers = Towers::kSeparate})->embedding_width(), 8);
  Write("base/config_sentence_transformers.json", R"({"truncate_dim": 64})");
  EXPECT_EQ(Load()->embedding_width(), 32);  // as sentence-transformers
}

TEST_F(PromptsAndWidths, TruncateDimIsSaved) {
  const auto saved = [&](const DualEncoder& model) {
    model.Save(Path("saved"));
    const Json settings = Json::parse(ReadFile(Path("saved/config_sentence_transformers.json")));
    return settings.value("truncate_dim", 0);
  };
  EXPECT_EQ(saved(*Load()), 0);
  Write("base/config_sentence_transformers.json", R"({"truncate_dim": 8})");
  EXPECT_EQ(saved(*Load({.dimensions = 0})), 8);  // carried through
  for (const Towers towers : {Towers::kShared, Towers::kSeparate}) {
    const auto model = Load({.towers = towers, .dimensions = 0});
    model->set_saved_dimensions(16);
    EXPECT_EQ(saved(*model), 16);
    EXPECT_EQ(DualEncoder::Load(Path("saved"))->embedding_width(), 16);
    model->set_saved_dimensions(0);
    EXPECT_EQ(saved(*model), 0);
  }
}

// The Router's files say all that is needed where there is no tandem.json.
TEST_F(PromptsAndWidths, TwoTowersAreTheSameModelByTheirRouter) {
  for (const Towers towers : {Towers::kSeparate, Towers::kSeparateSharedProjection}) {
    Load({.max_query_tokens = 8, .document_prompt = "blue ", .towers = towers, .projection = 24})
        ->Save(Path("saved"));
    const auto by_tandem = DualEncoder::Load(Path("saved"));
    // Folders of before the Router are read as they were.
    std::filesystem::copy(Path("saved"), Path("old"), std::filesystem::copy_options::recursive);
    for (const char* file :
         {"modules.json", "router_config.json", "config_sentence_transformers.json"}) {
      EXPECT_TRUE(std::filesystem::remove(Path("old") / file)) << file;
    }
    EXPECT_TRUE(AreEqual(Encode(*DualEncoder::Load(Path("old"))), Encode(*by_tandem)));
    std::filesystem::remove_all(Path("old"));
    std::filesystem::remove(Path("saved/tandem.json"));
    const auto by_router = DualEncoder::Load(Path("saved"));
    EXPECT_FALSE(by_router->shared());
    for (const TextKind kind : {TextKind::kQuery, TextKind::kDocument}) {
      EXPECT_TRUE(AreEqual(Encode(*by_router, kind), Encode(*by_tandem, kind)));
    }
    EXPECT_EQ(by_router->prompt(TextKind::kDocument), "blue ");
    EXPECT_EQ(by_router->Parameters().size(), by_tandem->Parameters().size());
    by_router->Save(Path("again"));
    const auto again = DualEncoder::Load(Path("again"));
    EXPECT_TRUE(AreEqual(Encode(*again), Encode(*by_tandem)));
  }
}

}  // namespace
}  // namespace tandem::model
