#include "train/inputs/label_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "config/param.h"
#include "data/judgements/grades.h"
#include "data/lines/score_meaning.h"
#include "data/studies/label_study.h"

namespace tandem::train {
namespace {

std::optional<data::GradeScale> ScaleOf(const config::DataRecipe& recipe) {
  if (!recipe.grade_scale) return std::nullopt;
  return data::GradeScale{recipe.grade_scale->minimum, recipe.grade_scale->maximum};
}

std::string_view PositiveKey(const config::DataRecipe& recipe) {
  return recipe.binarize_at ? "data.binarize_at" : "data.positive_grade";
}

// Whether the recipe says from which grade on a document is positive.
bool IsChosen(const config::LoadedRecipe& loaded) {
  const config::DataRecipe& recipe = loaded.recipe.data;
  return loaded.positions.contains(PositiveKey(recipe)) || recipe.binarize_at ||
         recipe.positive_grade != recipe.default_positive_grade();
}

// `scores` is the value of the key `data.scores`.
data::ScoreUse ScoreUseOf(const std::string& scores, const objective::Needs& needs,
                          const data::Dataset& dataset) {
  using data::ScoreMeaning;
  if (scores == "grades") return data::ScoreUse::kGrades;
  if (scores == "teacher") return data::ScoreUse::kTeacher;
  if (scores == "ignored" || dataset.scores == data::ScoreKind::kNone) {
    return data::ScoreUse::kIgnored;
  }
  if (needs.teacher) return data::ScoreUse::kTeacher;
  const bool graded = needs.grades || dataset.scores == data::ScoreKind::kPairs ||
                      dataset.meaning == ScoreMeaning::kGrades ||
                      dataset.meaning == ScoreMeaning::kUndecided;
  return graded ? data::ScoreUse::kGrades : data::ScoreUse::kIgnored;
}

// Throws DataError if the data's numbers may be grades or classes and the recipe does not say
// which.
void CheckDecided(const data::Dataset& dataset, const std::string& scores, data::ScoreUse use,
                  const config::LoadedRecipe& loaded, const objective::Needs& needs) {
  if (dataset.meaning != data::ScoreMeaning::kUndecided) return;
  if (scores == "grades" || use == data::ScoreUse::kIgnored || IsChosen(loaded)) return;
  // An objective that learns grades can use numbers as they are, but not numbers of classes.
  const bool are_grades =
      dataset.undecided.is_class ? loaded.recipe.data.grade_scale.has_value() : needs.grades;
  if (are_grades && use == data::ScoreUse::kGrades) return;
  throw data::NeedsRule(dataset);
}

// Throws DataError if the recipe compares grades and lines have scores that are taken for something
// else, so that the keys would only see 1 for positives and 0 for negatives.
void CheckComparesScores(const data::Dataset& dataset, const std::string& scores,
                         data::ScoreUse use, const config::DataRecipe& recipe) {
  if (scores != "auto" || use == data::ScoreUse::kGrades ||
      dataset.meaning != data::ScoreMeaning::kTeacher ||
      dataset.scores == data::ScoreKind::kMargins) {
    return;
  }
  const std::string_view key = recipe.minimum_grade ? "data.minimum_grade"
                               : recipe.binarize_at ? "data.binarize_at"
                               : recipe.grade_scale ? "data.grade_scale"
                                                    : "";
  if (key.empty()) return;
  throw DataError(
      dataset.file, 0, "",
      fmt::format("has scores, which are taken for a teacher's, and {} is about grades: "
                  "say whether its scores are grades (data.scores = \"grades\"), or "
                  "positives have grade 1 and negatives grade 0 (data.scores = "
                  "\"ignored\"{})",
                  key, use == data::ScoreUse::kTeacher ? " or \"teacher\"" : ""));
}

// Labels documents by a teacher's scores if nothing else tells positives from negatives: those with
// scores of `data.positive_grade` or more become positives.
void SplitByScores(data::Dataset& dataset, double positive_grade) {
  for (data::JudgedQuery& query : dataset.judged) {
    for (data::Judgement& judgement : query.judgements) {
      if (judgement.has_score()) {
        judgement.grade = judgement.score >= positive_grade ? positive_grade : 0;
      }
    }
  }
}

void NoteUnused(const data::Dataset& dataset) {
  const bool margins = dataset.scores == data::ScoreKind::kMargins;
  Note(fmt::format("{}: its {} are not used; its positives and negatives stand{}", dataset.file,
                   margins ? "margins" : "scores",
                   margins ? "" : " (data.scores = \"grades\" takes scores for grades)"));
}

void Use(data::Dataset& dataset, const std::string& scores, const config::LoadedRecipe& loaded,
         const objective::Needs& needs) {
  if (dataset.scores == data::ScoreKind::kNone && dataset.has_grades) return;  // judgements
  const data::ScoreUse use = ScoreUseOf(scores, needs, dataset);
  CheckDecided(dataset, scores, use, loaded, needs);
  CheckComparesScores(dataset, scores, use, loaded.recipe.data);
  if (use == data::ScoreUse::kTeacher && dataset.meaning == data::ScoreMeaning::kUndecided) {
    SplitByScores(dataset, loaded.recipe.data.positive_grade);
  }
  if (use == data::ScoreUse::kIgnored && scores != "ignored" &&
      dataset.meaning == data::ScoreMeaning::kTeacher) {
    NoteUnused(dataset);
  }
  data::ApplyScores(dataset, use);
}

// Returns the value of GradeRules::reason: why grades must lie in [0, 1] if there is no scale; ""
// if they need not.
std::string Reason(const config::Recipe& recipe, const objective::Needs& needs,
                   const data::Dataset& dataset) {
  if (recipe.data.binarize_at) return "";
  if (needs.grades) return fmt::format("objective {} needs", recipe.objective.name);
  if (recipe.data.flip_labels > 0) return "data.flip_labels needs";
  const bool from_scores = dataset.has_grades && dataset.scores != data::ScoreKind::kNone;
  return from_scores ? "is the range of grades that lines give as scores" : "";
}

void CheckHasGrades(const data::Dataset& dataset, const config::Recipe& recipe) {
  if (dataset.has_grades || recipe.data.binarize_at) return;
  throw DataError(dataset.file, 0, "",
                  fmt::format("has no grades, which objective {} needs: only positives and "
                              "negatives. Give scores, or data.binarize_at = 1, which takes "
                              "positives for grade 1 and negatives for grade 0",
                              recipe.objective.name));
}

void CheckHasTeacher(const data::Dataset& dataset, const std::string& objective) {
  if (dataset.scores == data::ScoreKind::kNone) {
    throw DataError(dataset.file, 0, "",
                    fmt::format("has no teacher scores, which objective {} needs", objective));
  }
  bool comparable = false;
  for (const data::JudgedQuery& query : dataset.judged) {
    comparable = comparable || query.judgements.size() > 1;
    for (const data::Judgement& judgement : query.judgements) {
      if (judgement.has_score()) continue;
      throw DataError(dataset.file, judgement.line, dataset.documents.id(judgement.document),
                      fmt::format("has no teacher score, which objective {} needs", objective));
    }
  }
  if (comparable) return;
  throw DataError(dataset.file, 0, "",
                  fmt::format("no query has two documents with a teacher's score, which objective "
                              "{} compares",
                              objective));
}

// The best grade of each judged query that has a grade above 0, ascending.
std::vector<double> BestGrades(const data::Dataset& dataset) {
  std::vector<double> best;
  for (const data::JudgedQuery& query : dataset.judged) {
    double grade = 0;
    for (const data::Judgement& judgement : query.judgements) {
      grade = std::max(grade, judgement.grade);
    }
    if (grade > 0) best.push_back(grade);
  }
  std::sort(best.begin(), best.end());
  return best;
}

// Throws DataError if the default `data.positive_grade`, which nobody chose for these data, would
// leave out most queries. `dataset` has its grades as they were read.
void CheckMostHavePositives(const data::Dataset& dataset, const config::LoadedRecipe& loaded) {
  const double grade = loaded.recipe.data.positive_grade;
  if (IsChosen(loaded)) return;
  const std::vector<double> best = BestGrades(dataset);
  const auto with =
      static_cast<size_t>(best.end() - std::lower_bound(best.begin(), best.end(), grade));
  const size_t total = dataset.judged.size();
  if (2 * with >= total) return;
  std::string advice = "data.positive_grade says from which grade on a document is a positive";
  if (2 * best.size() >= total) {
    const size_t half = (total + 1) / 2;
    advice = fmt::format("give data.positive_grade: {} keeps half of them or more",
                         best[best.size() - half]);
  }
  throw DataError(
      dataset.file, 0, "",
      fmt::format("{} of {} judged queries have no document of grade {} or more and would be left "
                  "out; {}{}",
                  total - with, total, grade, advice,
                  with == 0 ? std::string()
                            : fmt::format(". data.positive_grade = {} in the recipe trains on the "
                                          "other {}",
                                          grade, with)));
}

// Whether the data set's grades are 1 for positives and 0 for negatives, so that no scale applies.
bool HasLabels(const data::Dataset& dataset, const config::DataRecipe& recipe) {
  return dataset.meaning == data::ScoreMeaning::kLabels && recipe.scores != "grades";
}

// Checks the labels of a data set and maps its grades to the scale.
void CheckAndScale(data::Dataset& dataset, const config::LoadedRecipe& loaded,
                   const objective::Needs& needs) {
  const config::Recipe& recipe = loaded.recipe;
  const auto scale = ScaleOf(recipe.data);
  const bool has_labels = HasLabels(dataset, recipe.data);
  if (!needs.graded_own && !has_labels) CheckMostHavePositives(dataset, loaded);
  if (needs.teacher) CheckHasTeacher(dataset, recipe.objective.name);
  if (has_labels) return;
  const bool expected = dataset.has_grades && dataset.scores == data::ScoreKind::kProbabilities;
  if (scale && expected) {
    throw loaded.ErrorAt(
        "data.grade_scale",
        fmt::format("maps grades to [0, 1], but those of {} are computed from a judge's "
                    "probabilities and lie in [0, 1] already; leave it out",
                    dataset.file));
  }
  data::ScaleGrades(dataset, {.scale = scale, .reason = Reason(recipe, needs, dataset)});
}

data::TrainingSet SplitAtPositiveGrade(data::Dataset dataset, const config::Recipe& recipe,
                                       const objective::Needs& needs) {
  return data::BuildTrainingSet(
      std::move(dataset), data::Scaled(recipe.data.positive_grade, ScaleOf(recipe.data)),
      needs.graded_own ? data::PairedDocument::kAnyGrade : data::PairedDocument::kPositive);
}

}  // namespace

void CheckLabelKeys(const config::LoadedRecipe& loaded, const objective::Needs& needs) {
  LineRulesOf(loaded);
  const config::DataRecipe& recipe = loaded.recipe.data;
  const std::string& objective = loaded.recipe.objective.name;
  const double positive = data::Scaled(recipe.positive_grade, ScaleOf(recipe));
  if (!(positive > 0)) {
    throw loaded.ErrorAt(
        PositiveKey(recipe),
        fmt::format("is {}, but must be above {}: every judged document would be a positive",
                    recipe.positive_grade, recipe.grade_scale ? recipe.grade_scale->minimum : 0));
  }
  if (needs.teacher && recipe.scores != "auto" && recipe.scores != "teacher") {
    throw loaded.ErrorAt("data.scores",
                         fmt::format("is \"{}\", but objective {} needs a teacher's scores",
                                     recipe.scores, objective));
  }
  if (needs.teacher && recipe.negatives == 0) {
    throw loaded.ErrorAt(
        "data.negatives",
        fmt::format("is 0, but objective {} compares the paired document of a query "
                    "with extra labelled ones; give at least 1",
                    objective));
  }
}

data::LineRules LineRulesOf(const config::LoadedRecipe& loaded) {
  const config::DataRecipe& recipe = loaded.recipe.data;
  data::LineRules rules{.ignored = recipe.ignore_columns, .ids_of_texts = recipe.ids == "text"};
  for (const std::string& label : recipe.labels) {
    const std::optional<data::LabelNumber> number = data::ParseLabelNumber(label);
    if (!number) {
      throw loaded.ErrorAt(
          "data.labels",
          fmt::format("has \"{}\"; expected LABEL=NUMBER, as \"entailment=1\"", label));
    }
    rules.labels.push_back(*number);
  }
  if (const std::string problem = data::TwoNumbersProblem(rules.labels); !problem.empty()) {
    throw loaded.ErrorAt("data.labels", problem);
  }
  return rules;
}

void UseScores(data::Dataset& dataset, const config::LoadedRecipe& loaded,
               const objective::Needs& needs) {
  Use(dataset, loaded.recipe.data.scores, loaded, needs);
}

void UseScoresOfRanked(data::Dataset& dataset, const config::LoadedRecipe& loaded,
                       objective::Needs needs) {
  needs.teacher = false;
  const std::string& scores = loaded.recipe.data.scores;
  Use(dataset, scores == "teacher" ? "auto" : scores, loaded, needs);
}

data::Dataset LabelSource(data::Dataset dataset, const config::LoadedRecipe& loaded,
                          const objective::Needs& needs) {
  if (dataset.has_grades && !HasLabels(dataset, loaded.recipe.data)) {
    CheckAndScale(dataset, loaded, needs);
    return dataset;
  }
  if (needs.teacher) CheckHasTeacher(dataset, loaded.recipe.objective.name);
  const config::DataRecipe& recipe = loaded.recipe.data;
  const double positive = std::max(1.0, data::Scaled(recipe.positive_grade, ScaleOf(recipe)));
  for (data::JudgedQuery& query : dataset.judged) {
    for (data::Judgement& judgement : query.judgements) {
      if (judgement.grade > 0) judgement.grade = positive;
    }
  }
  return dataset;
}

data::TrainingSet MakeTrainingSetOfSources(data::Dataset sources,
                                           const config::LoadedRecipe& loaded,
                                           const objective::Needs& needs) {
  if (needs.grades) CheckHasGrades(sources, loaded.recipe);
  return SplitAtPositiveGrade(std::move(sources), loaded.recipe, needs);
}

data::TrainingSet MakeTrainingSet(data::Dataset dataset, const config::LoadedRecipe& loaded,
                                  const objective::Needs& needs) {
  if (needs.grades) CheckHasGrades(dataset, loaded.recipe);
  CheckAndScale(dataset, loaded, needs);
  return SplitAtPositiveGrade(std::move(dataset), loaded.recipe, needs);
}

namespace {

// Applies `data.swap_labels`. Throws DataError if no query has a negative to exchange with.
void Swap(data::TrainingSet& set, std::span<const uint32_t> training,
          const config::Recipe& recipe) {
  const data::SwappedLabels swaps =
      data::SwapLabels(set, training, recipe.data.swap_labels, static_cast<uint64_t>(recipe.seed));
  if (swaps.with_both == 0) {
    throw DataError(set.file, 0, "",
                    "no training query has both a positive and a document judged 0, which "
                    "data.swap_labels exchanges; give judged negatives, or data.binarize_at, which "
                    "takes the grades below it for 0");
  }
  const std::string left =
      swaps.without_negatives == 0
          ? ""
          : fmt::format(
                "; {} of {} training queries have no document judged 0 and stay as they "
                "are",
                swaps.without_negatives, training.size());
  Note(fmt::format("data.swap_labels exchanged {} of {} positives with a negative{}", swaps.swapped,
                   swaps.pairs, left));
  if (swaps.none_left == 0) return;
  Warn(fmt::format(
      "data.swap_labels: {} further positives were drawn and stay as they are, because "
      "their queries have fewer documents judged 0 than positives that were drawn: less "
      "is exchanged than {:g} says",
      swaps.none_left, recipe.data.swap_labels));
}

}  // namespace

std::vector<uint32_t> StudyLabels(data::TrainingSet& set, std::vector<uint32_t> training,
                                  const config::Recipe& recipe) {
  const auto seed = static_cast<uint64_t>(recipe.seed);
  if (recipe.data.minimum_grade) {
    const size_t before = training.size();
    training = data::CutGrades(
        set, training, data::Scaled(*recipe.data.minimum_grade, ScaleOf(recipe.data)),
        recipe.data.cut_off == "random" ? data::CutOff::kRandom : data::CutOff::kBest, seed);
    Note(fmt::format("data.minimum_grade leaves {} of {} training queries", training.size(),
                     before));
  }
  if (recipe.data.binarize_at) data::Binarize(set);
  if (recipe.data.swap_labels > 0 && !training.empty()) Swap(set, training, recipe);
  if (recipe.data.flip_labels > 0) {
    const data::FlippedLabels flips =
        data::FlipLabels(set, training, recipe.data.flip_labels, seed);
    std::erase_if(training, [&set](uint32_t e) {
      return !data::HasPairedDocument(set.examples[e], set.own);
    });
    Note(fmt::format("data.flip_labels flipped {} of {} labels", flips.flipped, flips.labels));
  }
  if (training.empty()) {
    throw DataError(set.file, 0, "",
                    "no training query is left after data.minimum_grade and data.flip_labels");
  }
  return training;
}

}  // namespace tandem::train
