#include "commands/search/query_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "base/error.h"
#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::app {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Shown(const std::vector<SearchQuery>& queries) {
  std::vector<std::string> shown;
  for (const SearchQuery& query : queries) shown.push_back(query.id + "=" + query.text);
  return shown;
}

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    Close();
    ::close(ends_[0]);
  }
  int out() const { return ends_[0]; }
  void Write(std::string_view text) const {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void Close() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(QueriesOfTexts, NumbersThem) {
  const auto source = QueriesOfTexts({"a", "b", "c"});
  EXPECT_THAT(Shown(source->Next(2)), ElementsAre("q1=a", "q2=b"));
  EXPECT_THAT(Shown(source->Next(2)), ElementsAre("q3=c"));
  EXPECT_THAT(source->Next(2), IsEmpty());
}

TEST(QueriesOfLines, HandsOutWhatIsThereWithoutWaitingForMore) {
  Pipe pipe;
  const auto source = QueriesOfLines(pipe.out());
  pipe.Write("one\ntwo\r\n\n \nfi");
  EXPECT_THAT(Shown(source->Next(10)), ElementsAre("q1=one", "q2=two"));
  pipe.Write("ve\nsix");
  EXPECT_THAT(Shown(source->Next(10)), ElementsAre("q5=five"));
  pipe.Close();
  EXPECT_THAT(Shown(source->Next(10)), ElementsAre("q6=six"));
  EXPECT_THAT(source->Next(10), IsEmpty());
}

TEST(QueriesOfLines, KeepsToTheBlock) {
  Pipe pipe;
  pipe.Write(
      "\xEF\xBB\xBF"
      "1\n2\n3\n");  // a byte order mark is no part of a query
  pipe.Close();
  const auto source = QueriesOfLines(pipe.out());
  EXPECT_THAT(Shown(source->Next(2)), ElementsAre("q1=1", "q2=2"));
  EXPECT_THAT(Shown(source->Next(2)), ElementsAre("q3=3"));
  EXPECT_THAT(source->Next(2), IsEmpty());
}

TEST(QueriesOfLines, RefusesALineWithoutAnEnd) {
  Pipe pipe;
  std::thread writer([&pipe] {
    pipe.Write("fine\n");
    const std::string part(1 << 16, 'x');
    for (int i = 0; i < 18; ++i) pipe.Write(part);
    pipe.Close();
  });
  const auto source = QueriesOfLines(pipe.out());
  EXPECT_THAT(Shown(source->Next(1)), ElementsAre("q1=fine"));
  try {
    source->Next(1);
    ADD_FAILURE() << "no error";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "standard input:2: has more than 1 MiB, and each line is a query");
  }
  std::array<char, 1 << 16> rest;
  while (::read(pipe.out(), rest.data(), rest.size()) > 0) {
  }
  writer.join();
}

TEST(QueriesOfFile, RefusesIdsThatComeTwiceOrFitNoRun) {
  const TemporaryFolder folder;
  const std::string file = (folder.path() / "queries.jsonl").native();
  WriteFileAtomically(file,
                      "{\"_id\": \"a\", \"text\": \"one\"}\n{\"_id\": \"b c\", \"text\": \"two\"}\n"
                      "{\"_id\": \"a\", \"text\": \"three\"}\n");
  const auto error_of = [&](bool for_run) -> std::string {
    try {
      const auto source = QueriesOfFile(file, for_run);
      while (!source->Next(1).empty()) {
      }
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(error_of(false), file + ":3: is the id of an earlier query, of line 1 (id a)");
  EXPECT_THAT(error_of(true), testing::HasSubstr("a TREC run separates its fields by blanks"));
}

}  // namespace
}  // namespace tandem::app
