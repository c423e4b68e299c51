// Amounts that a recipe gives as a share or as a count: "5%", "500 steps", 500.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/param.h"

namespace tandem::config {

// A share of a whole (of the steps of a run, of the training queries) or a count of its units.
struct Quantity {
  double amount = 0;  // percent where `share`, else a whole number of units
  bool share = false;

  static constexpr Quantity Percent(double percent) { return {percent, true}; }
  static constexpr Quantity Count(int64_t count) { return {static_cast<double>(count), false}; }

  // Says how many units of a whole of `total`: a share is rounded to the nearest integer, a count
  // is taken as it is (it may exceed `total`).
  int64_t Of(int64_t total) const;
  bool IsZero() const { return amount == 0; }

  bool operator==(const Quantity&) const = default;
};

struct ParsedQuantity {
  Quantity quantity;
  std::string problem;  // empty when it was understood; without the key
};

// `value` is a string "P%" (0 to 100) or "N UNIT" (UNIT as given, or without its plural s), or a
// whole number N >= 0.
ParsedQuantity ParseQuantity(const Value& value, std::string_view unit);

// "5%", or "500 steps"; reads back to the same quantity.
std::string FormatQuantity(const Quantity& quantity, std::string_view unit);

}  // namespace tandem::config
