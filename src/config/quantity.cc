#include "config/quantity.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>

namespace tandem::config {
namespace {

// Counts above this would not fit a double exactly.
constexpr double kLargestCount = 9007199254740992.0;  // 2^53

std::optional<double> ReadNumber(std::string_view& text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool IsUnit(std::string_view word, std::string_view unit) {
  const bool plural = !unit.empty() && unit.back() == 's';
  return word == unit || (plural && word == unit.substr(0, unit.size() - 1));
}

std::optional<Quantity> ReadQuantity(std::string_view text, std::string_view unit) {
  const std::optional<double> number = ReadNumber(text);
  if (!number || *number < 0) return std::nullopt;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (text == "%" && *number <= 100) return Quantity::Percent(*number);
  const bool whole = *number == std::floor(*number) && *number <= kLargestCount;
  if (whole && (text.empty() || IsUnit(text, unit))) return Quantity{*number, false};
  return std::nullopt;
}

}  // namespace

int64_t Quantity::Of(int64_t total) const {
  return share ? std::llround(static_cast<double>(total) * amount / 100.0) : std::llround(amount);
}

ParsedQuantity ParseQuantity(const Value& value, std::string_view unit) {
  std::optional<Quantity> quantity;
  if (const auto* text = std::get_if<std::string>(&value)) quantity = ReadQuantity(*text, unit);
  if (const auto* count = std::get_if<int64_t>(&value); count != nullptr && *count >= 0) {
    quantity = Quantity::Count(*count);
  }
  if (quantity) return {*quantity, ""};
  return {{},
          fmt::format("must be a share like \"5%\" or a count like \"500 {}\", found {}", unit,
                      FormatValue(value))};
}

std::string FormatQuantity(const Quantity& quantity, std::string_view unit) {
  if (quantity.share) return fmt::format("{}%", quantity.amount);
  return fmt::format("{} {}", static_cast<int64_t>(quantity.amount), unit);
}

}  // namespace tandem::config
