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
  uint64_t rows = 0;
  uint64_t pairs = 0;
  double clicks = 0;
  double impressions = 0;
  uint64_t few_impressions = 0;  // pairs left out
  // Pairs left out: never clicked, but not shown often or high enough to call them not relevant.
  uint64_t undecided = 0;
  bool has_positions = false;
};

class ClickTable {
 public:
  // Impressions of an average document that every pair is given.
  static constexpr double kPriorImpressions = 10;
  // Grade 0 below half of an average document's clicks, 1 up to it, 2 up to twice, 3 from there on.
  static constexpr double kLeast = 0.5, kAverage = 1, kTwice = 2;
  // Deeper positions count as this one.
  static constexpr uint32_t kMostPosition = 100;

  // Adds a row of `pair`, a number from 0 that the caller gives out; 24 bytes a row. `position`
  // counts from 1; none: not known.
  void Add(uint32_t pair, double clicks, double impressions, std::optional<double> position);

  // The grade of each pair, 0 to 3; none for those that are left out. A pair without clicks has
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
