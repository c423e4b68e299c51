// A search of `tandem tune` on a tiny model and data set.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "commands/train/run_fixture.h"
#include "support/run_tandem.h"

namespace tandem {

// 48 training queries in batches of 8 are 36 steps in 6 epochs: a validation at every fourth one.
// It validates by what it trains on, where so few queries show a gain.
class Tune : public RunTest {
 protected:
  Tune()
      : RunTest("seed = 3\n" + kQuickRecipe + R"(
positive_grade = 2
[optimizer]
learning_rate = 5e-3
[train]
batch = 8
epochs = 6
[validation]
data = "{0}/data"
split = "train"
[tune]
optimizer.learning_rate = {{ from = 1e-3, to = 1e-2, log = true }}
objective.name = ["infonce", "mann_whitney"]
objective.temperature = [0.01, 0.05]
)") {
    WriteTinyData(folder_.path() / "other", TinyWords(), {.seed = 9});
  }

  std::vector<std::string> TuneArguments(const std::string& output,
                                         const std::vector<std::string>& further) const {
    std::vector<std::string> arguments = {"tune", Path("recipe.toml"), "--output", Path(output)};
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }
  ProgramResult Search(const std::string& output,
                       const std::vector<std::string>& further = {}) const {
    return RunTandem(TuneArguments(output, further));
  }
  std::vector<nlohmann::json> JournalOf(const std::string& output) const {
    std::vector<nlohmann::json> rows;
    std::istringstream lines(ReadFile(Path(output + "/journal.jsonl")));
    for (std::string line; std::getline(lines, line);) rows.push_back(nlohmann::json::parse(line));
    return rows;
  }
  std::vector<nlohmann::json> RowsOf(const std::string& output, const std::string& event) const {
    std::vector<nlohmann::json> rows = JournalOf(output);
    std::erase_if(rows, [&event](const nlohmann::json& row) { return row["event"] != event; });
    return rows;
  }
  void ExpectRefused(const std::vector<std::string>& flags, const std::string& message) const {
    const ProgramResult result = Search("refused", flags);
    EXPECT_EQ(result.exit_code, 2);
    EXPECT_THAT(result.err, testing::HasSubstr(message));
    EXPECT_FALSE(std::filesystem::exists(Path("refused/trials"))) << message;
  }
  std::string Set(const std::string& key, const std::string& value) const {
    return fmt::format("{}=\"{}\"", key, Path(value));
  }
};

}  // namespace tandem
