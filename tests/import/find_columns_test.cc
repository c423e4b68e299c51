#include <memory>
#include <string>

#include "data/warnings.h"
#include "import/columns/column_choice.h"
#include "import/sources/open_source.h"
#include "import_test.h"

namespace tandem::import_data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class FindColumnsTest : public FilesTest {
 protected:
  Understood Find(std::string_view csv, const Columns& chosen = {}) {
    const std::string path = Write("f.csv", csv);
    data::Warnings warnings;
    const auto source = OpenSource(path, {}, warnings);
    return FindColumns(SampleSource(*source), chosen, "f.csv");
  }
  std::string Error(std::string_view csv, const Columns& chosen = {}) {
    return ErrorOf(ExitCode::kUsage, [&] { Find(csv, chosen); });
  }
};

TEST(RoleOfName, KnowsNamesOfTrainingLinesAndOthers) {
  const auto role = [](std::string_view name) {
    bool exact = false;
    const std::string_view found = RoleOfName(name, &exact);
    return std::string(found) + (exact ? "!" : "");
  };
  EXPECT_EQ(role("query"), "query!");
  EXPECT_EQ(role("Question"), "query!");
  EXPECT_EQ(role("answer"), "document!");
  EXPECT_EQ(role("negative_2"), "negative!");
  EXPECT_EQ(role("hard_negatives"), "negative");
  EXPECT_EQ(role("Search Term"), "query");
  EXPECT_EQ(role("searchTerm"), "query");
  EXPECT_EQ(role("thumbs"), "label");
  EXPECT_EQ(role("similarity_score"), "label");
  EXPECT_EQ(role("doc_id"), "id");
  EXPECT_EQ(role("_id"), "id");
  EXPECT_EQ(role("query_id"), "query_id");
  EXPECT_EQ(role("Clicks"), "clicks");
  EXPECT_EQ(role("colour"), "");
}

TEST_F(FindColumnsTest, ByNames) {
  const Columns columns =
      Find("id,question,title,answer,negative_1,negative_2,label\n1,q,t,a,n,m,1\n").columns;
  EXPECT_EQ(columns.query, "question");
  EXPECT_EQ(columns.document, "answer");
  EXPECT_THAT(columns.negatives, ElementsAre("negative_1", "negative_2"));
  EXPECT_EQ(columns.label, "label");
  EXPECT_EQ(columns.title, "title");
  EXPECT_EQ(columns.id, "id");
  EXPECT_EQ(columns.clicks, "");
}

TEST_F(FindColumnsTest, OfClickTables) {
  const Columns columns = Find("query,document,clicks,impressions,position\nq,d,1,2,3\n").columns;
  EXPECT_EQ(columns.clicks, "clicks");
  EXPECT_EQ(columns.impressions, "impressions");
  EXPECT_EQ(columns.position, "position");
  EXPECT_EQ(Find("query,document,position\nq,d,3\n").columns.position, "");
  // A row for each impression.
  EXPECT_EQ(Find("query,document,clicked\nq,d,0\nq,e,1\n").columns.clicks, "clicked");
  EXPECT_THAT(Error("query,document,clicks\nq,d,7\n"),
              HasSubstr("no column of impressions: how often a document was clicked says little"));
}

// Without them every row would be a positive. What somebody wrote is no grade.
TEST_F(FindColumnsTest, FeedbackAndClicksOfOtherNamesAreAskedFor) {
  EXPECT_EQ(Error("question,answer,user_feedback\nq,a,down\n"),
            "f.csv: the column \"user_feedback\" looks like feedback on the document, and without "
            "it every row is a positive: --label \"user_feedback\" reads it, --label - leaves it "
            "out");
  EXPECT_THAT(Error("question,answer,helpful_votes\nq,a,1200\nr,b,0\n"), HasSubstr("--label -"));
  EXPECT_THAT(Error("question,answer,ad_clicks\nq,a,3\n"),
              HasSubstr("looks like clicks, and without it every row is a positive: --clicks "
                        "\"ad_clicks\" reads it, --clicks - leaves it out"));
  EXPECT_EQ(Find("question,answer,user_feedback\nq,a,down\n", {.label = "-"}).columns.label, "");
  EXPECT_EQ(Find("question,answer,ad_clicks\nq,a,3\n", {.clicks = "-"}).columns.clicks, "");
  EXPECT_EQ(Find("question,answer,is_helpful,feedback_comment\nq,a,1,fine\n").columns.label,
            "is_helpful");
  EXPECT_EQ(Find("question,answer,customer_feedback\nq,a,it helped me a lot\n").columns.label, "");
  EXPECT_EQ(Find("question,helpful_answer\nwhat is it,a thing\n").columns.document,
            "helpful_answer");
  EXPECT_EQ(Find("query,document,total_clicks,impressions\nq,d,1,2\n").columns.clicks,
            "total_clicks");
}

// Whatever a column of yes and no is called.
TEST_F(FindColumnsTest, ColumnsOfThumbsAreAskedForByTheirValues) {
  EXPECT_EQ(Find("question,answer,useful\nq,a,no\n").columns.label, "useful");
  EXPECT_EQ(
      Error("question,answer,solved\nq,a,yes\nr,b,No\n"),
      "f.csv: the column \"solved\" looks like feedback on the document (\"yes\"), and without "
      "it every row is a positive: --label \"solved\" reads it, --label - leaves it out");
  EXPECT_EQ(Find("question,answer,solved\nq,a,yes\nr,b,no\n", {.label = "-"}).columns.label, "");
  // It says the same of all rows; it is of more kinds; there is a label.
  EXPECT_EQ(Find("question,answer,solved\nq,a,yes\nr,b,yes\n").columns.label, "");
  EXPECT_EQ(Find("question,answer,state\nq,a,yes\nr,b,no\ns,c,open\n").columns.label, "");
  EXPECT_EQ(Find("question,answer,grade,solved\nq,a,1,yes\nr,b,0,no\n").columns.label, "grade");
}

TEST_F(FindColumnsTest, ByContents) {
  const Understood found = Find(
      "nr,Hilfetext,Betreff\n1,eine lange Antwort auf die Frage,kurze Frage\n2,noch eine lange "
      "Antwort,andere Frage\n");
  EXPECT_EQ(found.columns.query, "Betreff");
  EXPECT_EQ(found.columns.document, "Hilfetext");
  EXPECT_THAT(found.reasons,
              ElementsAre("query: \"Betreff\" (by its contents: the shorter ones of two columns of "
                          "texts)",
                          "document: \"Hilfetext\" (by its contents: the longer ones)",
                          "not used: \"nr\""));
  EXPECT_EQ(Find("query,irgendwas,n\nq,ein Text,5\n").columns.document, "irgendwas");
  EXPECT_EQ(Find("query,product_title,label\nq,A chair,1\n").columns.document, "product_title");
}

TEST_F(FindColumnsTest, AsTheUserSays) {
  Columns chosen{.query = "b", .document = "a", .group = "c"};
  const Understood found = Find("a,b,c\nx,y,z\n", chosen);
  EXPECT_EQ(found.columns.query, "b");
  EXPECT_EQ(found.columns.group, "c");
  EXPECT_THAT(found.reasons, ElementsAre("query: \"b\"", "document: \"a\"", "group: \"c\""));
  EXPECT_THAT(Error("question,answer\nq,a\n", {.document = "anwser"}),
              HasSubstr("has no column \"anwser\" (--document); did you mean answer?; it has "
                        "\"question\", \"answer\""));
  EXPECT_THAT(Error("question,answer\nq,a\n", {.query = "answer", .document = "answer"}),
              HasSubstr("given two meanings"));
}

TEST_F(FindColumnsTest, NoneWhereTheUserSaysSo) {
  const Columns columns = Find("id,query,document,negative,label\n1,q,d,n,1\n",
                               {.negatives = {"-"}, .label = "-", .id = "-"})
                              .columns;
  EXPECT_EQ(columns.id, "");
  EXPECT_EQ(columns.label, "");
  EXPECT_TRUE(columns.negatives.empty());
  EXPECT_EQ(columns.query, "query");
}

TEST_F(FindColumnsTest, AskWhereNothingTells) {
  EXPECT_THAT(
      Error("a,b,c\nsome text,more text,yet another text\n"),
      HasSubstr("f.csv: no column is clearly the query and none the document; say which with "
                "--query NAME --document NAME. Its columns, with a value of each:\n  a "
                "\"some text\""));
  EXPECT_THAT(Error("query,question,answer\nq,r,a\n"),
              HasSubstr("the columns \"query\", \"question\" could all be the query"));
}

TEST_F(FindColumnsTest, SayWhatIsWrongWithRowsThatCannotBeRead) {
  EXPECT_THAT(Error("query,x\nq\nr\n"),
              HasSubstr("f.csv:2: has 1 field where there are 2 columns"));
  EXPECT_THAT(Error("query,x\nq\nr\n"), HasSubstr("do not say which is the document"));
}

TEST_F(FindColumnsTest, LineOfNamesThatIsElsewhere) {
  EXPECT_THAT(
      Error("Export of May,\nquestion,answer\nq,a\n"),
      HasSubstr("f.csv:2: this line names columns (\"question\", \"answer\"), and the first "
                "one does not (\"Export of May\", \"#2\"); say on which line the names "
                "stand: --header-line 2"));
  EXPECT_THAT(Error("How do I get a new card?,Call us at any time of the day\nq,a\n"),
              HasSubstr("--header-line 0"));
}

TEST_F(FindColumnsTest, TwoLinesOfNames) {
  for (const char* row : {"question 1,answer 1", "What is an answer?,question"}) {
    const std::string csv = std::string("question,answer\n") + row + "\nq,a\n";
    EXPECT_EQ(Find(csv).columns.query, "question");
  }
  EXPECT_THAT(Error("question,answer\nFrage,Antwort\nq,a\n"),
              HasSubstr("f.csv:2: this line names columns (\"Frage\", \"Antwort\"), as the line "
                        "before it does (\"question\", \"answer\"); remove one of both, or take "
                        "these: --header-line 2"));
}

}  // namespace
}  // namespace tandem::import_data
