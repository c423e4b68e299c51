#include "embeddings/layouts/part_file.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

class PartFileTest : public testing::Test {
 protected:
  PartFileTest() : path_(folder_.path() / "f"), part_(folder_.path() / "f.part") {}

  TemporaryFolder folder_;
  std::filesystem::path path_;
  std::filesystem::path part_;
};

TEST_F(PartFileTest, GoesOnWhereTheOneBeforeStopped) {
  WriteFileAtomically(path_, "old");
  {
    PartFile file(path_);
    file.Append("first");
    file.Append(" torn");
  }
  EXPECT_EQ(ReadFile(part_), "first torn");
  EXPECT_EQ(ReadFile(path_), "old");
  {
    PartFile file(path_);
    file.CutTo(5);
    file.Append(" second");
    file.WriteAt(0, "F");
    file.TakeRoom(1 << 20);
    file.Commit();
  }
  EXPECT_EQ(ReadFile(path_), "First second");
  EXPECT_FALSE(std::filesystem::exists(part_));
}

TEST_F(PartFileTest, AnEmptyPartIsNotLeft) {
  { const PartFile file(path_); }
  EXPECT_FALSE(std::filesystem::exists(part_));
  {
    PartFile file(path_);
    file.Append("x");
    file.CutTo(0);
  }
  EXPECT_FALSE(std::filesystem::exists(part_));
}

TEST_F(PartFileTest, OneProcessAtATimeHasIt) {
  const PartFile first(path_);
  try {
    const PartFile second(path_);
    FAIL() << "was opened twice";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("f.part: another process writes it"));
  }
}

TEST_F(PartFileTest, PathsThatCanHoldNoFileShowAtOnce) {
  std::filesystem::create_directory(path_);
  EXPECT_THROW(PartFile{path_}, OutputError);
  EXPECT_FALSE(std::filesystem::exists(part_));
  EXPECT_THROW(PartFile{folder_.path() / "none" / "f"}, OutputError);
  const std::filesystem::path pipe = folder_.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THROW(PartFile{pipe}, OutputError);  // a file would take its place
}

// A limit of the file size stands for a full disk.
TEST_F(PartFileTest, WhatWasWrittenBeforeADiskIsFullStays) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &limit), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 8, .rlim_max = limit.rlim_max};
  {
    PartFile file(path_);
    file.Append("12345");
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
    EXPECT_THROW(file.Append("67890"), OutputError);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(ReadFile(part_).substr(0, 5), "12345");
}

}  // namespace
}  // namespace tandem::embeddings
