// The soup of `tandem tune`: the mean of several trials' weights.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/tune/tune_fixture.h"
#include "support/run_tandem.h"

namespace tandem {
namespace {

using testing::HasSubstr;
using Row = nlohmann::json;

// The numbers of a model's file of weights behind its header, by their place.
std::vector<float> NumbersOf(const std::string& model) {
  const std::string bytes = ReadFile(model + "/model.safetensors");
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof(header));
  const size_t begin = sizeof(header) + static_cast<size_t>(header);
  std::vector<float> numbers((bytes.size() - begin) / sizeof(float));
  std::memcpy(numbers.data(), bytes.data() + begin, numbers.size() * sizeof(float));
  return numbers;
}

// At rates that change no rank, each mean does as well as the best trial, so that all join.
TEST_F(Tune, TheSoupIsTheMeanOfTheTrialsThatJoin) {
  const std::vector<std::string> flags = {
      "--budget", "160 steps",
      "--set",    "optimizer.learning_rate=1e-7",
      "--set",    "tune.optimizer.learning_rate=[1e-7, 2e-7, 3e-7]"};
  const ProgramResult result = Search("search", flags);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::vector<Row> tried = RowsOf("search", "soup");
  const Row choice = RowsOf("search", "choice").front();
  const Row& soup = choice["arms"].back();
  ASSERT_EQ(soup["trials"].size(), 3U) << choice;
  EXPECT_EQ(soup["name"], "soup of 3 trials");
  ASSERT_EQ(tried.size(), 2U);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(tried[i]["trial"], soup["trials"][i + 1]);
    EXPECT_TRUE(tried[i]["joins"].get<bool>());
  }
  const std::vector<float> mean = NumbersOf(Path("search/" + soup["model"].get<std::string>()));
  std::vector<double> expected(mean.size());
  for (const Row& trial : soup["trials"]) {
    const std::vector<float> numbers =
        NumbersOf(Path(fmt::format("search/trials/{:03}/run/model", trial.get<int>())));
    ASSERT_EQ(numbers.size(), mean.size());
    for (size_t i = 0; i < mean.size(); ++i) expected[i] += static_cast<double>(numbers[i]) / 3;
  }
  size_t moved = 0;
  const std::vector<float> best =
      NumbersOf(Path(fmt::format("search/trials/{:03}/run/model", soup["trials"][0].get<int>())));
  for (size_t i = 0; i < mean.size(); ++i) {
    ASSERT_NEAR(mean[i], expected[i], 1e-7 * std::max(1.0, std::abs(expected[i]))) << i;
    moved += mean[i] != best[i] ? 1 : 0;
  }
  EXPECT_GT(moved, mean.size() / 2);
  // Of the means on the way only the values are left.
  EXPECT_FALSE(std::filesystem::exists(
      Path(fmt::format("search/soup/{:03}/model", tried[0]["trial"].get<int>()))));
  EXPECT_THAT(ReadFile(Path("search/tune.html")), HasSubstr("The soup begins with the best trial"));
  EXPECT_THAT(ReadFile(Path("search/" + soup["model"].get<std::string>() + "/README.md")),
              HasSubstr(fmt::format("trials {}, {}, {}", soup["trials"][0].get<int>(),
                                    soup["trials"][1].get<int>(), soup["trials"][2].get<int>())));
  // Removed at any time, it is made again as it was.
  const std::string file =
      Path("search/" + soup["model"].get<std::string>() + "/model.safetensors");
  const std::string bytes = ReadFile(file);
  std::string journal;
  std::istringstream lines(ReadFile(Path("search/journal.jsonl")));
  for (std::string line; std::getline(lines, line);) {
    journal += line + "\n";
    if (Row::parse(line)["event"] == "soup") break;
  }
  std::ofstream(Path("search/journal.jsonl")) << journal;
  for (const Row& row : tried) {
    std::filesystem::remove_all(
        Path(fmt::format("search/soup/{:03}/model", row["trial"].get<int>())));
  }
  std::vector<std::string> resumed = flags;
  resumed.push_back("--resume");
  const ProgramResult again = Search("search", resumed);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(RowsOf("search", "choice").front(), choice);
  EXPECT_EQ(ReadFile(file), bytes);
  // A trial's model is not made again.
  std::ofstream(Path("search/journal.jsonl")) << journal;
  std::filesystem::remove_all(Path("search/" + soup["model"].get<std::string>()));
  std::filesystem::remove_all(
      Path(fmt::format("search/trials/{:03}/run/model", soup["trials"][1].get<int>())));
  const ProgramResult gone = Search("search", resumed);
  EXPECT_EQ(gone.exit_code, 4);
  EXPECT_THAT(gone.err, HasSubstr("is not there any more, and the search needs it"));
}

TEST_F(Tune, WithoutASoupNoneIsTried) {
  ASSERT_EQ(Search("search", {"--budget", "160 steps", "--set", "tune.soup=false"}).exit_code, 0);
  EXPECT_TRUE(RowsOf("search", "soup").empty());
  EXPECT_GT(RowsOf("search", "choice").front()["arms"].size(), 1U);
}

}  // namespace
}  // namespace tandem
