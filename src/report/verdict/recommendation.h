// Which of several compared models to use, as one sentence that needs no statistics: `compare` ends
// with it and the page of `report` begins with it.
//
// It never recommends what may be chance: another model than the baseline is recommended only where
// its difference is seen (eval/significance/compare.h). The first measure decides alone, since
// whoever looks at several finds one that rose.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json/json.h"

namespace tandem::report {

// One of those that are compared with the baseline, by the measure that decides.
struct Contender {
  std::string name;
  double baseline = 0;  // values on the queries that both have
  double value = 0;
  size_t queries = 0;
  double p = 1;       // adjusted over the contenders
  bool seen = false;  // the difference is more than chance
  // Why a difference cannot be seen or is not, in words that end the sentence; "": by its p alone.
  std::string doubt;
  // Queries that would probably show a difference of this size; none: not known.
  std::optional<size_t> queries_needed;
};

// How much better than the baseline something can be on the queries at all.
struct Room {
  size_t queries = 0;
  size_t below = 0;  // of these, where the baseline is below 1, which no value exceeds
};

// The room that values of single queries leave.
Room RoomAbove(std::span<const double> values);

// What the room says of a gain, in words that end a sentence about the queries; "": that there is
// enough of it, or that the baseline is below 1 for most queries. `baseline`: its name; may be "".
// In the paired randomisation test, of n queries that rise, with none that falls, p is 2 / 2^n: at
// `level` a gain is seen from some n on (6 at 0.05), so that queries with fewer that can rise show
// none, and those with fewer than twice as many show one only where most of them rise.
std::string RoomText(const Room& room, const std::string& measure, const std::string& baseline,
                     double level);

struct Contest {
  std::string measure;
  std::string data;      // "data/mine, split test"
  std::string baseline;  // its name
  // Whether all are models, which can be served; else runs, made by whatever program.
  bool models = true;
  std::vector<Contender> contenders;  // at least one
  std::optional<Room> room;           // of the baseline; none: not known
  double level = 0.05;                // below which p is seen
  // What else a reader must know, in words that end the sentence; "": nothing.
  std::string caution;
};

struct Recommendation {
  std::string use;                  // the name of a contender or of the baseline
  std::optional<size_t> contender;  // which one; none: the baseline
  bool seen = false;
  std::optional<size_t> queries_needed;
  std::string action;    // "Serve new", "Keep old"
  std::string reason;    // with a full stop
  std::string sentence;  // "ACTION: REASON"
  // The lines that make an index with the model and serve it; "": the model's place is not known.
  std::string commands;
};

// Recommends the contender with the highest value of those that are seen to be better than the
// baseline; of equal ones the first. Else the baseline, beside the contender with the highest
// value.
Recommendation Recommend(const Contest& contest);

// {"use", "measure", "seen", "queries_needed", "sentence"}.
Json RecommendationJson(const Contest& contest, const Recommendation& recommendation);

// The doubt where the values of so few queries differ that no difference could be seen.
std::string TooFewDiffer(size_t queries);

// "p = 0.0004", "p < 0.0001".
std::string PText(double p);

}  // namespace tandem::report
