#include "embeddings/layouts/npy_journal.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::embeddings {
namespace {

using testing::HasSubstr;

JournalBlock BlockOf(uint64_t number) {
  return {.texts_hash = ~number,
          .rows_hash = number << 40,
          .ids_hash = 7,
          .ids_bytes = 20 + number,
          .counts = {.texts = 10 + number, .tokens = 100, .truncated = 1, .empty = number}};
}

class JournalTest : public testing::Test {
 protected:
  JournalTest() : path_(folder_.path() / "journal") {}

  // With two blocks.
  std::string WriteJournal() const {
    JournalWriter writer(
        path_, {.provenance = Provenance("block 4 5\nmodel 1f\n"), .blocks = {BlockOf(1)}});
    writer.Append(BlockOf(2));
    writer.End(23);
    return ReadFile(path_);
  }

  TemporaryFolder folder_;
  std::filesystem::path path_;
};

TEST_F(JournalTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(ReadJournal(path_));
  WriteJournal();
  const auto journal = ReadJournal(path_);
  ASSERT_TRUE(journal);
  EXPECT_EQ(journal->provenance.lines(), "block 4 5\nmodel 1f\n");
  EXPECT_EQ(journal->blocks, (std::vector{BlockOf(1), BlockOf(2)}));
  EXPECT_EQ(journal->rows(), 23U);
  EXPECT_TRUE(journal->complete);
}

// A process may end within a line; whatever is behind it does not count.
TEST_F(JournalTest, CutAnywhereItHasTheBlocksOfWholeLines) {
  const std::string whole = WriteJournal();
  const size_t start = whole.find("\nblocks\n") + 8;
  for (size_t size = start; size <= whole.size(); ++size) {
    WriteFileAtomically(path_, whole.substr(0, size));
    const auto journal = ReadJournal(path_);
    ASSERT_TRUE(journal);
    const std::string rest = whole.substr(start, size - start);
    const auto lines = static_cast<size_t>(std::count(rest.begin(), rest.end(), '\n'));
    EXPECT_EQ(journal->blocks.size(), std::min<size_t>(lines, 2)) << size;
    EXPECT_EQ(journal->complete, lines == 3) << size;
  }
  const size_t first_end = whole.find('\n', start) + 1;
  WriteFileAtomically(path_, whole.substr(0, first_end) + std::string(40, '\0') + "\n");
  EXPECT_EQ(ReadJournal(path_)->blocks.size(), 1U);
}

TEST_F(JournalTest, AnotherFileIsAnError) {
  for (const char* text : {"", "tandem encode 1\nblocks\n", "tandem encode 3\nblocks\n",
                           "tandem encode 2\nmodel 1f\n"}) {
    WriteFileAtomically(path_, text);
    EXPECT_THROW(ReadJournal(path_), DataError) << text;
  }
}

TEST_F(JournalTest, NamesTheFirstSettingThatDiffers) {
  const Journal journal{
      .provenance = Provenance("width 32\nmodel 1f\nprecision fp32\nsomething new\n"),
      .blocks = {}};
  const auto problem = [&](const std::string& wanted) -> std::string {
    try {
      CheckSameProvenance(journal, Provenance(wanted), "x.npy");
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(problem(journal.provenance.lines()), "");
  EXPECT_THAT(problem("width 32\nmodel 1f\nprecision bf16\nsomething new\n"),
              HasSubstr("x.npy: was encoded with precision fp32, and now it is bf16"));
  EXPECT_THAT(problem("width 16\nmodel 2f\nprecision fp32\nsomething new\n"),
              HasSubstr("numbers an embedding 32, and now it is 16"));
  EXPECT_THAT(problem("width 32\nmodel 2f\nprecision fp32\nsomething new\n"),
              HasSubstr("another model"));
  EXPECT_THROW(CheckSameProvenance(
                   journal, Provenance("width 32\nmodel 2f\nprecision fp32\nsomething new\n"), ""),
               ModelError);
  EXPECT_THAT(problem("width 32\nmodel 1f\nprecision fp32\nsomething newer\n"),
              HasSubstr("another version of Tandem"));
}

}  // namespace
}  // namespace tandem::embeddings
