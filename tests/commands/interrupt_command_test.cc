// Commands that take long get SIGINT at random moments: the first one ends them after their block,
// the second one at once, and nothing half-written is left.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "support/run_tandem.h"
#include "support/temporary_folder.h"
#include "support/tiny_model.h"
#include "train/tiny_data.h"

namespace tandem {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

// What a process came to that was interrupted once or twice.
struct Ended {
  int exit_code = -1;
  double seconds = 0;  // from the first signal on
  std::string err;
};

class InterruptedCommand : public testing::Test {
 protected:
  InterruptedCommand() {
    WriteTinyModel(Path("model"));
    WriteTinyData(Path("data"), TinyWords(), {.documents = 20'000, .queries = 3000, .words = 40});
    ::setenv("TANDEM_CACHE", Path("cache").c_str(), 1);
  }
  ~InterruptedCommand() override { ::setenv("TANDEM_CACHE", "", 1); }

  std::string Path(const std::string& name) const { return (folder_.path() / name).native(); }

  // The commands, each of which encodes the corpus.
  std::vector<std::vector<std::string>> Commands() const {
    const std::string model = Path("model"), data = Path("data");
    return {
        {"evaluate", "--model", model, "--dataset", data, "--split", "dev"},
        {"compare", model, Path("model/../model"), "--dataset", data, "--split", "dev"},
        {"search", "--model", model, "--dataset", data, "--split", "dev", "--output",
         Path("r.trec")},
        {"calibrate", model, "--dataset", data, "--split", "dev", "--dry-run"},
        {"mine", "--model", model, "--dataset", data, "--output", Path("mined.jsonl")},
        {"prune", data, "--model", model, "--keep", "0.5", "--output", Path("pruned")},
        {"score", "--model", model, "--pairs", data, "--as", "grades", "--output", Path("scored")},
        {"report", model, "--dataset", data, "--split", "dev", "--output", Path("page")},
        {"index", "build", model, Path("data/corpus.jsonl"), "--output", Path("index")},
        {"encode", model, Path("data/corpus.jsonl"), "--output", Path("vectors"), "--resume"}};
  }

  // How long a command takes where nothing interrupts it: moments are drawn within it, since what
  // is long on one machine is over on another before the first signal.
  milliseconds Whole(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--threads", "1"});
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = StartTandem(arguments, {.out = Path("out"), .err = Path("err")});
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << arguments.front() << ": " << ReadFile(Path("err"));
    RemoveOutputs();
    return std::chrono::ceil<milliseconds>(std::chrono::steady_clock::now() - start);
  }

  // Sends SIGINT `before` the process has run that long, and again `between` later; a negative time
  // is none.
  Ended Interrupt(std::vector<std::string> arguments, milliseconds before,
                  milliseconds between) const {
    arguments.insert(arguments.end(), {"--threads", "1"});
    const pid_t child = StartTandem(arguments, {.out = Path("out"), .err = Path("err")});
    std::this_thread::sleep_for(before);
    const auto start = std::chrono::steady_clock::now();
    ::kill(child, SIGINT);
    if (between.count() >= 0) {
      std::this_thread::sleep_for(between);
      ::kill(child, SIGINT);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    // Before the program takes signals the system ends it, which a shell shows as 130 too.
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), seconds.count(),
            ReadFile(Path("err"))};
  }

  // No file or folder of this process that was not complete is left.
  void ExpectNothingHalfWritten(const std::string& command) const {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
      EXPECT_THAT(entry.path().filename().native(), testing::Not(HasSubstr(".tmp")))
          << command << " left " << entry.path();
    }
  }

  // What the commands write that do not only print.
  static std::map<std::string, std::string> Outputs() {
    return {{"search", "r.trec"},         {"mine", "mined.jsonl"}, {"prune", "pruned"},
            {"score", "scored"},          {"report", "page"},      {"index", "index/index.json"},
            {"encode", "vectors/ids.txt"}};
  }

  void ExpectNoOutput(const std::string& command) const {
    for (const auto& [writes, output] : Outputs()) {
      EXPECT_FALSE(std::filesystem::exists(Path(output))) << command << " wrote " << output;
    }
  }

  void ExpectOutput(const std::string& command) const {
    const auto outputs = Outputs();
    const auto output = outputs.find(command);
    if (output == outputs.end()) {
      EXPECT_THAT(ReadFile(Path("out")), testing::Not(testing::IsEmpty())) << command;
    } else {
      EXPECT_TRUE(std::filesystem::exists(Path(output->second))) << command;
    }
  }

  void RemoveOutputs() const {
    for (const char* output : {"r.trec", "mined.jsonl", "pruned", "scored", "page", "vectors",
                               "index", "cache", "pruned.histogram.tsv"}) {
      std::filesystem::remove_all(Path(output));
    }
  }

  TemporaryFolder folder_;
};

// At some moments the work is not watched yet, or no longer: a signal then ends the process at
// once, and the output is complete or not there. Others come too late: the last block has ended
// and the output is being written, which is finished.
TEST_F(InterruptedCommand, OneSignalEndsItAfterItsBlock) {
  RandomStream random({.seed = 1, .purpose = "moments"});
  for (const std::vector<std::string>& command : Commands()) {
    const auto whole = static_cast<uint64_t>(Whole(command).count());
    int said = 0;
    for (int i = 0; i < 40 && said < 3; ++i) {
      const Ended ended =
          Interrupt(command, milliseconds(1 + random.Below(whole)), milliseconds(-1));
      ASSERT_THAT(ended.exit_code, testing::AnyOf(0, 130)) << command.front() << ": " << ended.err;
      ExpectNothingHalfWritten(command.front());
      if (ended.exit_code == 0) {
        ExpectOutput(command.front());
      } else if (ended.err.find("finishing a block") != std::string::npos) {
        ++said;
        EXPECT_THAT(ended.err, HasSubstr("; again to stop at once\n")) << command.front();
        EXPECT_THAT(ended.err, HasSubstr("error: interrupted; ")) << command.front();
        ExpectNoOutput(command.front());
      }
      RemoveOutputs();
    }
    EXPECT_GT(said, 0) << command.front() << " was never interrupted in its work";
  }
}

TEST_F(InterruptedCommand, ASecondSignalEndsItAtOnce) {
  RandomStream random({.seed = 2, .purpose = "moments"});
  for (const std::vector<std::string>& command : Commands()) {
    for (int i = 0; i < 3; ++i) {
      const Ended ended =
          Interrupt(command, milliseconds(100 + random.Below(400)), milliseconds(random.Below(20)));
      ASSERT_THAT(ended.exit_code, testing::AnyOf(0, 130)) << command.front() << ": " << ended.err;
      ExpectNothingHalfWritten(command.front());
      RemoveOutputs();
    }
  }
}

// What was encoded before the signal is not encoded again.
TEST_F(InterruptedCommand, FinishedBlocksAreFoundAgain) {
  const std::vector<std::string> mine = Commands()[4];
  const std::string all = "encode documents: 20000 of 20000 embeddings are from";
  std::string last;
  for (int i = 0; i < 40 && last.find(all) == std::string::npos; ++i) {
    last = Interrupt(mine, milliseconds(500), milliseconds(-1)).err;
    std::filesystem::remove(Path("mined.jsonl"));  // of one that came to its end before
  }
  EXPECT_THAT(last, HasSubstr(all));
}

}  // namespace
}  // namespace tandem
