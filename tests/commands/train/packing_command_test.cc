// How often `tandem train` packs weights: once a step for each pass, however many batches and
// chunks a step has.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

class PackingCommand : public EventfulRunTest {
 protected:
  // Calls of an operation in a step, as --profile counts them.
  double CallsInAStep(const std::string& operation, const std::vector<std::string>& settings) {
    std::vector<std::string> arguments = {"--profile-steps", "3", "--format", "json"};
    for (const std::string& setting : settings) {
      arguments.insert(arguments.end(), {"--set", setting});
    }
    const ProgramResult result = Train("", arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const nlohmann::json profile = nlohmann::json::parse(result.out);
    for (const nlohmann::json& row : profile["operations"]) {
      if (row["operation"] == operation) return row["calls"];
    }
    return 0;
  }
};

// Two layers of four matrices, for two passes.
constexpr double kPacks = 2 * 4 * 2;

TEST_F(PackingCommand, AStepPacksEachWeightOnceForEachPass) {
  EXPECT_EQ(CallsInAStep("pack weights", {"train.accumulate=1"}), kPacks);
}

TEST_F(PackingCommand, BatchesOfAStepShareThePackedWeights) {
  const std::vector<std::string> settings = {"train.accumulate=4"};
  EXPECT_EQ(CallsInAStep("FeedForwardNorm", settings), 4 * 2);
  EXPECT_EQ(CallsInAStep("pack weights", settings), kPacks);
}

TEST_F(PackingCommand, ChunksOfAStepShareThePackedWeights) {
  const std::vector<std::string> settings = {"train.accumulate=1", "train.chunk_tokens=20"};
  // Two passes over at least three chunks.
  EXPECT_GE(CallsInAStep("FeedForwardNorm", settings), 2 * 3 * 2);
  EXPECT_EQ(CallsInAStep("pack weights", settings), kPacks);
}

}  // namespace
}  // namespace tandem
