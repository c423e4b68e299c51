#include "data/judgements/judged_data.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/files/files.h"
#include "support/temporary_folder.h"

namespace tandem::data {
namespace {

constexpr const char* kCorpus[] = {R"({"_id": "a", "text": "one"})",
                                   R"({"_id": "b", "text": "two"})"};
constexpr const char* kQueries[] = {R"({"_id": "p", "text": "1?"})",
                                    R"({"_id": "q", "text": "2?"})"};

class FingerprintTest : public testing::Test {
 protected:
  // A BEIR folder of these lines.
  JudgedData Data(const std::vector<std::string>& corpus, const std::vector<std::string>& queries,
                  const std::vector<std::string>& judgements) {
    const std::filesystem::path folder = folder_.path() / std::to_string(folders_++);
    std::filesystem::create_directories(folder / "qrels");
    WriteFileAtomically(folder / "corpus.jsonl", Lines(corpus));
    WriteFileAtomically(folder / "queries.jsonl", Lines(queries));
    WriteFileAtomically(folder / "qrels" / "test.tsv",
                        "query-id\tcorpus-id\tscore\n" + Lines(judgements));
    return LoadJudgedData(folder, "test");
  }

 private:
  static std::string Lines(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += line + "\n";
    return text;
  }

  TemporaryFolder folder_;
  int folders_ = 0;
};

TEST_F(FingerprintTest, DoesNotDependOnTheOrderOfLines) {
  const uint64_t one = Fingerprint(Data({kCorpus[0], kCorpus[1]}, {kQueries[0], kQueries[1]},
                                        {"p\ta\t1", "p\tb\t0", "q\tb\t1"}));
  EXPECT_EQ(one, Fingerprint(Data({kCorpus[1], kCorpus[0]}, {kQueries[1], kQueries[0]},
                                  {"q\tb\t1", "p\tb\t0", "p\ta\t1"})));
}

TEST_F(FingerprintTest, IsAnotherOneForOtherData) {
  const std::vector<std::string> corpus = {kCorpus[0], kCorpus[1]};
  const std::vector<std::string> queries = {kQueries[0], kQueries[1]};
  const std::vector<std::string> judged = {"p\ta\t1", "q\tb\t1"};
  const JudgedData data = Data(corpus, queries, judged);
  const uint64_t one = Fingerprint(data);
  EXPECT_NE(one,
            Fingerprint(Data({kCorpus[0], R"({"_id": "b", "text": "three"})"}, queries, judged)));
  // The same texts under each other's ids: other documents are judged.
  EXPECT_NE(one,
            Fingerprint(Data({R"({"_id": "b", "text": "one"})", R"({"_id": "a", "text": "two"})"},
                             queries, judged)));
  EXPECT_NE(one, Fingerprint(Data(corpus, {kQueries[0], R"({"_id": "q", "text": "3?"})"}, judged)));
  EXPECT_NE(one, Fingerprint(Data(corpus, queries, {"p\ta\t1", "q\tb\t2"})));
  EXPECT_NE(one, Fingerprint(Data(corpus, queries, {"p\tb\t1", "q\ta\t1"})));
  Texts passages;
  passages.Add("a#1", "one");
  EXPECT_NE(one, Fingerprint(data, &passages));
}

}  // namespace
}  // namespace tandem::data
