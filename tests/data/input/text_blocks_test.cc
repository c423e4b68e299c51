#include "data/input/text_blocks.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <string>

#include "data/data_test.h"
#include "data/formats/trec_run.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;

struct Line {
  int64_t number = 0;
  std::string text;
};

// The lines of a file, read in blocks of about `block_bytes`, and how many blocks there were.
std::vector<Line> LinesOf(const std::filesystem::path& path, size_t block_bytes, int threads,
                          Warnings& warnings, size_t* count = nullptr) {
  TextBlocks blocks(path, block_bytes);
  std::map<size_t, std::vector<Line>> found;
  std::mutex mutex;
  ParseBlocks(blocks, threads, warnings, [&](size_t index, LineReader& reader) {
    std::vector<Line> lines;
    std::string_view line;
    while (reader.Next(&line)) {
      if (line == "broken") throw reader.Error("is broken");
      if (line == "odd") reader.warnings().Count(reader.file(), "odd lines", reader.line_number());
      lines.push_back({reader.line_number(), std::string(line)});
    }
    const std::scoped_lock lock(mutex);
    EXPECT_TRUE(found.emplace(index, std::move(lines)).second);
  });
  std::vector<Line> all;
  for (auto& [index, lines] : found) all.insert(all.end(), lines.begin(), lines.end());
  if (count != nullptr) *count = found.size();
  return all;
}

class TextBlocksTest : public testing::TestWithParam<int> {  // threads
 protected:
  std::filesystem::path Write(std::string_view bytes) {
    WriteFileAtomically(path_, bytes);
    return path_;
  }
  const TemporaryFolder folder_;
  const std::filesystem::path path_ = folder_.path() / "f";
};

// Whatever the size of the blocks, the lines are those of a LineReader, numbers included.
TEST_P(TextBlocksTest, GiveTheLinesOfTheFile) {
  for (const bool ends : {false, true}) {
    std::string text =
        "\xEF\xBB\xBF"
        "first\r\n\n";
    for (int i = 0; i < 200; ++i) text += std::string(static_cast<size_t>(i % 37), 'x') + "\n";
    text += ends ? "last\n" : "last";
    Write(text);
    Warnings expected_warnings;
    LineReader reader(path_, expected_warnings);
    std::vector<Line> expected;
    std::string_view line;
    while (reader.Next(&line)) expected.push_back({reader.line_number(), std::string(line)});
    for (const size_t block_bytes : {1, 7, 64, 1000, 1 << 20}) {
      Warnings warnings;
      size_t blocks = 0;
      const std::vector<Line> lines = LinesOf(path_, block_bytes, GetParam(), warnings, &blocks);
      ASSERT_EQ(lines.size(), expected.size()) << block_bytes;
      for (size_t i = 0; i < lines.size(); ++i) {
        EXPECT_EQ(lines[i].number, expected[i].number);
        EXPECT_EQ(lines[i].text, expected[i].text);
      }
      EXPECT_EQ(warnings.Messages(), expected_warnings.Messages()) << block_bytes;
      EXPECT_GE(blocks, text.size() / (block_bytes + 64));
      EXPECT_LE(blocks, text.size() / block_bytes + 1);
    }
  }
}

TEST_P(TextBlocksTest, AFileWithoutBytesHasNoBlock) {
  Warnings warnings;
  size_t blocks = 9;
  EXPECT_THAT(LinesOf(Write(""), 8, GetParam(), warnings, &blocks), ElementsAre());
  EXPECT_EQ(blocks, 0U);
}

// The failure that the file has first is thrown, although later blocks fail too, and counted is
// what stands before it.
TEST_P(TextBlocksTest, TheFirstFailureOfTheFileIsThrown) {
  for (int repeat = 0; repeat < 50; ++repeat) {
    std::string text;
    for (int line = 1; line <= 400; ++line) {
      text += line % 50 == 49 ? "odd\n" : line > 120 && line % 3 == 0 ? "broken\n" : "good line\n";
    }
    Warnings warnings;
    EXPECT_EQ(DataErrorOf([&] { LinesOf(Write(text), 30, GetParam(), warnings); }),
              path_.native() + ":123: is broken");
    EXPECT_THAT(warnings.Messages(),
                ElementsAre(path_.native() + ": odd lines: 2 (first at line 49)"));
  }
}

TEST_P(TextBlocksTest, AGzipFileThatIsCutShortIsAnErrorBehindItsLines) {
  std::string text;
  for (int i = 0; i < 200000; ++i) text += fmt::format("odd\n{}\n", i * 7919 % 100003);
  WriteGzip(path_, text);
  Warnings whole;
  EXPECT_EQ(LinesOf(path_, 10000, GetParam(), whole).size(), 400000U);
  const std::string bytes = ReadFile(path_);
  Write(std::string_view(bytes).substr(0, bytes.size() / 2));
  Warnings warnings;
  EXPECT_EQ(DataErrorOf([&] { LinesOf(path_, 10000, GetParam(), warnings); }),
            path_.native() + ": cannot be read: the gzip stream is cut short");
  EXPECT_GT(warnings.count("odd lines"), 1000U);
}

// A run of several blocks is that of one block: also queries that stand in many places.
TEST_P(TextBlocksTest, RunsDoNotDependOnThreads) {
  std::string text;
  for (int i = 0; i < 90000; ++i) {
    text += fmt::format("q{} Q0 document-{} 1 {} tag\n", i % 20 < 10 ? i / 1000 : i % 20, i, -i);
  }
  Write(text);
  ASSERT_GT(text.size(), 2 * kTextBlockBytes);
  Warnings warnings;
  LineReader reader(path_, warnings);
  const data::Run expected = ReadTrecRun(reader);
  const data::Run run = ReadTrecRun(path_, &warnings, GetParam());
  ASSERT_EQ(run.queries().size(), expected.queries().size());
  for (size_t q = 0; q < run.queries().size(); ++q) {
    const QueryResults& want = expected.queries()[q];
    const QueryResults* got = run.Find(want.query);
    ASSERT_EQ(got, &run.queries()[q]);
    ASSERT_EQ(got->results.size(), want.results.size());
    for (size_t r = 0; r < want.results.size(); ++r) {
      ASSERT_EQ(got->results[r].document, want.results[r].document);
      ASSERT_EQ(got->results[r].score, want.results[r].score);
    }
  }
  // Line 1 of query q0 and line 50,011 of q10 again, in another block; the former is the first
  // query.
  Write(text + "q10 Q0 document-50010 1 1 tag\nq0 Q0 document-0 1 1 tag\n");
  EXPECT_EQ(DataErrorOf([&] { ReadTrecRun(path_, &warnings, GetParam()); }),
            path_.native() + ":90002: document document-0 was given in line 1 already (id q0)");
  Write(text + "q10 Q0 document-50010 1 1 tag\n");
  EXPECT_EQ(
      DataErrorOf([&] { ReadTrecRun(path_, &warnings, GetParam()); }),
      path_.native() + ":90001: document document-50010 was given in line 50011 already (id q10)");
}

INSTANTIATE_TEST_SUITE_P(Threads, TextBlocksTest, testing::Values(1, 2, 5));

}  // namespace
}  // namespace tandem::data
