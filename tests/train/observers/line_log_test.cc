#include "train/observers/line_log.h"

#include <gtest/gtest.h>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::train {
namespace {

TEST(LineLog, AppendsAndIsCutBack) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "metrics.jsonl";
  uint64_t first = 0;
  {
    LineLog log(path, std::nullopt);
    log.Write({{"step", 1}});
    first = log.bytes();
    log.Write({{"step", 2}});
    log.Sync();
  }
  EXPECT_EQ(ReadFile(path), "{\"step\":1}\n{\"step\":2}\n");
  {
    LineLog log(path, std::nullopt);
    log.Write({{"step", 3}});
  }
  EXPECT_EQ(ReadFile(path), "{\"step\":1}\n{\"step\":2}\n{\"step\":3}\n");
  LineLog log(path, first);
  EXPECT_EQ(log.bytes(), first);
  log.Write({{"step", 4}});
  EXPECT_EQ(ReadFile(path), "{\"step\":1}\n{\"step\":4}\n");
}

TEST(LineLog, ThatIsShorterThanItShouldBeIsAnError) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "m", "abc");
  ExpectError([&] { LineLog(folder.path() / "m", 10); }, ExitCode::kModel,
              {"has 3 bytes, but the checkpoint was made when it had 10"});
  ExpectError([&] { LineLog(folder.path() / "m" / "x", 0); }, ExitCode::kUsage,
              {"cannot be opened"});
}

}  // namespace
}  // namespace tandem::train
