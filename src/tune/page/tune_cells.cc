#include "tune/page/tune_cells.h"

#include <algorithm>

#include "tune/choice/selection.h"

namespace tandem::tune {
namespace {

// A TOML string's text, where nothing in it is escaped.
std::string WithoutQuotes(const std::string& value) {
  const bool plain = value.size() >= 2 && value.front() == '"' && value.back() == '"' &&
                     value.find('\\') == std::string::npos;
  return plain ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

ConfigurationColumns::ConfigurationColumns(const SearchPlan& plan) : plan_(plan) {
  for (const config::Assignment& one : plan.configurations) {
    for (const auto& [key, value] : one) {
      if (std::find(keys_.begin(), keys_.end(), key) == keys_.end()) keys_.push_back(key);
    }
  }
}

void ConfigurationColumns::AddTo(std::vector<report::PageColumn>& columns) const {
  for (const std::string& key : keys_) columns.push_back({key});
}

void ConfigurationColumns::AddTo(std::vector<report::PageCell>& row, int64_t trial) const {
  const config::Assignment& set = plan_.configurations[static_cast<size_t>(trial) - 1];
  for (const std::string& key : keys_) {
    const auto found =
        std::find_if(set.begin(), set.end(), [&key](const auto& one) { return one.first == key; });
    row.push_back(report::ForeignCell(found == set.end() ? "" : WithoutQuotes(found->second)));
  }
}

report::PageCell ProbabilityCell(std::optional<double> p) {
  report::PageCell cell = report::NumberCell(p);
  cell.text = report::PValue(p);
  return cell;
}

}  // namespace tandem::tune
