#include "eval/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "base/error.h"
#include "data/texts/id_hash.h"
#include "data/texts/slot_table.h"

namespace tandem::eval {
namespace {

bool RanksBefore(const RankedDocument& a, const RankedDocument& b) {
  if (a.score != b.score) return a.score > b.score;
  return a.document > b.document;
}

double Rounded(double score, ScorePrecision precision) {
  return precision == ScorePrecision::kSingle ? static_cast<double>(static_cast<float>(score))
                                              : score;
}

// Slots of the table of grades for each judgement. Most results are not judged, and in a sparse
// table the first slot nearly always says so.
constexpr size_t kSlotsPerJudgement = 8;

// Finds the grade of a document; negative grades are no judgements.
class Grades {
 public:
  explicit Grades(std::span<const data::GradedDocument> judgements) : judgements_(judgements) {
    index_.Reset(judgements.size() * kSlotsPerJudgement);
    for (size_t i = 0; i < judgements.size(); ++i) {
      index_.Insert(data::IdHash(judgements[i].document), static_cast<uint32_t>(i));
    }
  }

  double Of(std::string_view document) const {
    const std::optional<uint32_t> index = index_.Find(
        data::IdHash(document), [&](uint32_t i) { return judgements_[i].document == document; });
    return index && judgements_[*index].grade >= 0 ? judgements_[*index].grade : kNotJudged;
  }

 private:
  std::span<const data::GradedDocument> judgements_;
  data::SlotTable index_;
};

// Sorts by descending score; what is moved meanwhile is a third of a result.
void SortByScore(std::vector<RankedDocument>& results) {
  struct Place {
    double score;
    uint32_t index;
  };
  std::vector<Place> places(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    places[i] = {results[i].score, static_cast<uint32_t>(i)};
  }
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.score > b.score; });
  std::vector<RankedDocument> sorted;
  sorted.reserve(results.size());
  for (const Place& place : places) sorted.push_back(results[place.index]);
  results = std::move(sorted);
}

// Puts the results into rank order. Runs are written by descending score nearly always, so that
// only results of equal score are left to sort.
void Sort(std::vector<RankedDocument>& results) {
  const auto above = [](const RankedDocument& a, const RankedDocument& b) {
    return a.score > b.score;
  };
  if (!std::is_sorted(results.begin(), results.end(), above)) SortByScore(results);
  for (auto begin = results.begin(); begin != results.end();) {
    const double score = begin->score;
    const auto end = std::find_if(begin + 1, results.end(),
                                  [score](const auto& other) { return other.score != score; });
    if (end - begin > 1) std::sort(begin, end, RanksBefore);
    begin = end;
  }
}

}  // namespace

size_t JudgedRanking::PositivesWithin(size_t depth) const {
  size_t count = 0;
  for (size_t rank = 0; rank < std::min(depth, results.size()); ++rank) count += IsPositive(rank);
  return count;
}

void JudgedRanking::SetRelevanceLevel(double level) {
  relevance_level = level;
  const auto end = std::partition_point(judged_grades.begin(), judged_grades.end(),
                                        [level](double grade) { return grade >= level; });
  positive_count = static_cast<size_t>(end - judged_grades.begin());
  negative_count = judged_grades.size() - positive_count;
}

JudgedRanking RankAndJudge(std::span<const data::ScoredDocument> results,
                           std::span<const data::GradedDocument> judgements,
                           const RankingOptions& options) {
  JudgedRanking ranking;
  ranking.results.reserve(results.size());
  for (const data::ScoredDocument& result : results) {
    if (!std::isfinite(result.score)) {
      throw NumericError(fmt::format("the score of document {} is {}; expected a finite number",
                                     result.document, result.score));
    }
    ranking.results.push_back({result.document, Rounded(result.score, options.score_precision)});
  }
  Sort(ranking.results);
  if (options.max_results > 0 && ranking.results.size() > options.max_results) {
    ranking.results.resize(options.max_results);
  }
  const Grades grades(judgements);
  for (RankedDocument& result : ranking.results) result.grade = grades.Of(result.document);
  for (const data::GradedDocument& judgement : judgements) {
    if (judgement.grade >= 0) ranking.judged_grades.push_back(judgement.grade);
  }
  std::sort(ranking.judged_grades.begin(), ranking.judged_grades.end(), std::greater<>());
  ranking.SetRelevanceLevel(options.relevance_level);
  return ranking;
}

}  // namespace tandem::eval
