#include "report/tables/numbers.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/json/json.h"

namespace tandem::report {
namespace {

// Three digits: "8.84", "12.3", "950".
std::string ThreeDigits(double value) {
  const double size = std::abs(value);
  return Fixed(value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

}  // namespace

std::string Fixed(std::optional<double> value, int decimals) {
  if (!value) return std::string(kNoValue);
  // A double has no digits after the point there, and a figure of 300 digits is none to read.
  constexpr double kMostWithAPoint = 1e15;
  if (std::isfinite(*value) && std::abs(*value) >= kMostWithAPoint) {
    return fmt::format("{:.{}e}", *value, decimals);
  }
  std::string text = fmt::format("{:.{}f}", *value, decimals);
  const bool is_zero = text.find_first_not_of("-0.") == std::string::npos;
  if (is_zero && text.front() == '-') text.erase(0, 1);
  return text;
}

std::string Signed(std::optional<double> value, int decimals) {
  const std::string text = Fixed(value, decimals);
  const bool wants_sign = value && text.front() != '-' && !std::isnan(*value);
  return wants_sign ? fmt::format("+{}", text) : text;
}

std::string Scientific(std::optional<double> value, int decimals) {
  return value ? fmt::format("{:.{}e}", *value, decimals) : std::string(kNoValue);
}

std::string Exact(std::optional<double> value) {
  return value ? fmt::format("{}", *value) : std::string(kNoValue);
}

Json JsonNumber(std::optional<double> value) {
  return value && std::isfinite(*value) ? Json(*value) : Json();
}

std::string WithInterval(const std::optional<Interval>& value, int decimals) {
  if (!value) return std::string(kNoValue);
  return fmt::format("{} [{}, {}]", Fixed(value->value, decimals), Fixed(value->low, decimals),
                     Fixed(value->high, decimals));
}

std::string PlusMinus(double value, double half, int decimals) {
  return fmt::format("{} ± {}", Fixed(value, decimals), Fixed(half, decimals));
}

std::string PValue(std::optional<double> p) {
  constexpr double kLeast = 0.0001;
  return p && *p < kLeast ? fmt::format("< {}", Fixed(kLeast)) : Fixed(p);
}

std::string Percent(std::optional<double> share, int decimals) {
  return share ? Fixed(100 * *share, decimals) + " %" : std::string(kNoValue);
}

std::string SiNumber(double value) {
  constexpr std::string_view kPrefixes[] = {"", " k", " M", " G", " T", " P"};
  size_t prefix = 0;
  while (std::abs(value) >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  if (prefix == 0 && value == std::floor(value)) return Fixed(value, 0);
  return fmt::format("{}{}", ThreeDigits(value), kPrefixes[prefix]);
}

std::string Seconds(double seconds) {
  if (seconds >= 0.9995) return ThreeDigits(seconds) + " s";
  if (seconds >= 0.9995e-3) return ThreeDigits(1e3 * seconds) + " ms";
  return ThreeDigits(1e6 * seconds) + " us";
}

}  // namespace tandem::report
