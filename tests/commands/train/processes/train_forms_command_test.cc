// `tandem train` on the processor with the forms that a device takes, which the back end computes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "commands/train/run_fixture.h"
#include "weights/safetensors/safetensors.h"

namespace tandem {
namespace {

class TrainWithForms : public RunTest {
 protected:
  TrainWithForms()
      : RunTest(kQuickRecipe + R"(
[optimizer]
learning_rate = 1e-3
[train]
batch = 8
steps = 8
checkpoint_every = "4 steps"
[validation]
data = "{0}/data"
split = "dev"
measure = "ndcg@10"
every = "4 steps"
patience = 0
[logging]
every = 1
)") {}
  ~TrainWithForms() override { ::unsetenv("TANDEM_FORMS"); }

  static void UseForms(const char* forms) { ::setenv("TANDEM_FORMS", forms, 1); }

  // All numbers of a model's weights, as they are in its file.
  std::vector<float> WeightsOf(const std::string& output) const {
    const weights::SafetensorsFile file(Path(output + "/model/model.safetensors"));
    std::vector<float> all;
    for (const weights::TensorView& tensor : file.tensors()) {
      const size_t before = all.size();
      all.resize(before + tensor.elements());
      std::memcpy(all.data() + before, tensor.bytes.data(), tensor.bytes.size());
    }
    return all;
  }

  static void ExpectNear(const std::vector<double>& got, const std::vector<double>& want,
                         double relative, std::string_view what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    for (size_t i = 0; i < want.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], relative * std::abs(want[i])) << what << " " << i;
    }
  }
};

// Encoder, objective, optimizer and the gradient's norm in the forms that a device takes.
TEST_F(TrainWithForms, ARunWithTheFormsOfADeviceIsTheRunUpToRounding) {
  for (const std::string optimizer : {"adamw", "adafactor"}) {
    const std::vector<std::string> flags = {"--set", "optimizer.name=" + optimizer};
    UseForms("fused");
    const std::string fused = optimizer + "-fused", portable = optimizer + "-portable";
    const ProgramResult first = Train(fused, flags);
    ASSERT_EQ(first.exit_code, 0) << first.err;
    UseForms("portable");
    const ProgramResult second = Train(portable, flags);
    ASSERT_EQ(second.exit_code, 0) << second.err;
    ExpectNear(MetricOf(portable, "loss"), MetricOf(fused, "loss"), 1e-4, optimizer + " loss");
    ExpectNear(MetricOf(portable, "gradient_norm"), MetricOf(fused, "gradient_norm"), 1e-3,
               optimizer + " gradient norm");
    const std::vector<float> got = WeightsOf(portable), want = WeightsOf(fused);
    ASSERT_EQ(got.size(), want.size());
    double squares = 0, differences = 0;
    for (size_t i = 0; i < want.size(); ++i) {
      squares += static_cast<double>(want[i]) * want[i];
      differences += std::pow(static_cast<double>(got[i]) - want[i], 2);
    }
    EXPECT_LT(std::sqrt(differences / squares), 1e-4) << optimizer;
    EXPECT_GT(differences, 0) << optimizer << ": other forms were not used";
  }
}

TEST_F(TrainWithForms, ARunWithTheFormsOfADeviceResumesToTheSameBytes) {
  UseForms("portable");
  ASSERT_EQ(Train("run", {"--set", "train.keep_checkpoints=9"}).exit_code, 0);
  ExpectTheSameFromEveryCheckpoint("run", {"--set", "train.keep_checkpoints=9"});
}

}  // namespace
}  // namespace tandem
