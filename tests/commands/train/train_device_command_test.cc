// `tandem train` on a device: what a recipe and flags may say of one, and a whole run with the
// forms that a device takes, on the CPU.
#include <gmock/gmock.h>

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

using testing::AnyOf;
using testing::HasSubstr;

class TrainOnDevice : public RunTest {
 protected:
  TrainOnDevice()
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
  ~TrainOnDevice() override { ::unsetenv("TANDEM_FORMS"); }

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

TEST_F(TrainOnDevice, ADeviceThatIsNotThereSaysWhatIsMissing) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--device", "cuda:63"}, {"--set", "device=cuda:63"}}) {
    const ProgramResult result = Train("run", flags);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err,
                AnyOf(HasSubstr("device is cuda:63, but this tandem is built without "
                                "CUDA; build it with -DTANDEM_WITH_CUDA=ON"),
                      HasSubstr("device is cuda:63, and this tandem is built with CUDA, "
                                "but this machine has no device"),
                      HasSubstr("device is cuda:63, but this process sees")));
  }
}

TEST_F(TrainOnDevice, AnotherNameIsRefused) {
  const ProgramResult result = Train("run", {"--device", "gpu"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("device is cpu, cuda or cuda:N with N from 0, not \"gpu\""));
}

TEST_F(TrainOnDevice, PrecisionsOfDevicesAreRefusedOnTheProcessor) {
  UseForms("fused");  // a device's would take fp16
  for (const std::string precision : {"fp16", "tf32"}) {
    const ProgramResult result = Train("run", {"--precision", precision});
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, HasSubstr("precision " + precision +
                                      " is for CUDA devices, and this "
                                      "run computes on the processor"));
  }
}

TEST_F(TrainOnDevice, TheRecordSaysTheDevice) {
  ASSERT_EQ(Train("run", {"--device", "cpu"}).exit_code, 0);
  EXPECT_THAT(ReadFile(Path("run/recipe.resolved.toml")), HasSubstr("device = \"cpu\""));
  EXPECT_THAT(ReadFile(Path("run/recipe.given.toml")), HasSubstr("--device cpu"));
}

// Encoder, objective, optimizer and the gradient's norm in the forms that a device takes.
TEST_F(TrainOnDevice, ARunWithTheFormsOfADeviceIsTheRunUpToRounding) {
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

TEST_F(TrainOnDevice, ARunWithTheFormsOfADeviceResumesToTheSameBytes) {
  UseForms("portable");
  ASSERT_EQ(Train("run", {"--set", "train.keep_checkpoints=9"}).exit_code, 0);
  ExpectTheSameFromEveryCheckpoint("run", {"--set", "train.keep_checkpoints=9"});
}

}  // namespace
}  // namespace tandem
