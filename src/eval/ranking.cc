#include "eval/ranking.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
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

// Results in the order of their places: what is sorted is a third of a ranked document.
struct Place {
  uint64_t key;  // ascending where scores descend
  uint32_t index;
};

// The keys of the two zeros, whose scores are equal, are neighbours.
uint64_t DescendingKey(double score) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  const auto bits = std::bit_cast<uint64_t>(score);
  return (bits & kSign) != 0 ? bits : ~(bits | kSign);
}

// From so many results on, counting is faster than comparing.
constexpr size_t kFewPlaces = 64;

// The first bits of keys, by which counting orders; few results have these in common.
constexpr int kCountedBytes = 3;
constexpr int kOtherBits = 64 - 8 * kCountedBytes;

size_t CountedByte(const Place& place, int byte) {
  return (place.key >> (kOtherBits + 8 * byte)) & 255;
}

// Sorts by the first bits of the keys, stably, a byte a round.
void SortByFirstBits(std::vector<Place>& places) {
  std::array<std::array<uint32_t, 256>, kCountedBytes> starts{};
  for (const Place& place : places) {
    for (int byte = 0; byte < kCountedBytes; ++byte) ++starts[byte][CountedByte(place, byte)];
  }
  std::vector<Place> sorted(places.size());
  for (int byte = 0; byte < kCountedBytes; ++byte) {
    uint32_t start = 0;
    for (uint32_t& count : starts[byte]) start += std::exchange(count, start);
    for (const Place& place : places) sorted[starts[byte][CountedByte(place, byte)]++] = place;
    places.swap(sorted);
  }
}

// Sorts by key, and changes keys to others of the same order.
void SortPlaces(std::vector<Place>& places) {
  const auto before = [](const Place& a, const Place& b) { return a.key < b.key; };
  if (std::is_sorted(places.begin(), places.end(), before)) return;
  if (places.size() < kFewPlaces) {
    std::sort(places.begin(), places.end(), before);
    return;
  }
  // The keys are spread over all 64 bits, so that the first ones tell most of them apart.
  const auto [least, most] = std::minmax_element(places.begin(), places.end(), before);
  const uint64_t base = least->key;
  const int shift = std::countl_zero(most->key - base);
  for (Place& place : places) place.key = (place.key - base) << shift;
  SortByFirstBits(places);
  for (auto begin = places.begin(); begin != places.end();) {
    const auto end = std::find_if(begin + 1, places.end(), [&](const Place& other) {
      return other.key >> kOtherBits != begin->key >> kOtherBits;
    });
    if (end - begin > 1) std::sort(begin, end, before);
    begin = end;
  }
}

// The results by descending score, of which single precision keeps the order. Runs are written in
// this order nearly always.
std::vector<Place> PlacesByScore(std::span<const data::ScoredDocument> results) {
  std::vector<Place> places(results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const data::ScoredDocument& result = results[i];
    if (!std::isfinite(result.score)) {
      throw NumericError(fmt::format("the score of document {} is {}; expected a finite number",
                                     result.document, result.score));
    }
    places[i] = {DescendingKey(result.score), static_cast<uint32_t>(i)};
  }
  SortPlaces(places);
  return places;
}

// Puts results of equal score, which are neighbours, into the order of their ids.
void OrderTies(std::vector<RankedDocument>& results) {
  for (auto begin = results.begin(); begin != results.end();) {
    const double score = begin->score;
    const auto end = std::find_if(begin + 1, results.end(),
                                  [score](const auto& other) { return other.score != score; });
    if (end - begin > 1) {
      std::sort(begin, end, [](const RankedDocument& a, const RankedDocument& b) {
        return a.document > b.document;
      });
    }
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
  for (const Place& place : PlacesByScore(results)) {
    const data::ScoredDocument& result = results[place.index];
    ranking.results.push_back({result.document, Rounded(result.score, options.score_precision)});
  }
  OrderTies(ranking.results);
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
