// `tandem train` on a device: what a recipe and flags may say of one.
#include <gmock/gmock.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class TrainOnDevice : public RunTest {
 protected:
  TrainOnDevice()
      : RunTest(kQuickRecipe + R"(
[train]
batch = 8
steps = 2
)") {}
  ~TrainOnDevice() override { ::unsetenv("TANDEM_FORMS"); }

  static void UseForms(const char* forms) { ::setenv("TANDEM_FORMS", forms, 1); }
};

TEST_F(TrainOnDevice, ADeviceThatIsNotThereSaysWhatIsMissing) {
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"--device", "cuda:63"}, {"--set", "device=cuda:63"}}) {
    const ProgramResult result = Train("run", flags);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err,
                AnyOf(HasSubstr("build it with -DTANDEM_WITH_CUDA=ON"),
                      HasSubstr("device is cuda:63, but the back end libtandem-torch.so is "
                                "built without CUDA; build it with -DTANDEM_WITH_CUDA=ON"),
                      HasSubstr("device is cuda:63, and the back end libtandem-torch.so is "
                                "built with CUDA, but this machine has no device"),
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

}  // namespace
}  // namespace tandem
