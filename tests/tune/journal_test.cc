#include "tune/journal.h"

#include <gtest/gtest.h>

#include <string>

#include "base/files/files.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::tune {
namespace {

class JournalTest : public testing::Test {
 protected:
  std::filesystem::path path() const { return folder_.path() / "journal.jsonl"; }
  TemporaryFolder folder_;
  std::unique_ptr<dist::ProcessGroup> group_ = dist::ProcessGroup::Alone();
};

TEST_F(JournalTest, RowsAreThereAgain) {
  {
    Journal journal(path(), *group_);
    EXPECT_EQ(journal.Find("plan"), nullptr);
    journal.Append([] { return Json{{"event", "plan"}, {"seed", 3}}; });
    const Json& row = journal.Append([] { return Json{{"event", "rung"}, {"value", 0.1}}; });
    EXPECT_EQ(row.at("value").get<double>(), 0.1);
    journal.Append([] { return Json{{"event", "rung"}, {"value", 0.3}}; });
  }
  const Journal journal(path(), *group_);
  EXPECT_EQ(journal.rows().size(), 3U);
  EXPECT_EQ(journal.Find("plan")->at("seed").get<int64_t>(), 3);
  ASSERT_EQ(journal.All("rung").size(), 2U);
  EXPECT_EQ(journal.All("rung")[1]->at("value").get<double>(), 0.3);
}

TEST_F(JournalTest, ACutLastLineIsWrittenAgain) {
  const std::string whole = "{\"event\":\"plan\"}\n";
  for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
    WriteFileAtomically(path(), whole + whole.substr(0, bytes));
    Journal journal(path(), *group_);
    EXPECT_EQ(journal.rows().size(), 1U);
    journal.Append([] { return Json{{"event", "end"}}; });
    EXPECT_EQ(ReadFile(path()), whole + "{\"event\":\"end\"}\n");
  }
}

TEST_F(JournalTest, ALineOfAnotherKindIsRefused) {
  for (const char* line : {"{\"event\":", "[]", "{}", "{\"event\": 3}", ""}) {
    WriteFileAtomically(path(), std::string("{\"event\":\"plan\"}\n") + line + "\n");
    ExpectError([&] { Journal(path(), *group_); }, ExitCode::kModel, {"journal.jsonl", "line 2"});
  }
}

}  // namespace
}  // namespace tandem::tune
