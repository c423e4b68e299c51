#include "data/judgements/candidates.h"

#include <string>
#include <vector>

#include "data/data_test.h"

namespace tandem::data {
namespace {

using testing::HasSubstr;

class CandidatesTest : public testing::Test {
 protected:
  CandidatesTest() {
    for (const char* id : {"d0", "d1", "d2", "d3"}) dataset_.documents.Add(id, id);
    for (const char* id : {"q0", "q1", "q2"}) dataset_.queries.Add(id, id);
    dataset_.judged = {{1, {{0, 1.0}}}, {0, {{2, 1.0}}}};  // q2 is not judged
    dataset_.file = "dev.tsv";
  }
  Candidates Read(const std::string& lines) {
    WriteFileAtomically(path_, lines);
    return ReadCandidates(path_, dataset_);
  }
  std::string ErrorOf(const std::string& lines) {
    return DataErrorOf([&] { Read(lines); });
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "first.trec";
  Dataset dataset_;
};

TEST_F(CandidatesTest, AreTheListsOfTheJudgedQueriesInTheOrderOfTheRun) {
  const Candidates read =
      Read("q0 Q0 d3 1 0.1 t\nq1 Q0 d2 1 5 t\nq0 Q0 d0 2 0.9 t\nq2 Q0 d1 1 1 t\nq1 Q0 d1 2 7 t\n");
  EXPECT_EQ(read.documents, (std::vector<std::vector<uint32_t>>{{2, 1}, {3, 0}}));
  EXPECT_EQ(read.queries_without, 0U);
  EXPECT_EQ(read.unjudged_queries, 1U);
}

TEST_F(CandidatesTest, QueriesWithoutAreCounted) {
  const Candidates read = Read("q0 Q0 d3 1 0.1 t\n");
  EXPECT_EQ(read.documents, (std::vector<std::vector<uint32_t>>{{}, {3}}));
  EXPECT_EQ(read.queries_without, 1U);
  EXPECT_THAT(ErrorOf("q2 Q0 d3 1 0.1 t\nq7 Q0 d1 1 1 t\n"),
              HasSubstr("first.trec: has candidates for none of the 2 judged queries of dev.tsv"));
}

TEST_F(CandidatesTest, ADocumentThatTheCorpusLacksIsAnErrorWithItsLine) {
  EXPECT_THAT(ErrorOf("q0 Q0 gone 1 1 t\n\nq1 Q0 gone 1 1 t\n"),
              testing::EndsWith("first.trec:3: document gone is not among the 4 of the corpus; "
                                "give a run over this corpus (id q1)"));
  // A document of a query that nobody judged is refused, too: the run is of another corpus.
  EXPECT_THAT(ErrorOf("q0 Q0 d3 1 0.1 t\nq2 Q0 lost 1 1 t\n"),
              HasSubstr("first.trec:2: document lost is not among"));
}

TEST_F(CandidatesTest, ADocumentTwiceIsAnErrorAsInAnyRun) {
  EXPECT_THAT(ErrorOf("q0 Q0 d3 1 0.1 t\nq0 Q0 d3 2 0.1 t\n"),
              HasSubstr("document d3 was given in line 1 already"));
}

}  // namespace
}  // namespace tandem::data
