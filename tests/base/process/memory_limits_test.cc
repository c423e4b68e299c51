// Limits of a machine that is a folder of files.
#include "base/process/memory_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "base/process/memory.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint64_t kMiB = uint64_t{1} << 20;

class MemoryLimitsTest : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const auto file = folder_.path() / path;
    std::filesystem::create_directories(file.parent_path());
    WriteFileAtomically(file, text);
  }
  void WriteMachine(const std::string& swap = "0") const {
    Write("proc/meminfo",
          "MemTotal:        1048576 kB\nMemFree:            100 kB\n"
          "MemAvailable:     524288 kB\nSwapTotal:     " +
              swap + " kB\n");
  }
  // A tree of version 2 as the machine itself has it.
  void WriteSecondVersion(const std::string& path) const {
    WriteMachine();
    Write("proc/self/cgroup", "0::" + path + "\n");
    Write("proc/self/mountinfo",
          "24 30 0:22 / /proc rw - proc proc rw\n"
          "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  // "WHAT BYTES+SWAP", those of the machine left out; "~" in front of what only slows.
  std::vector<std::string> Bounds() const {
    std::vector<std::string> texts;
    for (const MemoryBound& bound : ReadMemoryLimits(folder_.path()).bounds) {
      if (bound.what == "this machine's memory") continue;
      texts.push_back((bound.hard ? "" : "~") + bound.what + " " +
                      std::to_string(bound.bytes / kMiB) + "+" + std::to_string(bound.swap / kMiB));
    }
    return texts;
  }

  TemporaryFolder folder_;
};

TEST_F(MemoryLimitsTest, AMachineWithoutLimitsHasItsMemory) {
  WriteMachine("2048");
  const MemoryLimits limits = ReadMemoryLimits(folder_.path());
  EXPECT_EQ(limits.available, 512 * kMiB);
  ASSERT_EQ(limits.bounds.size(), 1u);
  EXPECT_EQ(limits.bounds[0].what, "this machine's memory");
  EXPECT_EQ(limits.bounds[0].bytes, 1024 * kMiB);
  EXPECT_EQ(limits.bounds[0].swap, 2 * kMiB);
}

TEST_F(MemoryLimitsTest, NothingIsSaidWhereTheSystemSaysNothing) {
  EXPECT_THAT(ReadMemoryLimits(folder_.path()).bounds, IsEmpty());
  EXPECT_EQ(ReadHeldMemory(folder_.path()).held, 0u);
}

TEST_F(MemoryLimitsTest, CgroupsAboveBindToo) {
  WriteSecondVersion("/jobs/7/part");
  Write("sys/fs/cgroup/jobs/memory.max", "734003200\n");
  Write("sys/fs/cgroup/jobs/7/memory.max", "max\n");
  Write("sys/fs/cgroup/jobs/7/memory.high", "629145600\n");
  Write("sys/fs/cgroup/jobs/7/part/memory.max", "838860800\n");
  EXPECT_THAT(Bounds(), ElementsAre("memory.max of cgroup /jobs/7/part 800+0",
                                    "~memory.high of cgroup /jobs/7 600+0",
                                    "memory.max of cgroup /jobs 700+0"));
}

TEST_F(MemoryLimitsTest, SwapIsWhatTheCgroupAndTheMachineHave) {
  WriteSecondVersion("/a/b");
  WriteMachine("307200");  // 300 MiB
  Write("sys/fs/cgroup/a/memory.max", "104857600\n");
  Write("sys/fs/cgroup/a/memory.swap.max", "max\n");
  Write("sys/fs/cgroup/a/b/memory.max", "52428800\n");
  Write("sys/fs/cgroup/a/b/memory.swap.max", "0\n");
  EXPECT_THAT(Bounds(),
              ElementsAre("memory.max of cgroup /a/b 50+0", "memory.max of cgroup /a 100+300"));
}

// In a container the cgroup is mounted itself, whatever the machine calls it.
TEST_F(MemoryLimitsTest, AContainerSeesItsOwnCgroup) {
  WriteMachine();
  Write("proc/self/cgroup", "5:cpu:/docker/1f\n4:memory,x:/docker/1f\n0::/\n");
  Write("proc/self/mountinfo",
        "40 30 0:31 /docker/1f /sys/fs/cgroup/my\\040memory rw - cgroup cgroup rw,memory\n"
        "41 30 0:32 /docker/1f /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
  Write("sys/fs/cgroup/my memory/memory.limit_in_bytes", "209715200\n");
  EXPECT_THAT(Bounds(), ElementsAre("memory.limit_in_bytes of cgroup /docker/1f 200+0"));
  Write("proc/self/cgroup", "4:memory:/../..\n");  // another name space
  EXPECT_THAT(Bounds(), ElementsAre("memory.limit_in_bytes of cgroup /docker/1f 200+0"));
}

TEST_F(MemoryLimitsTest, TheFirstVersionCountsMemoryAndSwapTogether) {
  WriteMachine("1048576");
  Write("proc/self/cgroup", "4:memory:/a/b/c\n");
  Write("proc/self/mountinfo", "40 30 0:31 / /cg rw - cgroup cgroup rw,memory\n");
  Write("cg/memory.limit_in_bytes", "9223372036854771712\n");  // none
  Write("cg/a/memory.limit_in_bytes", "104857600\n");
  Write("cg/a/memory.use_hierarchy", "0\n");  // does not count what is below it
  Write("cg/a/b/memory.limit_in_bytes", "314572800\n");
  Write("cg/a/b/memory.use_hierarchy", "1\n");
  Write("cg/a/b/c/memory.limit_in_bytes", "209715200\n");
  Write("cg/a/b/c/memory.memsw.limit_in_bytes", "262144000\n");
  EXPECT_THAT(Bounds(), ElementsAre("memory.limit_in_bytes of cgroup /a/b/c 200+50",
                                    "memory.limit_in_bytes of cgroup /a/b 300+1024"));
}

TEST_F(MemoryLimitsTest, LimitsOfAProcessCountItsAddresses) {
  WriteMachine();
  Write("proc/self/limits",
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max address space         419430400            unlimited            bytes     \n");
  EXPECT_THAT(Bounds(), ElementsAre("ulimit -v 400+0"));
  EXPECT_EQ(ReadMemoryLimits(folder_.path()).bounds[0].kind, MemoryKind::kAddresses);
  Write("proc/self/limits", "Max data size             104857600   unlimited   bytes\n");
  EXPECT_THAT(Bounds(), ElementsAre("ulimit -d 100+0"));
  EXPECT_EQ(ReadMemoryLimits(folder_.path()).bounds[0].kind, MemoryKind::kData);
}

TEST_F(MemoryLimitsTest, MemoryOfFilesIsNotHeld) {
  Write("proc/self/status",
        "VmSize:\t    4096 kB\nVmData:\t    2048 kB\nVmRSS:\t    1000 kB\n"
        "RssAnon:\t     300 kB\nRssFile:\t     650 kB\nRssShmem:\t      50 kB\n");
  const HeldMemory held = ReadHeldMemory(folder_.path());
  EXPECT_EQ(held.held, 350 * 1024u);
  EXPECT_EQ(held.addresses, 4096 * 1024u);
  EXPECT_EQ(held.data, 2048 * 1024u);
}

TEST_F(MemoryLimitsTest, ThisProcessHasThem) {
  const HeldMemory before = ReadHeldMemory();
  std::vector<char> block(64 * kMiB, 'x');
  const HeldMemory after = ReadHeldMemory();
  EXPECT_GT(after.held, before.held + 60 * kMiB) << static_cast<void*>(block.data());
  EXPECT_GT(after.addresses, after.held);
  EXPECT_LE(UsableMemory(), uint64_t{1} << 50);
  EXPECT_GT(UsableMemory(), after.held);
}

}  // namespace
}  // namespace tandem
