// Grades from a table of clicks.
//
// A click says that somebody looked at a document and wanted it; a document that stands high is
// looked at more, so that a bare click rate says where it stood rather than how good it is. Clicks
// are therefore compared with those that an average document would have got in the same places
// (clicks over expected clicks, COEC: Zhang and Jones, "Comparing Click Logs and Editorial Labels
// for Training Query Rewriting", WWW 2007 workshop on query log analysis), smoothed by impressions
// of an average document, so that few impressions say little (as Richardson et al., "Predicting
// Clicks", WWW 2007, smooth the click rates of new advertisements).
//
//   r(q, d) = (clicks(q, d) + k c) / (sum over impressions of rate(position) + k c)
//
// rate(p): clicks over impressions of all rows at position p, smoothed in the same way; c: that of
// all rows; k = kPriorImpressions. Without positions rate(p) = c for every impression, and the bias
// of positions stays in the grades.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tandem::import_data {

struct ClickGradeRules {
  // Pairs that were shown less often are left out: of so few impressions nothing can be said.
  uint64_t least_impressions = 10;
};

// What became of pairs of query and document.
struct ClickCounts {
  uint64_t pairs = 0;
  double clicks = 0;
  double impressions = 0;
  uint64_t few_impressions = 0;  // pairs left out
  // Pairs left out: clicked less than an average document, but not by enough, or not shown enough,
  // to call them not relevant.
  uint64_t undecided = 0;
  bool has_positions = false;
};

class ClickTable {
 public:
  // Impressions of an average document that every pair is given.
  static constexpr double kPriorImpressions = 10;
  // Grade 0 below half of an average document's clicks, none up to it, 1 up to twice, 2 from there
  // on. (In a made log of 100,000 rows with one good document among five, which were clicked at
  // 0.5 and 0.04 over the root of the position, 0.1 % of the pairs between half and once were good,
  // 12 % of those between once and twice, and 99.9 % of those above.)
  static constexpr double kLeast = 0.5, kAverage = 1, kTwice = 2;
  // Deeper positions count as this one.
  static constexpr uint32_t kMostPosition = 100;

  // Adds a row of `pair`, a number from 0 that the caller gives out; 24 bytes a row. `position`
  // counts from 1; none: not known.
  void Add(uint32_t pair, double clicks, double impressions, std::optional<double> position);

  // The grade of each pair, 0, 1 or 2; none for those that are left out. A pair without clicks has
  // grade 0 or is left out. Fills `counts`.
  std::vector<std::optional<double>> Grades(const ClickGradeRules& rules,
                                            ClickCounts* counts) const;

 private:
  struct Row {
    uint32_t pair = 0;
    uint32_t position = 0;  // 0: not known
    double clicks = 0;
    double impressions = 0;
  };
  std::vector<Row> rows_;
  uint32_t pairs_ = 0;
};

}  // namespace tandem::import_data
