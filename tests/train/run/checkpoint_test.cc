#include "train/run/checkpoint.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/files/files.h"
#include "optim/optimizer.h"
#include "support/error_matching.h"
#include "support/resident_memory.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "train/bag_encoder.h"

namespace tandem::train {
namespace {

// A model and an optimizer that have made a step.
struct Trained {
  explicit Trained(size_t vocabulary = 97, int64_t width = 8)
      : model(vocabulary, width),
        optimizer(std::make_unique<optim::Optimizer>(optim::kAdamW, model.Parameters())) {}
  void Step(double size) {
    for (const auto& parameter : model.Parameters()) {
      parameter.value.set_grad(tensor::Mul(parameter.value.detach(), size));
    }
    optimizer->Step(0.01, 1);
  }
  model::BagEncoder model;
  std::unique_ptr<optim::Optimizer> optimizer;
};

TEST(Checkpoint, ContinuesBitForBit) {
  const TemporaryFolder folder;
  Trained one, other;
  one.Step(0.5);
  one.Step(-0.3);
  other.Step(2);  // something else to be overwritten
  SaveCheckpoint(folder.path() / "c", one.model.Parameters(), one.optimizer->State(),
                 {{"step", 2}});
  EXPECT_EQ(ReadState(folder.path() / "c").at("step"), 2);
  const auto version = other.model.Parameters()[0].value.version();
  LoadWeights(folder.path() / "c", other.model.Parameters());
  LoadTensors(folder.path() / "c", other.optimizer->State());
  other.optimizer->set_steps(2);
  EXPECT_GT(other.model.Parameters()[0].value.version(), version);
  one.Step(0.7);
  other.Step(0.7);
  for (size_t p = 0; p < 3; ++p) {
    EXPECT_TRUE(AreEqual(one.model.Parameters()[p].value, other.model.Parameters()[p].value)) << p;
  }
}

// As at the start of a run: moments take memory only for rows that some text has moved.
TEST(Checkpoint, ZerosThatAreReadTakeNoMemory) {
  constexpr size_t kBytes = size_t{256} << 20, kCount = kBytes / sizeof(float);
  const auto zeros = [] {
    return std::unique_ptr<float, decltype(&std::free)>(
        static_cast<float*>(std::calloc(kCount, sizeof(float))), &std::free);
  };
  const auto state_of = [](float* values) {
    return std::vector<optim::StateTensor>{
        {"moments", tensor::FromBlob(values, {static_cast<int64_t>(kCount)}, tensor::kFloat)}};
  };
  const TemporaryFolder folder;
  const auto written = zeros(), read = zeros();
  written.get()[12345] = 0.5F;
  written.get()[kCount - 1] = -0.0F;
  SaveCheckpoint(folder.path() / "c", {}, state_of(written.get()), {});
  const size_t before = ResidentBytes();
  LoadTensors(folder.path() / "c", state_of(read.get()));
  EXPECT_LT(ResidentBytes(), before + kBytes / 4);
  EXPECT_EQ(std::memcmp(written.get(), read.get(), kBytes), 0);
}

TEST(Checkpoint, OfAnotherModelIsAModelError) {
  const TemporaryFolder folder;
  Trained one, wide(97, 16);
  SaveCheckpoint(folder.path() / "c", one.model.Parameters(), one.optimizer->State(), {});
  ExpectError(
      [&] { LoadWeights(folder.path() / "c", wide.model.Parameters()); }, ExitCode::kModel,
      {"weights.safetensors", "has shape [97, 16] in the model and [97, 8] here", "tensor table"});
  auto parameters = one.model.Parameters();
  parameters[1].name = "other";
  ExpectError([&] { LoadWeights(folder.path() / "c", parameters); }, ExitCode::kModel,
              {"tensor other"});
  parameters.resize(1);
  ExpectError([&] { LoadWeights(folder.path() / "c", parameters); }, ExitCode::kModel,
              {"has 3 tensors, the model 1"});
}

TEST(Checkpoint, WithABrokenStateIsAModelError) {
  const TemporaryFolder folder;
  ExpectError([&] { ReadState(folder.path() / "none"); }, ExitCode::kModel,
              {"is no complete checkpoint"});
  WriteFileAtomically(folder.path() / "state.json", "{\"loop\": ");
  ExpectError([&] { ReadState(folder.path()); }, ExitCode::kModel,
              {"state.json", "remove this checkpoint's folder"});
}

}  // namespace
}  // namespace tandem::train
