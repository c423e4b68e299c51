#include "weights/folders/model_files.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "support/small_model_fixture.h"
#include "weights/modules/modules.h"
#include "weights/settings/settings_file.h"

namespace tandem::weights {
namespace {

using ModelFilesTest = SmallModel;

TEST_F(ModelFilesTest, AFileIsReadWhenItIsFirstAskedForAndNotAgain) {
  const ModelFiles files(path());
  Write("config.json", R"({"model_type": "one"})");
  EXPECT_EQ(files.Read("config.json").String("model_type"), "one");
  Write("config.json", R"({"model_type": "two"})");
  EXPECT_EQ(files.Read("config.json").String("model_type"), "one");
  EXPECT_EQ(files.Bytes("config.json"), R"({"model_type": "one"})");
  EXPECT_EQ(ModelFiles(path()).Read("config.json").String("model_type"), "two");
  files.Forget();
  EXPECT_EQ(files.Read("config.json").String("model_type"), "two");
}

TEST_F(ModelFilesTest, FoldersBelowAndCopiesKnowWhatWasRead) {
  const ModelFiles files(path());
  const ModelFiles copy = files;
  Write("1_Pooling/config.json", R"({"a": "old"})");
  EXPECT_EQ(files.Below("1_Pooling").Read("config.json").String("a"), "old");
  Write("1_Pooling/config.json", R"({"a": "new"})");
  EXPECT_EQ(copy.At(path() / "1_Pooling").Read("config.json").String("a"), "old");
  EXPECT_EQ(copy.Below("").Read("1_Pooling/config.json").String("a"), "old");
  ASSERT_NE(files.FindBytes(path() / "1_Pooling" / "config.json"), nullptr);
  EXPECT_EQ(files.FindBytes(path() / "config.json"), nullptr);
}

TEST_F(ModelFilesTest, WhatIsMissingOrBrokenIsSaidEachTime) {
  const ModelFiles files(path());
  Remove("config.json");
  EXPECT_TRUE(files.ReadIfThere("nothing.json").Keys().empty());
  for (int i = 0; i < 2; ++i) EXPECT_THROW(files.Read("config.json"), ModelError);
  Write("config.json", "{");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(files.ReadIfThere("config.json"), ModelError);
  Write("modules.json", "{}");
  for (int i = 0; i < 2; ++i) EXPECT_THROW(files.Modules(), ModelError);
}

// What is asked of a model later comes from the reading that made it.
TEST_F(ModelFilesTest, AModelIsOneReadingOfItsFiles) {
  const ModelFolder folder = Read();
  const std::string config = folder.encoder_files().Bytes("config.json");
  for (const char* name : {"config.json", "modules.json"}) Write(name, "{");
  EXPECT_EQ(folder.encoder_files().Read("config.json").String("model_type"),
            folder.encoder.model_type);
  EXPECT_EQ(folder.files.Modules().front().kind, "Transformer");
  const std::string* known = folder.tokenizer.KnownFiles()(folder.tokenizer.folder / "config.json");
  ASSERT_NE(known, nullptr);
  EXPECT_EQ(*known, config);
}

}  // namespace
}  // namespace tandem::weights
