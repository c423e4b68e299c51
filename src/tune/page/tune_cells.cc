#include "tune/page/tune_cells.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "tune/choice/selection.h"

namespace tandem::tune {
namespace {

const std::string kAsGiven = "as given";

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

std::string ConfigurationColumns::ValueOf(const std::string& key, int64_t trial) const {
  const config::Assignment& set = plan_.configurations[static_cast<size_t>(trial) - 1];
  const auto found =
      std::find_if(set.begin(), set.end(), [&key](const auto& one) { return one.first == key; });
  return found == set.end() ? "" : WithoutQuotes(found->second);
}

void ConfigurationColumns::AddTo(std::vector<report::PageCell>& row,
                                 std::span<const int64_t> trials) const {
  for (const std::string& key : keys_) {
    std::vector<std::string> values;
    for (const int64_t trial : trials) {
      std::string value = ValueOf(key, trial);
      if (std::find(values.begin(), values.end(), value) == values.end()) {
        values.push_back(std::move(value));
      }
    }
    // A blank beside values is the recipe's own.
    if (values.size() > 1) std::replace(values.begin(), values.end(), std::string(), kAsGiven);
    row.push_back(report::ForeignCell(fmt::format("{}", fmt::join(values, ", "))));
  }
}

report::PageCell ProbabilityCell(std::optional<double> p) {
  report::PageCell cell = report::NumberCell(p);
  cell.text = report::PValue(p);
  return cell;
}

}  // namespace tandem::tune
