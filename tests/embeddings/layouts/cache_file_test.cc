#include "embeddings/layouts/cache_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/error.h"
#include "support/captured_messages.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

using testing::HasSubstr;

// Ten rows of three columns in blocks of four: two whole blocks and one of two rows.
class CacheFileTest : public testing::Test {
 protected:
  CacheFileTest() {
    for (size_t i = 0; i < 30; ++i) values_.push_back(static_cast<float>(i) / 7);
  }
  std::span<const float> Block(size_t block) const {
    return std::span(values_).subspan(block * 12, layout_.shape.rows_of(block) * 3);
  }
  void Fill(CacheFileWriter& writer, std::initializer_list<size_t> blocks) const {
    for (const size_t block : blocks) writer.Write(block, Block(block));
  }
  void WriteAll() const {
    CacheFileWriter writer(path_, layout_);
    Fill(writer, {0, 1, 2});
  }
  std::string Bytes() const { return ReadFile(path_); }
  // Changes the file as no writer does.
  void Put(const std::string& bytes) const { WriteFileAtomically(path_, bytes); }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "cache" / "one.embeddings";
  CacheLayout layout_{.provenance = Provenance("model 1\ntexts 2\n"),
                      .shape = {.rows = 10, .block_rows = 4},
                      .columns = 3,
                      .threads = 2};
  std::vector<float> values_;
};

TEST_F(CacheFileTest, GivesBackWhatWasWrittenInAnyOrder) {
  {
    CacheFileWriter writer(path_, layout_);
    EXPECT_EQ(writer.kept_rows(), 0U);
    EXPECT_FALSE(writer.has(2));
    Fill(writer, {2, 0, 1});
    EXPECT_TRUE(writer.has(2));
  }
  const auto read = ReadCacheFile(path_, layout_);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->values, testing::ElementsAreArray(values_));
  EXPECT_EQ(Bytes().size(), 8192U + 30 * sizeof(float));
  EXPECT_THAT(Bytes(), testing::StartsWith("tandem embeddings 3\nmodel 1\ntexts 2\nrows 10\n"));
}

TEST_F(CacheFileTest, IsNotReadBeforeItIsComplete) {
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
  CacheFileWriter writer(path_, layout_);
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
  Fill(writer, {0, 2});
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
  Fill(writer, {1});
  EXPECT_TRUE(ReadCacheFile(path_, layout_));
}

TEST_F(CacheFileTest, KeepsTheCountsOfTheTextsOfEachBlock) {
  const EncodeCounts first{.texts = 4, .tokens = 40, .truncated = 1};
  const EncodeCounts third{.texts = 2, .tokens = 9, .truncated = 2, .empty = 1, .only_prompt = 1};
  {
    CacheFileWriter writer(path_, layout_);
    writer.Write(0, Block(0), first);
    writer.Write(2, Block(2), third);
  }
  EncodeCounts both = first;
  both += third;
  CacheFileWriter writer(path_, layout_);
  EXPECT_EQ(writer.kept_counts(), both);
  writer.Write(1, Block(1), first);
  both += first;
  EXPECT_EQ(CountsOf(path_, layout_), both);
  EXPECT_TRUE(ReadCacheFile(path_, layout_));
  EXPECT_EQ(CountsOf(folder_.path() / "none", layout_), EncodeCounts());
}

TEST_F(CacheFileTest, WholeRowsAreThoseOfWholeBlocks) {
  EXPECT_EQ(WholeRowsOf(path_, layout_), 0U);
  {
    CacheFileWriter writer(path_, layout_);
    EXPECT_EQ(WholeRowsOf(path_, layout_), 0U);
    Fill(writer, {0, 2});
    EXPECT_EQ(WholeRowsOf(path_, layout_), 6U);
    Fill(writer, {1});
    EXPECT_EQ(WholeRowsOf(path_, layout_), 10U);
  }
  const std::string whole = Bytes();
  CacheLayout other = layout_;
  other.provenance = Provenance("model 2\ntexts 2\n");
  EXPECT_EQ(WholeRowsOf(path_, other), 0U);
  std::string altered = whole;
  altered.back() ^= 1;
  Put(altered);
  EXPECT_EQ(WholeRowsOf(path_, layout_), 8U);
  Put(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(WholeRowsOf(path_, layout_), 0U);
}

TEST_F(CacheFileTest, RoomIsWhatTheFileNeeds) {
  EXPECT_NO_THROW(CheckRoom(path_, layout_));
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "cache"));
  CacheLayout huge = layout_;
  huge.shape.rows = size_t{1} << 50;
  huge.shape.block_rows = huge.shape.rows;
  try {
    CheckRoom(path_, huge);
    FAIL();
  } catch (const OutputError& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::kData);
    EXPECT_THAT(error.what(), HasSubstr("cannot have the 12884901889 MB that it needs"));
  }
  WriteFileAtomically(folder_.path() / "cache", "a file");
  EXPECT_THROW(CheckRoom(path_, layout_), OutputError);
  std::filesystem::remove(folder_.path() / "cache");
  WriteAll();
  EXPECT_NO_THROW(CheckRoom(path_, huge));  // it has its size already
}

TEST_F(CacheFileTest, AnotherProcessGoesOnAfterOneThatWasKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    CacheFileWriter writer(path_, layout_);
    Fill(writer, {0, 2});
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  const CapturedMessages messages;
  {
    CacheFileWriter writer(path_, layout_);
    EXPECT_EQ(writer.kept_rows(), 6U);
    EXPECT_TRUE(writer.has(0));
    EXPECT_FALSE(writer.has(1));
    Fill(writer, {1});
    EXPECT_EQ(writer.kept_rows(), 6U);
  }
  EXPECT_EQ(messages.text(), "");
  const auto read = ReadCacheFile(path_, layout_);
  ASSERT_TRUE(read);
  EXPECT_THAT(read->values, testing::ElementsAreArray(values_));
}

// A process was killed after it had given the file its size and before it wrote the header.
TEST_F(CacheFileTest, AFileWithoutHeaderIsAnEmptyOne) {
  WriteAll();
  const std::string whole = Bytes();
  Put(std::string(4096, '\0') + whole.substr(4096));
  const CapturedMessages messages;
  CacheFileWriter writer(path_, layout_);
  EXPECT_EQ(messages.text(), "");
  EXPECT_EQ(writer.kept_rows(), 0U);
  Fill(writer, {0});
  EXPECT_FALSE(ReadCacheFile(path_, layout_));  // hashes of before are gone
}

TEST_F(CacheFileTest, AnotherSourceIsSaidAndMadeAgain) {
  WriteAll();
  CacheLayout other = layout_;
  other.provenance = Provenance("model 3\ntexts 2\n");
  EXPECT_FALSE(ReadCacheFile(path_, other));
  const CapturedMessages messages;
  const CacheFileWriter writer(path_, other);
  EXPECT_THAT(messages.text(),
              HasSubstr("one.embeddings: belongs to another model, other texts or other settings "
                        "(it has \"model 1\", expected \"model 3\"); it is made again: its texts "
                        "are encoded anew, and nothing needs to be done"));
  EXPECT_EQ(writer.kept_rows(), 0U);
}

TEST_F(CacheFileTest, OtherCountsAreAnotherFile) {
  WriteAll();
  CacheLayout other = layout_;
  other.shape.rows = 9;
  EXPECT_FALSE(ReadCacheFile(path_, other));
  other = layout_;
  other.columns = 2;
  EXPECT_FALSE(ReadCacheFile(path_, other));
  const CapturedMessages messages;
  const CacheFileWriter writer(path_, other);
  EXPECT_THAT(messages.text(), HasSubstr("(it has \"columns 3\", expected \"columns 2\")"));
}

TEST_F(CacheFileTest, WhatIsNoFileOfEmbeddingsIsSaidAndReplaced) {
  std::filesystem::create_directories(path_.parent_path());
  Put(std::string(9000, 'x'));
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
  const CapturedMessages messages;
  WriteAll();
  EXPECT_THAT(messages.text(),
              HasSubstr("another version of Tandem made it, or it is damaged; it is made"));
  EXPECT_TRUE(ReadCacheFile(path_, layout_));
}

TEST_F(CacheFileTest, AFileThatIsCutShortIsSaidAndMadeAgain) {
  WriteAll();
  const std::string whole = Bytes();
  for (const size_t size : {whole.size() - 1, size_t{8192}, size_t{4097}, size_t{100}}) {
    Put(whole.substr(0, size));
    EXPECT_FALSE(ReadCacheFile(path_, layout_));
    const CapturedMessages messages;
    WriteAll();
    EXPECT_THAT(messages.text(),
                HasSubstr("has " + std::to_string(size) +
                          " bytes, expected 8312: it was cut short; it is made again: its texts "
                          "are encoded anew, and nothing needs to be done"));
    EXPECT_EQ(Bytes(), whole);
  }
}

TEST_F(CacheFileTest, AlteredBlocksAreSaidAndOnlyTheyAreMadeAgain) {
  WriteAll();
  const std::string whole = Bytes();
  std::string altered = whole;
  altered[8192 + 4 * 12 + 5] ^= 1;  // a bit of block 1
  Put(altered);
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
  const CapturedMessages messages;
  {
    CacheFileWriter writer(path_, layout_);
    EXPECT_TRUE(writer.has(0));
    EXPECT_FALSE(writer.has(1));
    EXPECT_TRUE(writer.has(2));
    Fill(writer, {1});
  }
  EXPECT_THAT(messages.text(), HasSubstr("1 of 3 blocks are not as they were written"));
  EXPECT_EQ(Bytes(), whole);
}

TEST_F(CacheFileTest, BlocksThatChangedPlacesAreAltered) {
  WriteAll();
  std::string bytes = Bytes();
  const auto exchange = [&](size_t a, size_t b, size_t size) {
    std::swap_ranges(bytes.begin() + static_cast<long>(a),
                     bytes.begin() + static_cast<long>(a + size),
                     bytes.begin() + static_cast<long>(b));
  };
  exchange(4096, 4104, 8);        // hashes of blocks 0 and 1
  exchange(8192, 8192 + 48, 48);  // and their rows
  Put(bytes);
  EXPECT_FALSE(ReadCacheFile(path_, layout_));
}

TEST_F(CacheFileTest, AProcessWaitsForTheOneThatFillsTheFile) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    {
      CacheFileWriter writer(path_, layout_);
      [[maybe_unused]] const auto written = ::write(ready[1], "x", 1);
      ::usleep(500'000);
      Fill(writer, {0, 1, 2});
    }
    ::_exit(0);
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  const CapturedMessages messages;
  int calls = 0;
  {
    const CacheFileWriter writer(path_, layout_, [&] { ++calls; });
    EXPECT_EQ(writer.kept_rows(), 10U);
  }
  EXPECT_GT(calls, 0);
  EXPECT_THAT(messages.text(),
              HasSubstr("waiting for another process that encodes the same texts"));
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST_F(CacheFileTest, WaitingCanBeStopped) {
  const CacheFileWriter holder(path_, layout_);
  const auto stop = [] { throw std::runtime_error("stopped"); };
  EXPECT_THROW(CacheFileWriter(path_, layout_, stop), std::runtime_error);
}

// Whoever waited for a file that was then replaced must fill the one that has the name now.
TEST_F(CacheFileTest, AFileThatWasRemovedWhileWaitingIsMadeAnew) {
  WriteAll();
  const int held = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const auto remove_and_let_go = [&] {
    std::filesystem::remove(path_);
    ::flock(held, LOCK_UN);
  };
  {
    CacheFileWriter writer(path_, layout_, remove_and_let_go);
    EXPECT_EQ(writer.kept_rows(), 0U);
    Fill(writer, {0, 1, 2});
  }
  EXPECT_TRUE(ReadCacheFile(path_, layout_));
  ::close(held);
}

TEST_F(CacheFileTest, AFolderThatCannotBeWrittenIsAnError) {
  WriteFileAtomically(folder_.path() / "file", "x");
  EXPECT_THROW(CacheFileWriter(folder_.path() / "file" / "a", layout_), OutputError);
  CacheLayout large = layout_;
  large.shape.rows = size_t{1} << 44;  // no file system has room for 2^46 * 3 bytes
  large.shape.block_rows = size_t{1} << 34;
  EXPECT_THROW(CacheFileWriter(folder_.path() / "large", large), OutputError);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "large"));
}

TEST_F(CacheFileTest, ABlockOfAnotherSizeIsABug) {
  CacheFileWriter writer(path_, layout_);
  EXPECT_THROW(writer.Write(2, Block(0)), std::logic_error);
}

}  // namespace
}  // namespace tandem::embeddings
