// `tandem train` on a tiny model and data set: what the tests of the command share.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {

// File contents by their path in a run folder.
using Contents = std::map<std::string, std::string>;

// How the recipe of a quick run begins; further keys of [data] and other tables may follow.
inline const std::string kQuickRecipe = R"(
threads = 1
precision = "fp32"
[objective]
name = "infonce"
[model]
base = "{0}/base"
[data]
train = "{0}/data")";

class RunTest : public testing::Test {
 protected:
  // `recipe` has {0} where the folder of `base` and `data` belongs.
  explicit RunTest(std::string_view recipe) {
    WriteTinyModel(folder_.path() / "base");
    WriteTinyData(folder_.path() / "data", TinyWords());
    WriteFileAtomically(folder_.path() / "recipe.toml",
                        fmt::format(fmt::runtime(recipe), folder_.path().native()));
  }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }
  // `output` empty: without --output.
  std::vector<std::string> Arguments(const std::string& output,
                                     const std::vector<std::string>& further = {}) const {
    std::vector<std::string> arguments = {"train", Path("recipe.toml")};
    if (!output.empty()) arguments.insert(arguments.end(), {"--output", Path(output)});
    arguments.insert(arguments.end(), further.begin(), further.end());
    return arguments;
  }
  ProgramResult Train(const std::string& output,
                      const std::vector<std::string>& further = {}) const {
    return RunTandem(Arguments(output, further));
  }

  // `--set` before each.
  static std::vector<std::string> SetFlags(const std::vector<std::string>& sets) {
    std::vector<std::string> flags;
    for (const std::string& set : sets) flags.insert(flags.end(), {"--set", set});
    return flags;
  }

  // Every file that must be the same in two runs: all but wall times, the lock and the recipe as it
  // was given.
  Contents FilesOf(const std::string& output) const {
    Contents contents;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(output))) {
      const std::string name = entry.path().filename();
      if (!entry.is_regular_file() || name == "timing.jsonl" || name == "run.lock" ||
          name == "recipe.given.toml") {
        continue;
      }
      contents[std::filesystem::relative(entry.path(), Path(output)).native()] =
          ReadFile(entry.path());
    }
    return contents;
  }

  void ExpectSameFiles(const std::string& output, const std::string& reference) const {
    const Contents got = FilesOf(output), want = FilesOf(reference);
    std::vector<std::string> got_names, want_names;
    for (const auto& [name, bytes] : got) got_names.push_back(name);
    for (const auto& [name, bytes] : want) want_names.push_back(name);
    ASSERT_EQ(got_names, want_names);
    for (const auto& [name, bytes] : want) EXPECT_TRUE(got.at(name) == bytes) << name << " differs";
  }

  // The folders of its checkpoints, in the order of their steps.
  std::vector<std::string> CheckpointsOf(const std::string& output) const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(Path(output + "/checkpoints"))) {
      const std::string name = entry.path().filename();
      if (name.starts_with("step-")) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  // Takes a copy of the run, which kept all its checkpoints, back to each of them but the last, or
  // to every `stride`-th, and resumes it there.
  void ExpectTheSameFromEveryCheckpoint(const std::string& output, std::vector<std::string> flags,
                                        size_t stride = 1) const {
    const std::vector<std::string> names = CheckpointsOf(output);
    ASSERT_GE(names.size(), 2);
    flags.push_back("--resume");
    for (size_t kept = 1; kept < names.size(); kept += stride) {
      const std::string copy = fmt::format("{}-{}", output, kept);
      std::filesystem::copy(Path(output), Path(copy), std::filesystem::copy_options::recursive);
      std::filesystem::remove_all(Path(copy + "/model"));
      for (size_t i = kept; i < names.size(); ++i) {
        std::filesystem::remove_all(Path(copy + "/checkpoints/" + names[i]));
      }
      const ProgramResult resumed = Train(copy, flags);
      ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
      ExpectSameFiles(copy, output);
      std::filesystem::remove_all(Path(copy));
    }
  }

  // `key` of every line of metrics.jsonl that has it.
  std::vector<double> MetricOf(const std::string& output, const std::string& key) const {
    std::vector<double> values;
    std::istringstream lines(ReadFile(Path(output + "/metrics.jsonl")));
    for (std::string text; std::getline(lines, text);) {
      const auto line = nlohmann::json::parse(text);
      if (line.contains(key)) values.push_back(line[key]);
    }
    return values;
  }

  TemporaryFolder folder_;
};

// With every kind of event: validation, checkpoints, accumulation, dropout, a short last batch.
class EventfulRunTest : public RunTest {
 protected:
  EventfulRunTest()
      : RunTest("seed = 3\n" + kQuickRecipe + R"(
positive_grade = 2
negatives = 1
[optimizer]
learning_rate = 1e-3
[train]
batch = 5
accumulate = 2
epochs = 6
checkpoint_every = "4 steps"
[validation]
data = "{0}/data"
split = "dev"
measure = "ndcg@10"
every = "7 steps"
patience = 0
[logging]
every = 3
)") {}

  // Puts a list of [[validation.source]] in place of the recipe's validation data.
  void ValidateOnSources(const std::string& sources) const {
    std::string recipe = ReadFile(Path("recipe.toml"));
    const size_t at = recipe.find("data = ", recipe.find("[validation]"));
    recipe.erase(at, recipe.find("measure = ") - at);
    WriteFileAtomically(Path("recipe.toml"), recipe + sources);
  }
};

}  // namespace tandem
