#include "weights/folders/average_models.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/captured_messages.h"
#include "support/error_matching.h"
#include "support/small_model_folder.h"
#include "support/temporary_folder.h"
#include "weights/folders/model_folder.h"
#include "weights/folders/tandem_file.h"

namespace tandem::weights {
namespace {

constexpr const char* kWord = "embeddings.word_embeddings.weight";
constexpr const char* kKey = "encoder.layer.0.attention.self.key.weight";

// A base and a tuned model, which differs from it in every number of the word table.
class AverageModelsTest : public testing::Test {
 protected:
  AverageModelsTest() {
    WriteSmallModel(Path("base"));
    WriteSmallModel(Path("tuned"));
    tuned_ = SmallBertTensors();
    for (SmallTensor& tensor : tuned_) {
      if (tensor.name != kWord) continue;
      for (size_t i = 0; i < tensor.values.size(); ++i) tensor.values[i] += 0.01F * (1 + i % 7);
    }
    WriteTensors(Path("tuned/model.safetensors"), tuned_);
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }
  void Average(double weight, const std::string& output) const {
    AverageModels(Path("base"), Path("tuned"), weight, Path(output));
  }
  // Each tensor's bytes of a model file, with its type.
  static std::vector<std::string> TensorsOf(const std::filesystem::path& file) {
    std::vector<std::string> all;
    const SafetensorsFile opened(file);
    for (const TensorView& view : opened.tensors()) {
      all.push_back(view.name + std::string(DtypeName(view.dtype)) + std::string(view.bytes));
    }
    return all;
  }
  void ExpectRefused(const std::vector<std::string>& texts) const {
    ExpectError([&] { Average(0.5, "refused"); }, ExitCode::kModel, texts);
    EXPECT_FALSE(std::filesystem::exists(Path("refused")));
  }

  TemporaryFolder folder_;
  std::vector<SmallTensor> tuned_;
};

TEST_F(AverageModelsTest, TheEndsAreTheTwoModelsByteForByte) {
  Average(0, "zero");
  Average(1, "one");
  EXPECT_EQ(ReadFile(Path("zero/model.safetensors")), ReadFile(Path("base/model.safetensors")));
  EXPECT_EQ(ReadFile(Path("one/model.safetensors")), ReadFile(Path("tuned/model.safetensors")));
  EXPECT_NE(ReadFile(Path("zero/model.safetensors")), ReadFile(Path("one/model.safetensors")));
}

TEST_F(AverageModelsTest, EveryNumberIsTheWeightedMean) {
  Average(0.25, "between");
  const SafetensorsFile base(Path("base/model.safetensors")),
      tuned(Path("tuned/model.safetensors")), between(Path("between/model.safetensors"));
  const std::vector<float> a = ToFloat32(*base.Find(kWord)), b = ToFloat32(*tuned.Find(kWord)),
                           c = ToFloat32(*between.Find(kWord));
  ASSERT_EQ(c.size(), a.size());
  for (size_t i = 0; i < c.size(); ++i) {
    EXPECT_EQ(c[i], static_cast<float>(0.75 * double{a[i]} + 0.25 * double{b[i]})) << i;
    EXPECT_NE(c[i], a[i]);
  }
  EXPECT_EQ(between.Find(kKey)->bytes, base.Find(kKey)->bytes);
  EXPECT_NO_THROW(ReadModelFolder(Path("between")));
}

// Training writes what it trained in float32; the base may hold bf16.
TEST_F(AverageModelsTest, TypesMayDifferAndNoNumberIsRoundedToFewerBits) {
  const SafetensorsFile base(Path("base/model.safetensors"));
  std::vector<TensorToWrite> tensors;
  for (const TensorView& view : base.tensors()) tensors.push_back(Unchanged(view));
  const std::string ones(32 * 8 * 2, '\x3f');  // bf16 0x3f3f = 0.74609375
  for (TensorToWrite& tensor : tensors) {
    if (tensor.name != kWord) continue;
    tensor.dtype = Dtype::kBF16;
    tensor.bytes = ones;
  }
  WriteSafetensors(Path("bf16.safetensors"), tensors);
  std::filesystem::rename(Path("bf16.safetensors"), Path("base/model.safetensors"));
  Average(0, "zero");
  EXPECT_EQ(TensorsOf(Path("zero/model.safetensors")), TensorsOf(Path("base/model.safetensors")));
  Average(0.5, "half");
  const SafetensorsFile half(Path("half/model.safetensors"));
  const TensorView& word = *half.Find(kWord);
  EXPECT_EQ(word.dtype, Dtype::kF32);
  const SafetensorsFile tuned(Path("tuned/model.safetensors"));
  const float b = ToFloat32(*tuned.Find(kWord)).front();
  EXPECT_EQ(ToFloat32(word).front(), static_cast<float>(0.5 * 0.74609375 + 0.5 * double{b}));
}

TEST_F(AverageModelsTest, OtherShapesAndNamesAreRefusedByName) {
  tuned_.front().shape = {16, 8};
  tuned_.front().values.resize(16 * 8);
  WriteTensors(Path("tuned/model.safetensors"), tuned_);
  std::string config = kSmallConfig;
  config.replace(config.find("\"vocab_size\": 32"), 16, "\"vocab_size\": 16");
  WriteText(Path("tuned/config.json"), config);
  ExpectRefused({"tuned/model.safetensors", kWord, "[16, 8]", "[32, 8]", "base/model.safetensors"});
}

TEST_F(AverageModelsTest, ATensorThatOneOfThemLacksIsRefused) {
  std::erase_if(tuned_,
                [](const SmallTensor& tensor) { return tensor.name == "pooler.dense.bias"; });
  WriteTensors(Path("tuned/model.safetensors"), tuned_);
  ExpectRefused({"base/model.safetensors", "pooler.dense.bias", "is not in"});
  std::filesystem::copy_file(Path("base/model.safetensors"), Path("tuned/model.safetensors"),
                             std::filesystem::copy_options::overwrite_existing);
  WriteTensors(Path("base/model.safetensors"), tuned_);
  ExpectRefused({"tuned/model.safetensors", "pooler.dense.bias", "is not in"});
}

TEST_F(AverageModelsTest, OtherModulesAreRefused) {
  WriteText(Path("tuned/modules.json"), R"([
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  ExpectRefused({"tuned", "has the modules Pooling, but", "Pooling, Normalize"});
}

TEST_F(AverageModelsTest, ANumberThatIsNotFiniteIsRefused) {
  tuned_.front().values[3] = std::numeric_limits<float>::infinity();
  WriteTensors(Path("tuned/model.safetensors"), tuned_);
  ExpectRefused({kWord, "has inf as number 4", "one of the two models is broken"});
}

TEST_F(AverageModelsTest, OtherWeightsAndAnOutputThatIsThereAreUsageErrors) {
  for (const double weight : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    ExpectError([&] { Average(weight, "out"); }, ExitCode::kUsage, {"from 0 (the base) to 1"});
  }
  ExpectError([&] { Average(0.5, "base"); }, ExitCode::kUsage, {"exists already"});
}

TEST_F(AverageModelsTest, TheProbabilityOfTheTunedModelIsLeftOut) {
  WriteCalibration(Path("tuned"), Calibration{.scale = 20, .bias = -3});
  const CapturedMessages messages;
  Average(0.5, "half");
  EXPECT_NE(messages.text().find("probability is left out"), std::string::npos);
  EXPECT_FALSE(ReadTandemFile(Path("half")).calibration);
}

}  // namespace
}  // namespace tandem::weights
