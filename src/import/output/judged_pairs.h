// The judgements of an import: each pair of query and document once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/texts/slot_table.h"
#include "import/grades/click_grades.h"

namespace tandem::import_data {

struct JudgedPair {
  uint32_t query = 0;
  uint32_t document = 0;
  double grade = 0;
};

class JudgedPairs {
 public:
  // A pair that has a grade keeps the higher of both.
  void Add(uint32_t query, uint32_t document, double grade);
  void AddClicks(uint32_t query, uint32_t document, double clicks, double impressions,
                 std::optional<double> position);
  // Gives pairs with clicks their grades; those that have none are left out. Call it once, after
  // the last row.
  ClickCounts GradeClicks(const ClickGradeRules& rules);

  std::span<const JudgedPair> pairs() const { return pairs_; }
  bool has_clicks() const { return has_clicks_; }
  uint64_t repeated() const { return repeated_; }
  uint64_t contradicting() const { return contradicting_; }

 private:
  // The number of the pair, a new one without a grade (not a number) where it was not there.
  uint32_t NumberOf(uint32_t query, uint32_t document, bool* is_new);

  std::vector<JudgedPair> pairs_;
  data::SlotTable numbers_;
  ClickTable clicks_;
  bool has_clicks_ = false;
  uint64_t repeated_ = 0;
  uint64_t contradicting_ = 0;
};

}  // namespace tandem::import_data
