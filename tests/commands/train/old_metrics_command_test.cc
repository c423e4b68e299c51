// `tandem train --resume` and `tandem inspect` on run folders whose metrics.jsonl an earlier
// version wrote: without `event`, with objects inside the lines.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "commands/train/run_fixture.h"

namespace tandem {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The line of an earlier version that said what `line` says.
OrderedJson OldLine(const OrderedJson& line) {
  OrderedJson old = {{"step", line["step"]}};
  for (const auto& [key, value] : line.items()) {
    if (key == "event" || key == "step") continue;
    if (key.starts_with("validation_")) {
      old["validation"][key.substr(std::string("validation_").size())] = value;
    } else if (key.starts_with("best_")) {
      old["finished"] = true;
      old[key.substr(std::string("best_").size())] = value;
    } else {
      old[key] = value;
    }
  }
  return old;
}

std::string OldLines(const std::string& text) {
  std::string old;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    old += OldLine(OrderedJson::parse(line)).dump() + "\n";
  return old;
}

class OldMetrics : public EventfulRunTest {
 protected:
  OldMetrics() {
    const ProgramResult whole = Train("whole", kKeepAll);
    EXPECT_EQ(whole.exit_code, 0) << whole.err;
  }
  void Copy(const std::string& to) const {
    std::filesystem::copy(Path("whole"), Path(to), std::filesystem::copy_options::recursive);
  }
  OrderedJson Inspected(const std::string& run) const {
    OrderedJson found =
        OrderedJson::parse(RunTandem({"inspect", Path(run), "--format", "json"}).out);
    found.erase("model");  // its path
    found.erase("bytes");  // of lines that earlier versions wrote otherwise
    return found;
  }

  const std::vector<std::string> kKeepAll = {"--set", "train.keep_checkpoints=100"};
};

TEST_F(OldMetrics, AResumedRunKeepsItsLinesAndGoesOnWithThoseOfToday) {
  Copy("old");
  const std::vector<std::string> checkpoints = CheckpointsOf("old");
  ASSERT_EQ(checkpoints.at(3), "step-00000016");
  for (size_t i = 4; i < checkpoints.size(); ++i) {
    std::filesystem::remove_all(Path("old/checkpoints/" + checkpoints[i]));
  }
  std::filesystem::remove_all(Path("old/model"));
  const std::string state_file = Path("old/checkpoints/step-00000016/state.json");
  OrderedJson state = OrderedJson::parse(ReadFile(state_file));
  const std::string today = ReadFile(Path("whole/metrics.jsonl"));
  const auto bytes = state["loop"]["metrics_bytes"].get<size_t>();
  const std::string before = OldLines(today.substr(0, bytes));
  state["loop"]["metrics_bytes"] = before.size();
  WriteFileAtomically(state_file, state.dump());
  WriteFileAtomically(Path("old/metrics.jsonl"), before + "{\"step\":18,\"loss\":0.5}\n");

  std::vector<std::string> flags = kKeepAll;
  flags.push_back("--resume");
  const ProgramResult resumed = Train("old", flags);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(ReadFile(Path("old/metrics.jsonl")), before + today.substr(bytes));
  EXPECT_TRUE(FilesOf("old").at("model/model.safetensors") ==
              FilesOf("whole").at("model/model.safetensors"));
  const OrderedJson found = Inspected("old");
  EXPECT_EQ(found, Inspected("whole"));
  EXPECT_EQ(found["validations"].size(), 6U);
  EXPECT_EQ(found["finished"], true);
}

TEST_F(OldMetrics, AFinishedRunIsKnownAsFinished) {
  WriteFileAtomically(Path("whole/metrics.jsonl"), OldLines(ReadFile(Path("whole/metrics.jsonl"))));
  const Contents files = FilesOf("whole");
  std::vector<std::string> flags = kKeepAll;
  flags.push_back("--resume");
  const ProgramResult again = Train("whole", flags);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, testing::HasSubstr("this run is finished"));
  EXPECT_EQ(FilesOf("whole"), files);
  EXPECT_EQ(Inspected("whole")["finished"], true);
}

}  // namespace
}  // namespace tandem
