// Grades, teacher scores and studies of labels, from files to the labels of a batch.
#include "train/inputs/label_keys.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "base/files/files.h"
#include "sampling/catalogue.h"
#include "support/error_matching.h"
#include "support/temporary_folder.h"
#include "train/bag_encoder.h"
#include "train/inputs/example_texts.h"
#include "train/inputs/run_data.h"
#include "train/inputs/source_cases.h"
#include "train/tiny_data.h"

namespace tandem::train {
namespace {

class LabelKeys : public testing::Test {
 protected:
  LabelKeys() { loaded_.recipe.objective.name = "some_loss"; }

  void WriteLines(const std::string& lines) {
    WriteFileAtomically(folder_.path() / "f.jsonl", lines);
    loaded_.recipe.data.train = (folder_.path() / "f.jsonl").native();
  }
  // Grades 2, 1 and 0 for each query.
  void WriteBeir() {
    WriteTinyData(folder_.path(), kWords);
    loaded_.recipe.data.train = folder_.path().native();
  }
  RunData Read(const objective::Needs& needs) {
    CheckLabelKeys(loaded_, needs);
    return ReadRunData(loaded_, needs);
  }
  void ExpectFailure(ExitCode code, const objective::Needs& needs, const std::string& text) {
    ExpectError([&] { Read(needs); }, code, {text});
  }
  config::DataRecipe& data() { return loaded_.recipe.data; }

  TemporaryFolder folder_;
  config::LoadedRecipe loaded_{.file = "recipe.toml"};
};

using Counts = std::map<double, int>;

TEST_F(LabelKeys, JudgedGradesOnAScale) {
  WriteBeir();
  data().grade_scale = config::Range{0, 2};
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 48}, {0.5, 48}, {1, 48}}));
  EXPECT_EQ(Read(kGraded).set.positive_grade, 0.5);
  data().grade_scale.reset();
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 48}, {1, 48}, {2, 48}}));
  ExpectFailure(ExitCode::kData, kGraded,
                "train.tsv:2: query q0, document d0: grade 2 is outside [0, 1], which objective "
                "some_loss needs; give data.grade_scale = [lowest, highest]");
  data().grade_scale = config::Range{0, 1};
  ExpectFailure(ExitCode::kData, kPlain, "grade 2 is outside data.grade_scale = [0, 1]");
}

TEST_F(LabelKeys, APositiveGradeThatTakesEverything) {
  WriteBeir();
  data().grade_scale = config::Range{1, 5};
  ExpectFailure(ExitCode::kUsage, kGraded,
                "recipe.toml: data.positive_grade is 1, but must be above 1: every judged document "
                "would be a positive");
}

TEST_F(LabelKeys, ScoresAreGradesWhereTheObjectiveWantsThemOrAPairHasOne) {
  const std::string lists =
      R"({"query": "a", "pos": ["p"], "neg": ["n", "o"], "pos_scores": [0.75], "neg_scores": [0.5, 0]})";
  WriteLines(lists);
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 2}, {1, 1}}));
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 1}, {0.5, 1}, {0.75, 1}}));
  data().scores = "ignored";
  ExpectFailure(
      ExitCode::kData, kGraded,
      "f.jsonl: has no grades, which objective some_loss needs: only positives and "
      "negatives. Give scores, or data.binarize_at = 1, which takes positives for grade 1 "
      "and negatives for grade 0");
  data().binarize_at = 1;
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 2}, {1, 1}}));
  data() = {};
  WriteLines(
      "{\"sentence1\": \"a\", \"sentence2\": \"p\", \"score\": 4}\n"
      "{\"sentence1\": \"a\", \"sentence2\": \"n\", \"score\": 1}");
  ExpectFailure(
      ExitCode::kData, kPlain,
      "f.jsonl:1: query 1, document 1:sentence2: grade 4 is outside [0, 1], which is the "
      "range of grades that lines give as scores; give data.grade_scale = [lowest, highest]");
  data().grade_scale = config::Range{0, 5};
  data().positive_grade = 3;
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0.2, 1}, {0.8, 1}}));
}

// Keys about grades would see 1 and 0 alone, and do nothing.
TEST_F(LabelKeys, KeysAboutGradesDoNotPassScoresOver) {
  WriteLines(
      R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [0.75], "neg_scores": [0]})");
  const std::string rest = " is about grades: say whether its scores are grades (data.scores = ";
  data().minimum_grade = 0.5;
  ExpectFailure(ExitCode::kData, kPlain, "taken for a teacher's, and data.minimum_grade" + rest);
  ExpectFailure(ExitCode::kData, {.teacher = true}, "(data.scores = \"ignored\" or \"teacher\")");
  data().scores = "ignored";
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{1, 1}}));
  data().scores = "grades";
  data().positive_grade = 0.5;
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0.75, 1}}));
  data() = {.train = data().train, .binarize_at = 0.5};
  ExpectFailure(ExitCode::kData, kPlain, "data.binarize_at" + rest);
}

// Scores of 0 to 1 as grades: the default positive grade would leave most queries out.
TEST_F(LabelKeys, MostQueriesWithoutAPositive) {
  std::string lines;
  for (int q = 0; q < 8; ++q) {
    lines += fmt::format("{{\"sentence1\": \"a{0}\", \"sentence2\": \"p{0}\", \"score\": {1}}}\n",
                         q, q == 7 ? 1 : 0.1 * (1 + q));
  }
  WriteLines(lines);
  ExpectFailure(ExitCode::kData, kPlain,
                "f.jsonl: 7 of 8 judged queries have no document of grade 1 or more and would be "
                "left out; give data.positive_grade: 0.5 keeps half of them or more. "
                "data.positive_grade = 1 in the recipe trains on the other 1");
  loaded_.positions["data.positive_grade"] = {};
  EXPECT_EQ(Read(kPlain).training.size(), 1U);
  data().positive_grade = 0.5;
  EXPECT_EQ(Read(kPlain).training.size(), 4U);
  data().positive_grade = 1;
  loaded_.positions.clear();
  EXPECT_EQ(Read(kGraded).training.size(), 8U);  // paired documents of any grade
}

// Labels say what a document is, whatever the objective needs and whatever list it stands in.
TEST_F(LabelKeys, LabelsAreThePositivesForEveryObjective) {
  data().negatives = 1;
  for (const char* lines :
       {R"({"query": "a", "answer": ["p", "m", "n"], "labels": [1, 0, 0]})",
        R"({"query": "a", "answer": ["p", "m", "n"], "score": ["1", "0.0", false]})",
        R"({"query": "a", "pos": ["p", "m", "n"], "pos_scores": [1, 0, 0]})",
        R"({"query": "a", "positive_passages": [{"text": "p", "score": 1}, )"
        R"({"text": "m", "score": 0}, {"text": "n", "score": 0}]})"}) {
    WriteLines(lines);
    for (const objective::Needs& needs : {kPlain, kGraded, kTeacher}) {
      EXPECT_EQ(Grades(Read(needs)), (Counts{{0, 2}, {1, 1}})) << lines;
    }
    data().scores = "ignored";
    EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 2}, {1, 1}})) << lines;
    data().scores = "teacher";
    EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 2}, {1, 1}})) << lines;
    data().scores = "auto";
    data().flip_labels = 1;
    EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 1}, {1, 2}})) << lines;
    data().flip_labels = 0;
    data().binarize_at = 0.5;
    data().positive_grade = 0.5;  // as the parser sets it
    EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 2}, {1, 1}})) << lines;
    data().binarize_at.reset();
    data().positive_grade = 1;
    data().minimum_grade = 1;
    EXPECT_EQ(Grades(Read(kPlain)), (Counts{{1, 1}})) << lines;
    data().minimum_grade.reset();
  }
}

// No scale and no default of the positive grade is asked where labels say what is a positive.
TEST_F(LabelKeys, LabelsAreOnEveryScale) {
  WriteLines(R"({"query": "a", "answer": "p", "label": 1}
{"query": "b", "answer": "m", "label": 0}
{"query": "c", "answer": "n", "label": 0})");
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{1, 1}}));
  data().grade_scale = config::Range{0, 4};
  data().positive_grade = 2;
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 2}, {1, 1}}));
  data().scores = "grades";
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 2}, {0.25, 1}}));
}

TEST_F(LabelKeys, ScoresOfAListNeedARule) {
  data().negatives = 1;
  WriteLines(R"({"query": "a", "answer": ["p", "m", "n"], "scores": [0.8, 0.4, 0]})");
  const std::string rule = "f.jsonl:1: \"scores\" has 0.8 for a document of a list that may hold";
  ExpectFailure(ExitCode::kData, kPlain, rule);
  ExpectFailure(ExitCode::kData, kTeacher, rule);
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 1}, {0.4, 1}, {0.8, 1}}));
  data().positive_grade = 0.5;
  const RunData split = Read(kPlain);
  EXPECT_EQ(Grades(split), (Counts{{0, 1}, {0.4, 1}, {0.8, 1}}));
  EXPECT_EQ(split.set.examples[0].positives.size(), 1U);
  const RunData taught = Read(kTeacher);
  EXPECT_EQ(Grades(taught), (Counts{{0, 2}, {0.5, 1}}));
  EXPECT_EQ(taught.set.examples[0].positives.at(0).score, 0.8);
  data().positive_grade = 1;
  data().scores = "grades";
  ExpectFailure(ExitCode::kData, kPlain, "give data.positive_grade: 0.8 keeps half of them");
}

TEST_F(LabelKeys, ClassesNeedAMapping) {
  const std::string lines = R"({"premise": "a", "hypothesis": "p", "label": 0}
{"premise": "a", "hypothesis": "m", "label": 1}
{"premise": "a", "hypothesis": "n", "label": 2})";
  WriteLines(lines);
  for (const objective::Needs& needs : {kPlain, kGraded}) {
    ExpectFailure(ExitCode::kData, needs, "f.jsonl:3: \"label\" has the classes 0, 1 and 2");
  }
  data().labels = {"0=1", "1=0", "2=0"};
  EXPECT_EQ(Grades(Read(kPlain)), (Counts{{0, 2}, {1, 1}}));
  data().labels = {"0:1"};
  ExpectFailure(ExitCode::kUsage, kPlain,
                "data.labels has \"0:1\"; expected LABEL=NUMBER, as \"entailment=1\"");
  data().labels.clear();
  data().grade_scale = config::Range{0, 2};
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 1}, {0.5, 1}, {1, 1}}));
}

TEST_F(LabelKeys, RankedValidationTakesGradesWhateverTheObjectiveNeeds) {
  data().negatives = 1;
  WriteLines(R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [3], "neg_scores": [2]})");
  WriteFileAtomically(folder_.path() / "v.jsonl", R"({"query": "a", "answer": "p", "score": 0.9}
{"query": "a", "answer": "n", "score": 0.1})");
  loaded_.recipe.validation.data = (folder_.path() / "v.jsonl").native();
  const RunData run = Read(kTeacher);
  EXPECT_EQ(run.validation->judged[0].judgements[1].grade, 0.1);
  EXPECT_TRUE(run.validation->has_grades);
}

TEST_F(LabelKeys, ExpectedGradesNeedNoScale) {
  WriteLines(
      R"({"anchor": "a", "positive": "p", "negative": "n", "probabilities": [[0, 1], [0.5, 0.5]]})");
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0.5, 1}, {1, 1}}));
  data().grade_scale = config::Range{0, 2};
  ExpectFailure(ExitCode::kUsage, kGraded,
                "f.jsonl are computed from a judge's probabilities and lie in [0, 1] already; "
                "leave it out");
}

TEST_F(LabelKeys, TeacherScoresThatAreMissing) {
  data().negatives = 1;
  WriteLines(R"({"query": "a", "pos": ["p"], "neg": ["n"], "pos_scores": [7], "neg_scores": [-1]}
{"query": "b", "pos": ["q"], "neg": ["n"], "pos_scores": [7]})");
  ExpectFailure(ExitCode::kData, kTeacher,
                "f.jsonl:2: has no teacher score, which objective some_loss needs (id 1:neg:1)");
  WriteLines(R"({"query": "a", "pos": ["p"], "neg": ["n"]})");
  ExpectFailure(ExitCode::kData, kTeacher,
                "f.jsonl: has no teacher scores, which objective some_loss needs");
  WriteLines(
      "{\"query\": \"a\", \"pos\": [\"p\"], \"pos_scores\": [1]}\n"
      "{\"query\": \"b\", \"pos\": [\"q\"], \"pos_scores\": [1]}");
  ExpectFailure(ExitCode::kData, kTeacher,
                "f.jsonl: no query has two documents with a teacher's score, which objective "
                "some_loss compares");
  WriteBeir();
  ExpectFailure(ExitCode::kData, kTeacher,
                "has no teacher scores, which objective some_loss needs");
  data().negatives = 0;
  ExpectFailure(
      ExitCode::kUsage, kTeacher,
      "recipe.toml: data.negatives is 0, but objective some_loss compares the paired document "
      "of a query with extra labelled ones; give at least 1");
  data().scores = "grades";
  ExpectFailure(ExitCode::kUsage, kTeacher,
                "recipe.toml: data.scores is \"grades\", but objective some_loss needs a teacher's "
                "scores");
}

TEST_F(LabelKeys, StudiesTouchTrainingQueriesOnly) {
  WriteBeir();
  loaded_.recipe.validation.holdout = config::Quantity::Percent(50);
  data().grade_scale = config::Range{0, 2};
  data().positive_grade = 2;
  const auto held = [](const RunData& data) {
    Counts grades;
    for (const data::JudgedQuery& query : data.ValidationCorpus().judged) {
      for (const data::Judgement& judgement : query.judgements) ++grades[judgement.grade];
    }
    return grades;
  };
  const Counts all = {{0, 24}, {0.5, 24}, {1, 24}};
  data().minimum_grade = 1;
  RunData cut = Read(kGraded);
  EXPECT_EQ(Grades(cut), (Counts{{0.5, 24}, {1, 24}}));
  EXPECT_EQ(held(cut), all);
  EXPECT_EQ(cut.RelevanceLevel(data()), 1);
  data().cut_off = "random";
  Counts random = Grades(Read(kGraded));
  EXPECT_EQ(random[0] + random[0.5] + random[1], 48);
  EXPECT_GT(random[0], 0);
  data().minimum_grade.reset();
  data().flip_labels = 1;
  const RunData flipped = Read(kGraded);
  // A query whose positive is flipped takes its next one.
  EXPECT_EQ(Grades(flipped), (Counts{{0, 24}, {0.5, 24}, {1, 48}}));
  EXPECT_EQ(held(flipped), all);
  data().flip_labels = 0;
  data().binarize_at = 2;
  EXPECT_EQ(Grades(Read(kGraded)), (Counts{{0, 48}, {1, 24}}));
  data().binarize_at.reset();
  data().minimum_grade = 3;
  ExpectFailure(ExitCode::kData, kGraded,
                "train.tsv: no training query is left after data.minimum_grade and "
                "data.flip_labels");
}

TEST_F(LabelKeys, FlipsNeedTheUnitInterval) {
  WriteBeir();
  data().flip_labels = 0.1;
  ExpectFailure(ExitCode::kData, kPlain,
                "grade 2 is outside [0, 1], which data.flip_labels needs; give data.grade_scale = "
                "[lowest, highest]");
}

TEST_F(LabelKeys, QueriesWithoutPositiveTrainGradedObjectives) {
  WriteBeir();
  data().positive_grade = 3;
  data().grade_scale = config::Range{0, 3};
  EXPECT_EQ(Read(kGraded).training.size(), 48U);
  ExpectFailure(ExitCode::kData, kPlain,
                "none of the 48 judged queries has a document of grade 1 or more");
}

TEST_F(LabelKeys, ABatchHasTheGradesOfItsOwnAndFurtherDocuments) {
  WriteBeir();
  data().grade_scale = config::Range{0, 2};
  data().negatives = 2;
  const RunData run = Read(kGraded);
  model::BagEncoder model;
  const ExampleTexts texts = MakeExampleTexts(run.set, run.set.positive_grade, run.training, model,
                                              ModelPrompts(model), 1);
  loaded_.recipe.train.batch = 6;
  const auto sampler =
      sampling::kUniform.make(texts.examples, SamplerOptionsOf(loaded_.recipe, kGraded));
  const sampling::Batch plan = sampler->Next();
  const TrainingBatch batch = BatchMaker(texts, {}, kGraded).Make(plan);
  const objective::LabelledCells& labelled = batch.labels.labelled;
  ASSERT_EQ(labelled.row_starts.size(), 7U);
  EXPECT_EQ(labelled.cells.size(), plan.columns());
  Counts own;
  for (int64_t i = 0; i < batch.queries; ++i) {
    std::vector<int64_t> columns, want_columns = {i};
    for (int64_t c = plan.extra_starts[i]; c < plan.extra_starts[i + 1]; ++c) {
      want_columns.push_back(c);
    }
    for (int64_t c = labelled.row_starts[i]; c < labelled.row_starts[i + 1]; ++c) {
      const objective::LabelledCell& cell = labelled.cells[c];
      columns.push_back(cell.column);
      for (const sampling::Judged& one : texts.examples.judged(plan.queries[i])) {
        if (one.document != plan.documents[cell.column]) continue;
        EXPECT_EQ(cell.grade, one.grade) << i << " " << cell.column;
      }
      // A grade above 0 of the query's own is never a negative.
      ASSERT_FALSE(cell.grade > 0 && batch.labels.negative[i][cell.column].item<bool>());
    }
    EXPECT_EQ(columns, want_columns);
    EXPECT_EQ(labelled.own_grades[i], labelled.cells[labelled.row_starts[i]].grade);
    ++own[labelled.own_grades[i]];
  }
  EXPECT_GT(own.size(), 1U);  // paired documents of several grades
}

TEST_F(LabelKeys, ABatchHasTheTeachersScores) {
  std::string lines;
  for (int q = 0; q < 8; ++q) {
    lines += fmt::format(
        "{{\"query\": \"q{0}\", \"pos\": [\"p{0}\"], \"neg\": [\"n{0}\"], \"pos_scores\": [{1}], "
        "\"neg_scores\": [{2}]}}\n",
        q, 10 + q, -q - 1);
  }
  WriteLines(lines);
  data().negatives = 1;
  const RunData run = Read(kTeacher);
  model::BagEncoder model;
  const ExampleTexts texts =
      MakeExampleTexts(run.set, 1, run.training, model, ModelPrompts(model), 1);
  const auto sampler =
      sampling::kUniform.make(texts.examples, SamplerOptionsOf(loaded_.recipe, kTeacher));
  const sampling::Batch plan = sampler->Next();
  const TrainingBatch batch = BatchMaker(texts, {}, kTeacher).Make(plan);
  const objective::LabelledCells& labelled = batch.labels.labelled;
  ASSERT_EQ(batch.documents, 16);
  ASSERT_EQ(labelled.cells.size(), 16U);
  for (int64_t i = 0; i < 8; ++i) {
    const double q = plan.queries[i];
    EXPECT_EQ(labelled.cells[2 * i].column, i);
    EXPECT_EQ(labelled.cells[2 * i + 1].column, 8 + i);
    const double own = labelled.own_teachers[i];
    const double other = labelled.cells[2 * i + 1].teacher;
    EXPECT_EQ(labelled.cells[2 * i].teacher, own);
    EXPECT_EQ(std::max(own, other), 10 + q);
    EXPECT_EQ(std::min(own, other), -q - 1);
  }
}

}  // namespace
}  // namespace tandem::train
