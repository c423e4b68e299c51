#include "weights/safetensors/weight_files.h"

#include <gtest/gtest.h>

#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"

namespace tandem::weights {
namespace {

void WriteShard(const std::filesystem::path& path, const SmallTensor& tensor) {
  const std::vector<TensorToWrite> list = {Float32Tensor(tensor.name, tensor.shape, tensor.values)};
  WriteSafetensors(path, list);
}

class Shards : public testing::Test {
 protected:
  void SetUp() override {
    WriteShard(path() / "model-00001-of-00002.safetensors", {"a", {2}, {1, 2}});
    WriteShard(path() / "model-00002-of-00002.safetensors", {"b", {1}, {3}});
  }
  const std::filesystem::path& path() const { return folder_.path(); }
  void WriteIndex(const std::string& map) {
    WriteText(path() / "model.safetensors.index.json",
              R"({"metadata": {"total_size": 12}, "weight_map": )" + map + "}");
  }
  void ExpectBroken(const std::string& map, const std::vector<std::string>& texts) {
    WriteIndex(map);
    ExpectError([&] { WeightFiles weights(path()); }, ExitCode::kModel, texts);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(Shards, AreOneNameSpace) {
  WriteIndex(R"({"a": "model-00001-of-00002.safetensors",
                 "b": "model-00002-of-00002.safetensors"})");
  const WeightFiles weights(path());
  ASSERT_EQ(weights.tensors().size(), 2u);
  EXPECT_EQ(ToFloat32(*weights.Find("a")), (std::vector<float>{1, 2}));
  EXPECT_EQ(ToFloat32(*weights.Find("b")), (std::vector<float>{3}));
  EXPECT_EQ(weights.FileOf("b").filename(), "model-00002-of-00002.safetensors");
  EXPECT_EQ(weights.Find("c"), nullptr);
}

// transformers, too, reads the names of tensors from the files that the index lists.
TEST_F(Shards, TheirOwnHeadersSayWhereTensorsAre) {
  for (const char* map : {R"({"a": "model-00002-of-00002.safetensors",
                              "b": "model-00001-of-00002.safetensors"})",
                          R"({"a": "model-00001-of-00002.safetensors",
                              "c": "model-00002-of-00002.safetensors"})"}) {
    WriteIndex(map);
    const CapturedMessages messages;
    const WeightFiles weights(path());
    EXPECT_EQ(weights.tensors().size(), 2U) << map;
    EXPECT_EQ(weights.FileOf("a").filename(), "model-00001-of-00002.safetensors");
    EXPECT_EQ(ToFloat32(*weights.Find("b")), (std::vector<float>{3}));
    const bool says_so = messages.text().find(
                             "names 1 tensor that no file has, the first c in "
                             "model-00002-of-00002.safetensors") != std::string::npos;
    EXPECT_EQ(says_so, std::string_view(map).find("\"c\"") != std::string_view::npos);
  }
}

TEST_F(Shards, AFileThatTwoTensorsOfOneNameAreInIsNamed) {
  WriteShard(path() / "model-00002-of-00002.safetensors", {"a", {1}, {3}});
  ExpectBroken(R"({"a": "model-00001-of-00002.safetensors",
                   "b": "model-00002-of-00002.safetensors"})",
               {"model-00002-of-00002.safetensors", "another shard has it too", "(tensor a)"});
}

TEST_F(Shards, TheIndexMustListFilesOfTheFolder) {
  ExpectBroken(R"({"a": "../model.safetensors"})", {"a file in the folder", "(tensor a)"});
  ExpectBroken(R"({"a": "/etc/passwd"})", {"a file in the folder"});
  ExpectBroken(R"({"a": ".."})", {"a file in the folder"});
  ExpectBroken(R"({"a": 1})", {"a file in the folder"});
  ExpectBroken("{}", {"'weight_map' is {}"});
  ExpectBroken("[]", {"'weight_map' is []"});
}

TEST_F(Shards, AMissingOneIsNamedWithTheIndex) {
  ExpectBroken(R"({"a": "model-00001-of-00002.safetensors",
                   "b": "model-00003-of-00002.safetensors"})",
               {(path() / "model-00003-of-00002.safetensors").native() + ": is missing",
                "model.safetensors.index.json names it as one of 2 files",
                "Fetch or copy it beside the others"});
}

TEST(WeightFiles, PicklesAreNeverLoaded) {
  const TemporaryFolder folder;
  WriteText(folder.path() / "pytorch_model.bin", "cos\nsystem\n");
  ExpectError([&] { WeightFiles weights(folder.path()); }, ExitCode::kModel,
              {"pytorch_model.bin", "never loaded", "safe_serialization=True"});
}

TEST(WeightFiles, AFolderWithoutWeightsSaysWhatIsMissing) {
  const TemporaryFolder folder;
  ExpectError([&] { WeightFiles weights(folder.path()); }, ExitCode::kModel,
              {"has no weights", "model.safetensors"});
}

}  // namespace
}  // namespace tandem::weights
