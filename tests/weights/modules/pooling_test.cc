// The Pooling module's configuration, read and written in both spellings.
#include "weights/modules/pooling.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "base/json/json_reader.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "weights/folders/model_folder.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

using enum PoolingMode;

Pooling PoolingOfText(const std::string& text) {
  return ReadPooling(Settings("1_Pooling/config.json", ParseJson(text)), 8);
}

TEST(ReadPooling, KnowsEveryModeInBothSpellings) {
  const std::pair<const char*, PoolingMode> kSpellings[] = {{"cls_token", kCls},
                                                            {"max_tokens", kMax},
                                                            {"mean_tokens", kMean},
                                                            {"mean_sqrt_len_tokens", kMeanSqrtLen},
                                                            {"weightedmean_tokens", kWeightedMean},
                                                            {"lasttoken", kLastToken}};
  for (const auto& [boolean, mode] : kSpellings) {
    const std::string name(PoolingModeName(mode));
    EXPECT_EQ(PoolingModeFromName(name), mode);
    EXPECT_EQ(PoolingOfText("{\"pooling_mode_" + std::string(boolean) + "\": true}").modes,
              std::vector{mode});
    EXPECT_EQ(PoolingOfText("{\"pooling_mode\": \"" + name + "\"}").modes, std::vector{mode});
    EXPECT_TRUE(PoolingOfText("{\"pooling_mode\": \"" + name + "\"}").include_prompt);
  }
}

TEST(ReadPooling, TakesSeveralModesInTheirOrder) {
  EXPECT_EQ(PoolingOfText(R"({"pooling_mode": ["mean", "cls", "mean"]})").modes,
            (std::vector{kMean, kCls, kMean}));
  EXPECT_EQ(PoolingOfText(R"({"pooling_mode_lasttoken": true, "pooling_mode_mean_tokens": true,
                     "pooling_mode_cls_token": true})")
                .modes,
            (std::vector{kCls, kMean, kLastToken}));
  // The newer key decides, as in sentence-transformers.
  EXPECT_EQ(PoolingOfText(R"({"pooling_mode": "max", "pooling_mode_mean_tokens": true})").modes,
            std::vector{kMax});
  EXPECT_EQ(PoolingOfText("{}").modes, std::vector{kMean});
  EXPECT_EQ(PoolingOfText(R"({"pooling_mode": []})").modes, std::vector{kMean});
}

TEST(ReadPooling, LeavesThePromptOutWhereItsKeyIsNull) {
  EXPECT_TRUE(PoolingOfText("{}").include_prompt);
  EXPECT_FALSE(PoolingOfText(R"({"include_prompt": false})").include_prompt);
  EXPECT_FALSE(PoolingOfText(R"({"include_prompt": null})").include_prompt);
}

TEST(ReadPooling, IsChecked) {
  const auto expect = [](const std::string& text, const std::vector<std::string>& problems) {
    ExpectError([&] { PoolingOfText(text); }, ExitCode::kModel, problems);
  };
  // The default would be the mean.
  expect(R"({"word_embedding_dimension": 8, "pooling_mode_cls_tokens": true})",
         {"1_Pooling/config.json",
          "the key 'pooling_mode_cls_tokens' is unknown, to "
          "sentence-transformers too; did you mean "
          "pooling_mode_cls_token?"});
  expect(R"({"pooling_mode": "meen"})", {"1_Pooling/config.json",
                                         "'meen' is not supported; supported: cls, max, mean, "
                                         "mean_sqrt_len_tokens, weightedmean, lasttoken",
                                         "did you mean mean?"});
  expect(R"({"pooling_mode": 3})", {"'pooling_mode' is 3"});
  expect(R"({"pooling_mode": ["mean", 3]})", {"a name or a list of names"});
  expect(R"({"word_embedding_dimension": 9})", {"is 9; 8, the encoder's hidden_size"});
  expect(R"({"include_prompt": "no"})", {"'include_prompt' is \"no\""});
}

TEST(PoolingConfigText, ReadsBackToTheSame) {
  const std::vector<PoolingMode> kAll = {kCls,         kMax,          kMean,
                                         kMeanSqrtLen, kWeightedMean, kLastToken};
  std::vector<std::vector<PoolingMode>> lists = {kAll, {kMean, kCls}, {kMax, kMax}};
  for (const PoolingMode mode : kAll) lists.push_back({mode});
  for (const auto& modes : lists) {
    for (const bool include_prompt : {true, false}) {
      const Pooling read = PoolingOfText(PoolingConfigText({modes, include_prompt}, 8));
      EXPECT_EQ(read.modes, modes);
      EXPECT_EQ(read.include_prompt, include_prompt);
    }
  }
}

// Releases before 5.4 read it, and those before 2.3 do not know the last two modes.
TEST(PoolingConfigText, HasTheSpellingThatEveryReleaseReads) {
  EXPECT_EQ(nlohmann::json::parse(PoolingConfigText({}, 8)), nlohmann::json::parse(R"({
    "word_embedding_dimension": 8, "pooling_mode_cls_token": false,
    "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": false,
    "pooling_mode_mean_sqrt_len_tokens": false})"));
  EXPECT_EQ(nlohmann::json::parse(PoolingConfigText({{kLastToken}, false}, 8)),
            nlohmann::json::parse(R"({
    "word_embedding_dimension": 8, "pooling_mode_cls_token": false,
    "pooling_mode_mean_tokens": false, "pooling_mode_max_tokens": false,
    "pooling_mode_mean_sqrt_len_tokens": false, "pooling_mode_lasttoken": true,
    "include_prompt": false})"));
}

TEST(PoolingText, SaysModesAndPrompt) {
  EXPECT_EQ(PoolingText({}), "mean");
  EXPECT_EQ(PoolingText({{kCls, kMeanSqrtLen}, false}),
            "cls + mean_sqrt_len_tokens, without the prompt's tokens");
}

class PooledModel : public testing::Test {
 protected:
  void SetUp() override { WriteSmallModel(folder_.path()); }
  ModelFolder Folder() const { return ReadModelFolder(folder_.path()); }
  TemporaryFolder folder_;
};

TEST_F(PooledModel, SeveralModesMakeWiderEmbeddings) {
  WriteText(folder_.path() / "1_Pooling/config.json", R"({"pooling_mode": ["mean", "max"]})");
  EXPECT_EQ(Folder().embedding_width, 16);
}

TEST_F(PooledModel, ItsPoolingCanBeChanged) {
  WriteText(folder_.path() / "1_Pooling/config.json", R"({"pooling_mode": ["mean", "max"]})");
  ModelFolder folder = Folder();
  ChangePooling(&folder, {});
  EXPECT_EQ(PoolingOf(folder).modes, (std::vector{kMean, kMax}));
  ChangePooling(&folder, {.mode = kLastToken, .include_prompt = false});
  EXPECT_EQ(PoolingOf(folder).modes, std::vector{kLastToken});
  EXPECT_FALSE(PoolingOf(folder).include_prompt);
  EXPECT_EQ(folder.embedding_width, 8);
}

TEST_F(PooledModel, ADenseModuleMayNotFitAnotherPooling) {
  WriteText(folder_.path() / "1_Pooling/config.json", R"({"pooling_mode": ["mean", "max"]})");
  ModelFolder folder = Folder();
  AddProjection(&folder, 4);
  ExpectError([&] { ChangePooling(&folder, {.mode = kMean}); }, ExitCode::kModel,
              {"the module takes 16 numbers", "pooling by mean gives 8"});
}

}  // namespace
}  // namespace tandem::weights
