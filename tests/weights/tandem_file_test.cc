#include "weights/tandem_file.h"

#include <gtest/gtest.h>

#include "base/temporary_folder.h"
#include "weights/error_matching.h"
#include "weights/small_model_folder.h"

namespace tandem::weights {
namespace {

class TandemFileTest : public testing::Test {
 protected:
  void Write(std::string_view text) { WriteText(folder_.path() / kTandemFile, text); }
  TandemFile Read() const { return ReadTandemFile(folder_.path()); }
  void ExpectBroken(std::string_view text, const std::vector<std::string>& messages) {
    Write(text);
    ExpectError([&] { Read(); }, ExitCode::kModel, messages);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(TandemFileTest, AFolderWithoutItHasTheDefaults) {
  const TandemFile file = Read();
  EXPECT_EQ(file.towers, Towers::kShared);
  EXPECT_FALSE(file.max_query_tokens);
  EXPECT_FALSE(file.max_document_tokens);
  EXPECT_FALSE(file.calibration);
}

TEST_F(TandemFileTest, ReadsBackWhatWasWritten) {
  Write(TandemFileText(
      {.towers = Towers::kSeparate,
       .max_query_tokens = 32,
       .max_document_tokens = 128,
       .calibration =
           Calibration{.objective = "bixse", .scale = 20.125, .bias = -3.3, .similarity = "dot"}}));
  const TandemFile file = Read();
  EXPECT_EQ(file.towers, Towers::kSeparate);
  EXPECT_EQ(file.max_query_tokens, 32u);
  EXPECT_EQ(file.max_document_tokens, 128u);
  ASSERT_TRUE(file.calibration);
  EXPECT_EQ(file.calibration->objective, "bixse");
  EXPECT_EQ(file.calibration->scale, 20.125);
  EXPECT_EQ(file.calibration->bias, -3.3);
  EXPECT_EQ(file.calibration->similarity, "dot");
}

// As version 0.4 wrote them, before lengths were kept; and with a key of a later version.
TEST_F(TandemFileTest, OlderAndNewerFilesOfTheFormatAreRead) {
  Write(R"({"format": 1, "towers": "separate_shared_projection"})");
  EXPECT_EQ(Read().towers, Towers::kSeparateSharedProjection);
  EXPECT_FALSE(Read().max_query_tokens);
  Write(R"json({"format": 1, "objective": "bixse", "probability": {"scale": 20, "bias": -9.5,
      "similarity": "cosine", "formula": "1 / (1 + exp(-(scale * score + bias)))"}})json");
  EXPECT_EQ(Read().calibration->bias, -9.5);
  EXPECT_FALSE(Read().max_document_tokens);
  Write(R"({"format": 1, "colour": "blue", "max_query_tokens": 7})");
  EXPECT_EQ(Read().max_query_tokens, 7u);
}

TEST_F(TandemFileTest, BrokenFilesAreModelErrors) {
  ExpectBroken("{", {"tandem.json", "is not JSON"});
  ExpectBroken("{}", {"'format' is missing"});
  ExpectBroken(R"({"format": 2})", {"'format' is 2", "a later version of Tandem"});
  ExpectBroken(R"({"format": 1, "towers": "three"})", {"'towers' is \"three\""});
  ExpectBroken(R"({"format": 1, "max_query_tokens": 0})", {"'max_query_tokens' is 0"});
  ExpectBroken(R"({"format": 1, "max_document_tokens": "64"})", {"'max_document_tokens' is"});
  ExpectBroken(R"({"format": 1, "probability": {"scale": 1, "similarity": "dot"}})",
               {"'bias' is missing; a number expected"});
}

}  // namespace
}  // namespace tandem::weights
