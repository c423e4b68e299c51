// Cells of the tables of a search's page.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/page/page_parts.h"
#include "tune/schedule/search_plan.h"

namespace tandem::tune {

// The searched keys that configurations set, each a column, so that rows stay low where many are.
class ConfigurationColumns {
 public:
  // `plan` must outlive the columns.
  explicit ConfigurationColumns(const SearchPlan& plan);

  void AddTo(std::vector<report::PageColumn>& columns) const;
  // The values of trials, counted from 1: blank where none is set, all of them where they differ,
  // with "as given" for none.
  void AddTo(std::vector<report::PageCell>& row, std::span<const int64_t> trials) const;

 private:
  std::string ValueOf(const std::string& key, int64_t trial) const;

  const SearchPlan& plan_;
  std::vector<std::string> keys_;
};

// A p that four decimals would show as 0 is said to be below what they show; none is "-".
report::PageCell ProbabilityCell(std::optional<double> p);

}  // namespace tandem::tune
