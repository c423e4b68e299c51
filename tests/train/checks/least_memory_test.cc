// What a run says that it needs before its first step, against what its steps take.
#include "train/checks/least_memory.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "eval/measure.h"
#include "objective/catalogue.h"
#include "optim/catalogue.h"
#include "sampling/catalogue.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "tensor/fused_only.h"
#include "train/checks/memory_need.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

constexpr const char* kRecipe = R"(
threads = 1
precision = "fp32"
[objective]
name = "infonce"
[model]
base = "{0}/base"
[data]
train = "{0}/data"
positive_grade = 2
negatives = 1
[train]
batch = 16
steps = 6
{1}
)";

class LeastMemoryTest : public testing::Test {
 protected:
  // Long documents: activations are most of the memory.
  LeastMemoryTest() {
    WriteTinyModel(folder_.path() / "base",
                   {.hidden = 128, .heads = 4, .intermediate = 512, .layers = 4});
    WriteTinyData(folder_.path() / "data", TinyWords(), {.documents = 150, .words = 50});
  }

  PlannedTrainer TrainerOf(const std::string& more = "") const {
    static const std::vector<config::Catalogue> catalogues = {
        sampling::SamplerCatalogue(), objective::ObjectiveCatalogue(), optim::OptimizerCatalogue(),
        optim::ScheduleCatalogue(), eval::MeasureCatalogue()};
    return MakeTrainer(
        config::ParseRecipe(fmt::format(fmt::runtime(kRecipe), folder_.path().native(), more),
                            "r.toml", {}, catalogues));
  }

  LeastMemory LeastOf(const std::string& more) const {
    const auto [trainer, plan] = TrainerOf(more);
    return LeastMemoryOf(*trainer, plan);
  }

  TemporaryFolder folder_;
};

// A part goes forward and is scaled up: it must come to what a forward pass of the whole keeps, and
// not to more than a step takes.
TEST_F(LeastMemoryTest, IsBelowWhatStepsTakeAndNotFarBelow) {
  SKIP_UNLESS_FUSED();  // memory of our own tensors is counted, libtorch's is not
  const auto [trainer, plan] = TrainerOf();
  const LeastMemory least = LeastMemoryOf(*trainer, plan);
  const MemoryNeed need = MeasureMemoryNeed(*trainer, plan);
  EXPECT_EQ(least.tokens, need.largest_batch_tokens);
  EXPECT_EQ(least.queries, 16);
  EXPECT_GT(least.tokens, 768);  // or nothing is scaled
  EXPECT_LE(least.step(), need.step);
  EXPECT_GE(least.step(), need.step * 6 / 10);
  EXPECT_LE(least.gradients, need.gradients);
  EXPECT_LE(least.optimizer, need.optimizer_touched);
  EXPECT_GE(least.optimizer, need.optimizer_touched * 8 / 10);
  EXPECT_LE(least.total(), need.resident);
}

TEST_F(LeastMemoryTest, ChunksBoundThePass) {
  const LeastMemory whole = LeastOf("");
  const LeastMemory chunked = LeastOf("chunk_tokens = 256");
  EXPECT_EQ(chunked.tokens, whole.tokens);
  EXPECT_LT(chunked.pass, whole.pass / 4);
  EXPECT_NEAR(chunked.per_token, whole.per_token, 0.05 * whole.per_token);
}

TEST_F(LeastMemoryTest, LeavesTheRunAsItWas) {
  const auto [trainer, plan] = TrainerOf();
  const std::unique_ptr<Trainer> untouched = TrainerOf().trainer;
  LeastMemoryOf(*trainer, plan);
  for (int step = 0; step < 4; ++step) {
    const sampling::Batch got = trainer->sampler->Next(), want = untouched->sampler->Next();
    EXPECT_EQ(got.queries, want.queries);
    EXPECT_EQ(got.documents, want.documents);
  }
  for (const auto& parameter : trainer->model().Parameters()) {
    EXPECT_FALSE(parameter.value.grad().defined()) << parameter.name;
  }
}

}  // namespace
}  // namespace tandem::train
