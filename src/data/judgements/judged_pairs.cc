#include "data/judgements/judged_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string>

#include "base/error.h"

namespace tandem::data {
namespace {

// The shortest decimal number that is this float, so that files do not show the digits of a double.
double Shortest(float score) {
  const std::string text = fmt::format("{}", score);
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The place of a data set's scores in a format.
struct Place {
  bool is_grade = false;       // into Judgement::grade, else into Judgement::score
  bool all_positives = false;  // every document stands in a line of its own
  ScoreKind kind = ScoreKind::kLists;
};

Place PlaceIn(std::string_view format, ScoreRole role, ScoreKind had) {
  if (format == "beir") return {.is_grade = true, .kind = ScoreKind::kNone};
  const bool pairs = role == ScoreRole::kGrades || had == ScoreKind::kPairs;
  if (format == "sentence_transformers" && pairs) {
    return {.all_positives = true, .kind = ScoreKind::kPairs};
  }
  return {};
}

void Put(const Place& place, double score, Judgement& judgement) {
  if (place.is_grade) {
    judgement.grade = score;
    judgement.score = kNoScore;
    return;
  }
  judgement.grade = place.all_positives || judgement.grade > 0 ? 1 : 0;
  judgement.score = score;
}

}  // namespace

size_t DropUnjudged(Dataset& dataset) {
  const bool judged_file = dataset.has_grades && dataset.scores == ScoreKind::kNone;
  size_t dropped = 0;
  for (JudgedQuery& query : dataset.judged) {
    dropped += std::erase_if(query.judgements, [&](const Judgement& judgement) {
      return judged_file && judgement.grade < 0;
    });
  }
  std::erase_if(dataset.judged, [](const JudgedQuery& query) { return query.judgements.empty(); });
  if (dataset.judged.empty()) {
    throw DataError(dataset.file, 0, "",
                    "has no pair to score: no query has a document that is judged 0 or above");
  }
  return dropped;
}

JudgedPairs JudgedPairsOf(const Dataset& dataset) {
  JudgedPairs pairs;
  for (const JudgedQuery& query : dataset.judged) {
    pairs.query_of.push_back(query.query);
    for (const Judgement& judgement : query.judgements) {
      pairs.document_of.push_back(judgement.document);
    }
    pairs.starts.push_back(pairs.document_of.size());
  }
  return pairs;
}

void CheckHoldsScores(ScoreRole role, std::string_view format) {
  if (role == ScoreRole::kGrades || format != "beir") return;
  throw UsageError(
      "a BEIR folder has no place for a teacher's scores; sentence_transformers, flag_embedding "
      "and tevatron have one: give --to with one of them");
}

Dataset WithScores(const Dataset& dataset, std::span<const float> scores, ScoreRole role,
                   std::string_view format) {
  CheckHoldsScores(role, format);
  const Place place = PlaceIn(format, role, dataset.scores);
  Dataset scored = dataset;
  scored.has_grades = place.is_grade;
  scored.scores = place.kind;
  scored.meaning = place.is_grade                    ? ScoreMeaning::kNone
                   : place.kind == ScoreKind::kPairs ? ScoreMeaning::kGrades
                                                     : ScoreMeaning::kTeacher;
  size_t p = 0;
  for (JudgedQuery& query : scored.judged) {
    for (Judgement& judgement : query.judgements) Put(place, Shortest(scores[p++]), judgement);
  }
  if (p != scores.size()) throw std::logic_error("WithScores: not one score for each pair");
  return scored;
}

}  // namespace tandem::data
