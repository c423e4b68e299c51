// `tandem average`: the model between a base and a tuned one, and what is refused.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/model_commands_fixture.h"
#include "support/run_tandem.h"
#include "support/tiny_model.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class AverageCommand : public ModelCommandsTest {
 protected:
  AverageCommand() {
    std::filesystem::copy(Path("model"), Path("tuned"), std::filesystem::copy_options::recursive);
    FillTensor(Path("tuned/model.safetensors"), "embeddings.word_embeddings.weight", 0.25F);
  }
  ProgramResult Average(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"average", Path("model"), Path("tuned")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunTandem(arguments);
  }
};

TEST_F(AverageCommand, WritesAModelThatWorks) {
  const ProgramResult result = Average({"--weight", "0.25", "-o", Path("between")});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("0.75 of " + Path("model") + " and 0.25 of " + Path("tuned")));
  EXPECT_EQ(Evaluate({"--model", Path("between"), "--split", "dev"}).exit_code, 0);
  EXPECT_THAT(ReadFile(Path("between/README.md")), HasSubstr("| weight of it | 0.25 |"));
}

TEST_F(AverageCommand, HalfIsTheDefault) {
  ASSERT_EQ(Average({"--output", Path("default")}).exit_code, 0);
  ASSERT_EQ(Average({"--weight", "0.5", "--output", Path("half")}).exit_code, 0);
  EXPECT_EQ(ReadFile(Path("default/model.safetensors")), ReadFile(Path("half/model.safetensors")));
}

TEST_F(AverageCommand, WrongWeightsAndModelsAreErrors) {
  const ProgramResult weight = Average({"--weight", "2", "--output", Path("out")});
  EXPECT_EQ(weight.exit_code, 2);
  EXPECT_THAT(weight.err, HasSubstr("the weight of the tuned model is 2; a number from 0"));
  WriteTinyModel(Path("tuned"), {.hidden = 16});
  const ProgramResult other = Average({"--output", Path("out")});
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_THAT(other.err, HasSubstr("is of shape"));
  EXPECT_FALSE(std::filesystem::exists(Path("out")));
}

}  // namespace
}  // namespace tandem
