// `tandem train` with two encoders, and what the other commands do with the model it leaves.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands/train/run_fixture.h"
#include "embeddings/layouts/npy.h"

namespace tandem {
namespace {

using testing::HasSubstr;

class TrainTowers : public RunTest {
 protected:
  TrainTowers()
      : RunTest(R"(
threads = 1
precision = "fp32"
[model]
base = "{0}/base"
towers = "separate_shared_projection"
projection = 12
[data]
train = "{0}/data"
positive_grade = 2
[objective]
name = "infonce"
[optimizer]
learning_rate = 1e-3
[train]
batch = 8
steps = 12
checkpoint_every = "5 steps"
keep_checkpoints = 2
[validation]
data = "{0}/data"
split = "dev"
every = "4 steps"
patience = 0
[logging]
every = 1
)") {}
  std::vector<float> Encoded(const std::string& model, const std::string& kind) const {
    const ProgramResult result =
        RunTandem({"encode", "--model", Path(model), "--input", "-", "--output", Path("embeddings"),
                   "--kind", kind, "--force", "--quiet"},
                  "{\"_id\": \"x\", \"text\": \"alpha beta\"}\n");
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const embeddings::MappedRows matrix = embeddings::ReadNpy(Path("embeddings/embeddings.npy"));
    return {matrix.values.begin(), matrix.values.end()};
  }
  void ExpectFailure(int exit_code, const std::string& text,
                     const std::vector<std::string>& further) const {
    const ProgramResult result = Train("failed", further);
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(text));
    EXPECT_FALSE(std::filesystem::exists(Path("failed")));
  }
};

TEST_F(TrainTowers, SameRecipeSameBytesAlsoWhenResumed) {
  for (const char* towers : {"shared", "separate", "separate_shared_projection"}) {
    const std::vector<std::string> set = {"--set", fmt::format("model.towers={}", towers)};
    const std::string one = fmt::format("{}1", towers), two = fmt::format("{}2", towers);
    const ProgramResult result = Train(one, set);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    ASSERT_EQ(Train(two, set).exit_code, 0);
    ExpectSameFiles(two, one);
    // As if it had been killed in its last steps.
    std::filesystem::remove_all(Path(two + "/model"));
    std::filesystem::remove_all(Path(two + "/checkpoints/step-00000012"));
    ASSERT_TRUE(std::filesystem::exists(Path(two + "/checkpoints/step-00000010")));
    const ProgramResult resumed = Train(two, {"--resume", set[0], set[1]});
    ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
    ExpectSameFiles(two, one);
    EXPECT_LT(MetricOf(one, "loss").back(), MetricOf(one, "loss").front());
  }
  // All three start from the same weights and differ from the first update on.
  const auto shared = MetricOf("shared1", "loss"), separate = MetricOf("separate1", "loss"),
             projection = MetricOf("separate_shared_projection1", "loss");
  EXPECT_NEAR(separate[0], shared[0], 1e-5);
  EXPECT_NEAR(projection[0], shared[0], 1e-5);
  EXPECT_NE(separate[3], shared[3]);
  EXPECT_NE(projection[3], separate[3]);
}

TEST_F(TrainTowers, TheOtherCommandsTakeTheModel) {
  const ProgramResult trained =
      Train("run", {"--set", "train.chunk_tokens=30", "--set", "optimizer.learning_rate=5e-3",
                    "--set", "train.steps=60"});
  ASSERT_EQ(trained.exit_code, 0) << trained.err;
  const std::vector<float> query = Encoded("run/model", "query");
  const std::vector<float> document = Encoded("run/model", "document");
  ASSERT_EQ(query.size(), 12U);
  EXPECT_NE(query, document);
  EXPECT_EQ(query, Encoded("run/model/query", "query"));
  EXPECT_EQ(document, Encoded("run/model/document", "document"));
  const ProgramResult evaluated =
      RunTandem({"evaluate", "--model", Path("run/model"), "--dataset", Path("data"), "--split",
                 "dev", "--measures", "ndcg@10", "--format", "json", "--quiet"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  // Validation measured the model that was saved.
  std::string last;
  std::istringstream lines(ReadFile(Path("run/metrics.jsonl")));
  for (std::string line; std::getline(lines, line);) last = line;
  EXPECT_NEAR(nlohmann::json::parse(evaluated.out)["measures"]["ndcg@10"].get<double>(),
              nlohmann::json::parse(last)["best_ndcg@10"].get<double>(), 1e-6);
  const ProgramResult inspected = RunTandem({"inspect", Path("run/model")});
  EXPECT_EQ(inspected.exit_code, 0) << inspected.err;
  EXPECT_THAT(inspected.out, HasSubstr("towers              separate_shared_projection\n"));
  EXPECT_THAT(inspected.out, HasSubstr("  document  Dense        32 -> 12, no bias, "));
  EXPECT_THAT(inspected.out, HasSubstr("embedding width     12\n"));
  // Training goes on from it.
  WriteFileAtomically(Path("again.toml"),
                      fmt::format("[model]\nbase = \"{0}/run/model\"\n"
                                  "towers = \"separate_shared_projection\"\n[data]\n"
                                  "train = \"{0}/data\"\npositive_grade = 2\n[objective]\n"
                                  "name = \"infonce\"\n[train]\nbatch = 8\nsteps = 1\n",
                                  folder_.path().native()));
  const ProgramResult again =
      RunTandem({"train", Path("again.toml"), "--output", Path("again"), "--quiet"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  // A tower that is missing.
  std::filesystem::remove_all(Path("run/model/document"));
  const ProgramResult missing = RunTandem({"inspect", Path("run/model")});
  EXPECT_EQ(missing.exit_code, 4);
  EXPECT_THAT(missing.err, HasSubstr("run/model/document: is missing; "));
}

TEST_F(TrainTowers, Mistakes) {
  WriteTinyModel(folder_.path() / "wide", {.hidden = 48});
  const std::string wide = fmt::format("model.document_base={}", Path("wide"));
  ExpectFailure(2, "model.towers", {"--set", "model.towers=seperate"});
  ExpectFailure(2, "did you mean separate", {"--set", "model.towers=seperate"});
  ExpectFailure(2, "model.document_base does nothing here: it needs model.towers = \"separate\"",
                {"--set", "model.towers=shared", "--set", wide});
  ExpectFailure(4, "after encoders of one hidden size", {"--set", wide});
  std::string recipe = ReadFile(Path("recipe.toml"));
  recipe.erase(recipe.find("projection = 12"), 15);
  WriteFileAtomically(Path("recipe.toml"), recipe);
  ExpectFailure(4, "has no Dense module for two towers to share; give model.projection", {});
  ExpectFailure(4, "model.projection brings both to it",
                {"--set", "model.towers=separate", "--set", wide});
}

}  // namespace
}  // namespace tandem
