#include "embeddings/layouts/cache_room.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "embeddings/layouts/cache_file.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class CacheRoomTest : public testing::Test {
 protected:
  // A file of so many bytes that was last used at that time (seconds since 1970).
  void Put(const std::string& name, size_t bytes, time_t used) const {
    WriteFileAtomically(folder_.path() / name, std::string(bytes, 'x'));
    const timespec times[2] = {{used, 0}, {used, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, (folder_.path() / name).c_str(), times, 0), 0);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const CachedFile& file : CachedFilesIn(folder_.path())) {
      names.push_back(file.path.filename().native());
    }
    return names;
  }

  TemporaryFolder folder_;
};

TEST_F(CacheRoomTest, OldestUnusedGoFirstAndNoMoreThanNeeded) {
  Put("b.embeddings", 100, 30);
  Put("a.embeddings", 100, 20);
  Put("c.embeddings", 100, 10);
  Put("notes.txt", 1000, 1);
  EXPECT_THAT(Names(), ElementsAre("c.embeddings", "a.embeddings", "b.embeddings"));
  EXPECT_TRUE(MakeRoom(folder_.path(), 100, 400).enough);
  EXPECT_EQ(Names().size(), 3U);
  const CacheRoom room = MakeRoom(folder_.path(), 101, 400);
  EXPECT_TRUE(room.enough);
  EXPECT_EQ(room.removed, 1U);
  EXPECT_EQ(room.freed, 100U);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings", "b.embeddings"));
  MarkUsed(folder_.path() / "a.embeddings");
  EXPECT_EQ(MakeRoom(folder_.path(), 250, 400).removed, 1U);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "notes.txt"));
}

TEST_F(CacheRoomTest, NothingGoesForAFileThatIsAboveTheLimitItself) {
  Put("a.embeddings", 100, 10);
  const CacheRoom room = MakeRoom(folder_.path(), 401, 400);
  EXPECT_FALSE(room.enough);
  EXPECT_EQ(room.removed, 0U);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings"));
}

TEST_F(CacheRoomTest, AFileThatIsBeingFilledStays) {
  Put("a.embeddings", 100, 10);
  Put("b.embeddings", 100, 20);
  const int held = ::open((folder_.path() / "a.embeddings").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX | LOCK_NB), 0);
  EXPECT_TRUE(MakeRoom(folder_.path(), 100, 200).enough);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings"));
  EXPECT_FALSE(MakeRoom(folder_.path(), 150, 200).enough);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings"));
  ::close(held);
}

TEST_F(CacheRoomTest, NoFolderHasNoFiles) {
  EXPECT_TRUE(CachedFilesIn(folder_.path() / "none").empty());
  EXPECT_TRUE(MakeRoom(folder_.path() / "none", 1, 1).enough);
}

// A writer makes room before its file has any, and says what went.
TEST_F(CacheRoomTest, AWriterTakesThePlaceOfOldFiles) {
  const CacheLayout layout{
      .provenance = Provenance("model 1\n"), .shape = {.rows = 2, .block_rows = 2}, .columns = 3};
  const auto write = [&](const std::string& name, uint64_t limit) {
    CacheFileWriter writer(folder_.path() / name, layout, {}, limit);
    writer.Write(0, std::vector<float>(6, 1.0F));
    std::vector<float> back(6);
    EXPECT_TRUE(writer.Read(0, back));
    EXPECT_EQ(back.front(), 1.0F);
  };
  const uint64_t bytes = 2 * 4096 + 6 * sizeof(float);
  write("a.embeddings", bytes);
  const CapturedMessages messages;
  write("b.embeddings", 2 * bytes);
  EXPECT_EQ(messages.text(), "");
  Put("a.embeddings", bytes, 10);
  write("c.embeddings", 2 * bytes);
  EXPECT_THAT(Names(), testing::UnorderedElementsAre("b.embeddings", "c.embeddings"));
  EXPECT_THAT(messages.text(), HasSubstr("in 1 file (TANDEM_CACHE_BYTES is 16.0 KiB)"));
  try {
    write("d.embeddings", bytes - 1);
    FAIL();
  } catch (const OutputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("needs 8.0 KiB, and TANDEM_CACHE_BYTES leaves the cache"));
  }
  EXPECT_THAT(Names(), testing::UnorderedElementsAre("b.embeddings", "c.embeddings"));
}

// Reading a file is using it.
TEST_F(CacheRoomTest, AFileThatIsReadIsUsed) {
  const CacheLayout layout{
      .provenance = Provenance("model 1\n"), .shape = {.rows = 2, .block_rows = 2}, .columns = 3};
  const std::filesystem::path path = folder_.path() / "a.embeddings";
  { CacheFileWriter(path, layout).Write(0, std::vector<float>(6, 1.0F)); }
  const timespec times[2] = {{10, 0}, {10, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  Put("b.embeddings", 100, 20);
  EXPECT_THAT(Names(), ElementsAre("a.embeddings", "b.embeddings"));
  EXPECT_TRUE(ReadCacheFile(path, layout));
  EXPECT_THAT(Names(), ElementsAre("b.embeddings", "a.embeddings"));
}

TEST_F(CacheRoomTest, AHeaderSaysWhatAFileHolds) {
  const CacheLayout layout{
      .provenance = Provenance("model 1\nkind query\n"), .shape = {.rows = 2}, .columns = 3};
  { CacheFileWriter(folder_.path() / "a.embeddings", layout); }
  const auto lines = HeaderLinesOf(folder_.path() / "a.embeddings");
  ASSERT_TRUE(lines);
  EXPECT_EQ(lines->lines(), "model 1\nkind query\nrows 2\ncolumns 3\nblock 1\n");
  Put("b.embeddings", 10, 10);
  EXPECT_FALSE(HeaderLinesOf(folder_.path() / "b.embeddings"));
  EXPECT_FALSE(HeaderLinesOf(folder_.path() / "none.embeddings"));
}

}  // namespace
}  // namespace tandem::embeddings
