#include "data/fields.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>
#include <system_error>

namespace tandem::data {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::string_view Trim(std::string_view field) {
  while (!field.empty() && IsBlank(field.front())) field.remove_prefix(1);
  while (!field.empty() && IsBlank(field.back())) field.remove_suffix(1);
  return field;
}

}  // namespace

size_t SplitAtBlanks(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  const char* at = line.data();
  const char* const end = at + line.size();
  while (true) {
    while (at != end && IsBlank(*at)) ++at;
    if (at == end) return count;
    const char* const start = at;
    while (at != end && !IsBlank(*at)) ++at;
    if (count < fields.size()) {
      fields[count] = std::string_view(start, static_cast<size_t>(at - start));
    }
    ++count;
  }
}

size_t SplitAtTabs(std::string_view line, std::span<std::string_view> fields) {
  size_t count = 0;
  while (true) {
    const size_t tab = line.find('\t');
    if (count < fields.size()) fields[count] = Trim(line.substr(0, tab));
    ++count;
    if (tab == std::string_view::npos) return count;
    line.remove_prefix(tab + 1);
  }
}

std::optional<double> ParseNumber(std::string_view field) {
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end != field.data() + field.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    value = std::strtod(std::string(field).c_str(),
                        nullptr);  // 0 where too small, infinite where too large
  } else if (error != std::errc()) {
    return std::nullopt;
  }
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace tandem::data
