#include "data/texts/passage_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/files/files.h"
#include "data/judgements/judged_data.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"

namespace tandem::data {
namespace {

using testing::ElementsAre;

TEST(DocumentOfPassage, IsTheIdBeforeTheNumber) {
  EXPECT_EQ(DocumentOfPassage("a.md#3"), "a.md");
  EXPECT_EQ(DocumentOfPassage("a#2#10"), "a#2");
  for (const std::string id : {"a", "a#", "#3", "a#b3", "a#3b", "", "a3"}) {
    EXPECT_EQ(DocumentOfPassage(id), id);
  }
}

Texts Named(const std::vector<std::string>& ids) {
  Texts texts;
  for (const std::string& id : ids) texts.Add(id, "text of " + id);
  return texts;
}

TEST(GroupPassages, KnowsTheDocuments) {
  const PassageGroups groups = GroupPassages(Named({"a#1", "a#2", "b", "c#9"}), "f");
  EXPECT_EQ(groups.documents.size(), 3U);
  EXPECT_EQ(groups.documents.id(2), "c");
  EXPECT_THAT(groups.document_of, ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(groups.starts, ElementsAre(0, 2, 3, 4));
  EXPECT_THAT(GroupPassages({}, "f").starts, ElementsAre(0));
}

TEST(GroupPassages, RefusesPassagesThatStandApart) {
  ExpectError(
      [] {
        GroupPassages(Named({"a#1", "b#1", "a#2"}), "corpus.jsonl");
      },
      ExitCode::kData, {"corpus.jsonl: the passages of a do not stand side by side", "(id a#2)"});
}

TEST(LoadJudgedDocuments, JudgesDocumentsByTheirPassages) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.path() / "qrels");
  WriteFileAtomically(folder.path() / "corpus.jsonl",
                      "{\"_id\": \"a#1\", \"text\": \"x\"}\n{\"_id\": \"a#2\", \"text\": \"y\"}\n"
                      "{\"_id\": \"b#1\", \"text\": \"z\"}\n");
  WriteFileAtomically(folder.path() / "queries.jsonl", "{\"_id\": \"q\", \"text\": \"x\"}\n");
  WriteFileAtomically(folder.path() / "qrels" / "test.tsv",
                      "query-id\tcorpus-id\tscore\nq\ta#1\t1\nq\ta#2\t2\nq\tb\t0\n");
  PassageGroups groups;
  const JudgedData judged = LoadJudgedDocuments(folder.path(), "test", &groups);
  ASSERT_EQ(judged.qrels.queries().size(), 1U);
  const QueryJudgements& query = judged.qrels.queries()[0];
  ASSERT_EQ(query.judgements.size(), 2U);
  EXPECT_EQ(query.judgements[0].document, "a");
  EXPECT_EQ(query.judgements[0].grade, 2);
  EXPECT_EQ(query.judgements[1].document, "b");
  EXPECT_EQ(judged.dataset.documents.size(), 2U);
  EXPECT_EQ(judged.dataset.judged.at(0).judgements.at(1).document, 1U);
  EXPECT_EQ(groups.passages.size(), 3U);
}

}  // namespace
}  // namespace tandem::data
