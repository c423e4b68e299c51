// Numbers by their names, whose names are not known before: measures of a recipe, what an objective
// learns.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace tandem::report {

// Whole numbers stay whole, in the file and after it is read.
using Number = std::variant<int64_t, double>;

struct NamedNumber {
  std::string name;
  Number value;

  bool operator==(const NamedNumber&) const = default;
  double AsDouble() const {
    return std::visit([](auto number) { return static_cast<double>(number); }, value);
  }
};
using NamedNumbers = std::vector<NamedNumber>;

}  // namespace tandem::report
