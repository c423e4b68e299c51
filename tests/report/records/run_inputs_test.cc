#include "report/records/run_inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "config/test_catalogue.h"
#include "support/temporary_folder.h"

namespace tandem::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

class RunInputsTest : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    MakeFolder((folder_.path() / name).parent_path());
    WriteFileAtomically(folder_.path() / name, text);
  }
  RunInputs Read() { return ReadRunInputs(folder_.path(), config::kTestCatalogues, problems_); }
  TemporaryFolder folder_;
  std::vector<std::string> problems_;
};

TEST_F(RunInputsTest, HasPathsAsTheyWereGivenAndTheNewestFingerprints) {
  Write("recipe.given.toml",
        "# mine.toml as it was given to tandem 0.1.0.\n# On the command line, over it:\n"
        "#   --set validation.data=\"data/./mini\"\n#   --seed 2\n\n"
        "model.base = \"../base/\"\ndata.train = \"/d/mini\"\nobjective.name = \"soft\"\n"
        "validation.measure = \"ndcg@10\"\n");
  Write("checkpoints/step-00000010/state.json", "{\"data_fingerprint\": 1}");
  Write("checkpoints/step-00000020/state.json",
        "{\"data_fingerprint\": 16733975463697208061, \"base_fingerprint\": 0}");
  const RunInputs inputs = Read();
  EXPECT_THAT(inputs.paths,
              ElementsAre(Pair("data.train", "/d/mini"), Pair("model.base", "../base"),
                          Pair("validation.data", "data/mini")));
  EXPECT_EQ(inputs.data, 16733975463697208061U);
  EXPECT_EQ(inputs.base, std::nullopt);
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(RunInputsTest, SaysWhatCannotBeRead) {
  Write("recipe.given.toml", "model.base = [");
  Write("checkpoints/step-00000010/state.json", "{\"data_fing");
  const RunInputs inputs = Read();
  EXPECT_THAT(inputs.paths, IsEmpty());
  EXPECT_THAT(problems_, ElementsAre(HasSubstr("recipe.given.toml:1"),
                                     HasSubstr("state.json is not valid JSON: ")));
}

TEST_F(RunInputsTest, ARunWithoutThemHasNone) {
  const RunInputs inputs = Read();
  EXPECT_THAT(inputs.paths, IsEmpty());
  EXPECT_FALSE(inputs.data);
  EXPECT_THAT(problems_, IsEmpty());
}

}  // namespace
}  // namespace tandem::report
