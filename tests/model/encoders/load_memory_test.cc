// Resident memory while a model is loaded, of a model of 54 MB.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/process/memory.h"
#include "model/dual_encoder.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/machine/process.h"

namespace tandem::model {
namespace {

// Bytes of a line "KEY: N kB" of /proc/self/status.
uint64_t StatusOf(std::string_view key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoull(line.substr(key.size() + 1)) * 1024;
  }
  return 0;
}

// From here on the high-water mark counts anew.
bool ForgetMostResident() {
  std::ofstream clear("/proc/self/clear_refs");
  clear << "5" << std::flush;
  return clear.good();
}

class LoadMemory : public testing::Test {
 protected:
  LoadMemory() {
    tensor::SetUpProcess(0);
    WriteTinyModel(folder_.path(), {.hidden = 512, .heads = 8, .intermediate = 2048, .layers = 4});
    bytes_ = std::filesystem::file_size(folder_.path() / "model.safetensors");
  }
  TemporaryFolder folder_;
  uint64_t bytes_ = 0;
};

TEST_F(LoadMemory, TrainedParametersAreReadOnce) {
  DualEncoder::Load(folder_.path());  // what is made only once is made here
  if (!ForgetMostResident()) GTEST_SKIP() << "this system does not reset the high-water mark";
  const uint64_t before = StatusOf("VmRSS:");
  const auto model = DualEncoder::Load(folder_.path());
  // Memory that the first model gave back may serve the second.
  EXPECT_LT(MostResidentMemory(), before + bytes_ + bytes_ / 10);
}

TEST_F(LoadMemory, FrozenParametersAreNotCopied) {
  const LoadOptions options{.training = {.what = Trained::kLora, .lora = {.rank = 2}}};
  DualEncoder::Load(folder_.path(), options);
  const uint64_t before = StatusOf("RssAnon:");
  const auto model = DualEncoder::Load(folder_.path(), options);
  EXPECT_LT(StatusOf("RssAnon:"), before + bytes_ / 10);
}

}  // namespace
}  // namespace tandem::model
