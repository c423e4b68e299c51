// Changes of an index that are killed before any of their system calls: the folder is then the old
// index or the new one, and the next change goes on from there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "index/building/merge.h"
#include "index/folder/index_folder.h"
#include "index/folder/removal.h"
#include "index/word_index.h"
#include "support/temporary_folder.h"
#include "tensor/machine/process.h"

namespace tandem::index {
namespace {

// Says whether a system call changes files or their names. Writing is left out: what has been
// written has no name yet.
bool ChangesFiles(uint64_t call) {
  switch (call) {
#ifdef SYS_rename  // not on every processor, as those below
    case SYS_rename:
    case SYS_unlink:
    case SYS_rmdir:
    case SYS_mkdir:
#endif
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
    case SYS_ftruncate:
    case SYS_fsync:
      return true;
    default:
      return false;
  }
}

// Runs `change` in a process that is killed before its call number `fatal` (from 0) that changes
// files. It is false where it has come to its end before.
bool KilledBefore(size_t fatal, const std::function<void()>& change) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(3);
    ::raise(SIGSTOP);
    try {
      change();
    } catch (...) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSTOPPED(status)) << "no process can be traced here";
  if (!WIFSTOPPED(status)) return false;
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (size_t calls = 0; ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0;) {
    if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) break;
    __ptrace_syscall_info call{};
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof call, &call) <= 0) continue;
    if (call.op != PTRACE_SYSCALL_INFO_ENTRY || !ChangesFiles(call.entry.nr)) continue;
    if (calls++ < fatal) continue;
    ::kill(child, SIGKILL);
    ::waitpid(child, &status, 0);
    return true;
  }
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  return false;
}

class KilledChangesTest : public testing::Test {
 protected:
  KilledChangesTest() {
    tensor::SetUpProcess(1);
    const auto model = WordModel(Path("model"));
    const IndexEncoder encoder{*model, {}, DescribeModel(*model, Path("model"), {}, {})};
    BuildIndex(encoder, Path("before"), WordDocuments(0, 30), WordIndex(), {});
    AddDocuments(encoder, Path("before"), WordDocuments(30, 10), false, {});
    RemoveDocuments(Path("before"), {"d3", "d31"}, false);
  }
  std::filesystem::path Path(const std::string& name) const { return folder_.path() / name; }

  // Ids and texts.
  static std::vector<std::string> Content(const std::filesystem::path& folder) {
    const auto index = DocumentIndex::Open(folder);
    const std::vector<float> query(index->info().model.width);
    std::set<std::string> documents;
    const auto found = index->Search({.queries = query.data(), .count = 1, .k = 1000});
    for (const DocumentHit& hit : found[0]) {
      documents.insert(std::string(index->id(hit.document)) + " " +
                       std::string(index->text(hit.document)));
    }
    EXPECT_EQ(documents.size(), index->info().documents);
    return {documents.begin(), documents.end()};
  }

  // Names of all files and folders.
  static std::set<std::string> Names(const std::filesystem::path& folder) {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      names.insert(entry.path().lexically_relative(folder).native());
    }
    return names;
  }

  // Kills `change` before each of its calls in turn.
  void KillEverywhere(const std::function<void(const std::filesystem::path&)>& change) {
    const std::vector<std::string> old = Content(Path("before"));
    std::filesystem::copy(Path("before"), Path("after"), std::filesystem::copy_options::recursive);
    change(Path("after"));
    const std::vector<std::string> changed = Content(Path("after"));
    CompactIndex(Path("after"), {});
    const size_t names = Names(Path("after")).size();
    const uint64_t generation = ReadManifest(Path("before")).generation;
    bool killed = true;
    for (size_t kills = 0; killed; ++kills) {
      std::filesystem::remove_all(Path("index"));
      std::filesystem::copy(Path("before"), Path("index"),
                            std::filesystem::copy_options::recursive);
      killed = KilledBefore(kills, [&] { change(Path("index")); });
      const bool is_new = ReadManifest(Path("index")).generation > generation;
      EXPECT_EQ(Content(Path("index")), is_new ? changed : old) << "killed before call " << kills;
      EXPECT_TRUE(killed || is_new);
      was_old_ += !is_new;
      was_new_ += is_new && killed;
      // What was left lies in nobody's way, and goes.
      if (!is_new) change(Path("index"));
      CompactIndex(Path("index"), {});
      EXPECT_EQ(Content(Path("index")), changed) << "killed before call " << kills;
      EXPECT_EQ(Names(Path("index")).size(), names) << "killed before call " << kills;
      if (HasFailure()) break;
    }
  }

  TemporaryFolder folder_;
  size_t was_old_ = 0, was_new_ = 0;  // kills that left the one and the other
};

TEST_F(KilledChangesTest, CompactingLeavesTheOldIndexOrTheNewOne) {
  KillEverywhere([](const std::filesystem::path& index) { CompactIndex(index, {}); });
  // Both while new files are made and while old ones are removed.
  EXPECT_GE(was_old_, 10u);
  EXPECT_GE(was_new_, 10u);
}

TEST_F(KilledChangesTest, RemovingLeavesTheOldIndexOrTheNewOne) {
  KillEverywhere([](const std::filesystem::path& index) {
    RemoveDocuments(index, {"d5", "d35"}, false);
  });
  EXPECT_GE(was_old_, 4u);
  EXPECT_GE(was_new_, 2u);
}

}  // namespace
}  // namespace tandem::index
