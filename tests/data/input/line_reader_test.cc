#include "data/input/line_reader.h"

#include <random>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> LinesOf(LineReader& reader) {
  std::vector<std::string> lines;
  std::string_view line;
  while (reader.Next(&line)) lines.emplace_back(line);
  return lines;
}

std::vector<std::string> LinesOf(std::string_view bytes, Warnings& warnings) {
  LineReader reader("f", bytes, warnings);
  return LinesOf(reader);
}

TEST(LineReader, TheLastLineNeedsNoEnd) {
  Warnings warnings;
  EXPECT_THAT(LinesOf("a\nb", warnings), ElementsAre("a", "b"));
  EXPECT_THAT(LinesOf("a\nb\n", warnings), ElementsAre("a", "b"));
  EXPECT_THAT(LinesOf("", warnings), IsEmpty());
  EXPECT_THAT(warnings.Messages(), IsEmpty());
}

TEST(LineReader, CarriageReturnsMarksAndBlankLinesAreCounted) {
  Warnings warnings;
  LineReader reader("f",
                    "\xEF\xBB\xBF"
                    "a\r\n\n \t\r\nb\r\nc\rd\n",
                    warnings);
  std::string_view line;
  ASSERT_TRUE(reader.Next(&line));
  EXPECT_EQ(line, "a");
  EXPECT_EQ(reader.line_number(), 1);
  ASSERT_TRUE(reader.Next(&line));
  EXPECT_EQ(line, "b");
  EXPECT_EQ(reader.line_number(), 4);
  ASSERT_TRUE(reader.Next(&line));
  EXPECT_EQ(line, "c\rd");
  EXPECT_FALSE(reader.Next(&line));
  EXPECT_THAT(warnings.Messages(),
              ElementsAre("f: byte order marks, ignored: 1 (first at line 1)",
                          "f: lines that end in CR LF, read as LF: 3 (first at line 1)",
                          "f: blank lines, skipped: 2 (first at line 2)"));
}

// Lines of every length around the buffer's size, from a file, through gzip and from memory.
TEST(LineReader, LinesMayBeLongerThanTheBuffer) {
  std::mt19937 random(7);
  std::string bytes;
  std::vector<std::string> expected;
  for (const size_t size : {1, 262143, 262144, 262145, 3, 900000, 5, 262080, 100}) {
    expected.emplace_back(size, static_cast<char>('a' + random() % 26));
    bytes += expected.back() + "\n";
  }
  const TemporaryFolder folder;
  Warnings warnings;
  EXPECT_EQ(LinesOf(bytes, warnings), expected);
  WriteFileAtomically(folder.path() / "plain", bytes);
  LineReader plain(folder.path() / "plain", warnings);
  EXPECT_EQ(LinesOf(plain), expected);
  WriteGzip(folder.path() / "packed.gz", bytes);
  LineReader packed(folder.path() / "packed.gz", warnings);
  EXPECT_EQ(LinesOf(packed), expected);
}

TEST(LineReader, WhatCannotBeReadIsADataError) {
  const TemporaryFolder folder;
  const std::string path = folder.path().native();
  Warnings warnings;
  EXPECT_EQ(DataErrorOf([&] { LineReader(folder.path() / "none", warnings); }),
            path + "/none: cannot be read: No such file or directory");
  EXPECT_EQ(DataErrorOf([&] { LineReader(folder.path(), warnings); }),
            path + ": is a folder, expected a file");
  WriteFileAtomically(folder.path() / "plain.gz", "not packed");
  EXPECT_EQ(DataErrorOf([&] { LineReader(folder.path() / "plain.gz", warnings); }),
            path + "/plain.gz: is called .gz but is not a gzip file");
}

TEST(LineReader, BrokenGzipStreamsAreDataErrors) {
  const TemporaryFolder folder;
  const auto path = folder.path() / "f.gz";
  std::mt19937 random(7);
  std::string text(100000, 'x');
  for (char& c : text) c = static_cast<char>('a' + random() % 26);
  WriteGzip(path, text);
  const std::string packed = ReadFile(path);
  Warnings warnings;
  const auto read = [&](const std::string& bytes) {
    WriteFileAtomically(path, bytes);
    return DataErrorOf([&] {
      LineReader reader(path, warnings);
      LinesOf(reader);
    });
  };
  EXPECT_THAT(read(packed), HasSubstr("no error"));
  EXPECT_EQ(read(packed.substr(0, packed.size() / 2)),
            path.native() + ": cannot be read: the gzip stream is cut short");
  std::string flipped = packed;
  flipped[packed.size() - 6] ^= 1;  // in the checksum
  EXPECT_THAT(read(flipped), HasSubstr("incorrect data check"));
}

}  // namespace
}  // namespace tandem::data
