#include "base/files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "support/temporary_folder.h"

namespace tandem {
namespace {

using testing::HasSubstr;

TEST(AtomicFile, WithoutCommitTheOldFileStays) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  WriteFileAtomically(path, "old");
  {
    AtomicFile file(path);
    file.Write("new");
  }
  EXPECT_EQ(ReadFile(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(RemoveUnfinishedFiles, LeavesWhatHasAnotherName) {
  const TemporaryFolder folder;
  for (const char* name : {"a.tmp17", "b.json.tmp9", "c.tmp", "d.tmp1x", "tmp3", "e"}) {
    WriteFileAtomically(folder.path() / name, "x");
  }
  RemoveUnfinishedFiles(folder.path());
  std::set<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    left.insert(entry.path().filename().native());
  }
  EXPECT_EQ(left, (std::set<std::string>{"c.tmp", "d.tmp1x", "e", "tmp3"}));
  RemoveUnfinishedFiles(folder.path() / "none");  // nothing happens
}

TEST(AtomicFile, WriteAtOverwritesWhatIsThere) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "file";
  AtomicFile file(path);
  file.Write("0000 rows");
  file.WriteAt(0, "0042");
  file.Write(" more");
  file.Commit();
  EXPECT_EQ(ReadFile(path), "0042 rows more");
}

// Whoever is root would have a file in the place of /dev/null.
TEST(AtomicFile, WhatIsNoRegularFileIsNotReplaced) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe", link = folder.path() / "link";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/null", link);
  for (const std::filesystem::path& path : {pipe, link}) {
    EXPECT_THROW(WriteFileAtomically(path, "text"), OutputError) << path;
  }
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(AtomicFile, APathUnderAFileIsAUsageError) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "file", "");
  try {
    AtomicFile file(folder.path() / "file" / "below");
    FAIL() << "no error";
  } catch (const OutputError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("file/below: cannot be created: Not a directory"));
  }
}

TEST(MappedFile, ShowsTheBytesAndTakesEmptyFiles) {
  const TemporaryFolder folder;
  WriteFileAtomically(folder.path() / "full", "abc");
  WriteFileAtomically(folder.path() / "empty", "");
  MappedFile moved(folder.path() / "full");
  const MappedFile full = std::move(moved);
  EXPECT_EQ(full.bytes(), "abc");
  EXPECT_EQ(MappedFile(folder.path() / "empty").bytes(), "");
}

TEST(ReadFile, MissingFilesAndFoldersAreDataErrors) {
  const TemporaryFolder folder;
  EXPECT_THROW(ReadFile(folder.path() / "missing"), DataError);
  EXPECT_THROW(ReadFile(folder.path()), DataError);
  EXPECT_THROW(MappedFile(folder.path() / "missing"), DataError);
}

}  // namespace
}  // namespace tandem
