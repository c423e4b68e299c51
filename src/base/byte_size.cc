#include "base/byte_size.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tandem {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};

constexpr Unit kUnits[] = {{"", 1},         {"B", 1},        {"KiB", 0x1p10}, {"MiB", 0x1p20},
                           {"GiB", 0x1p30}, {"TiB", 0x1p40}, {"kB", 1e3},     {"MB", 1e6},
                           {"GB", 1e9},     {"TB", 1e12}};

}  // namespace

std::optional<uint64_t> ParseByteSize(std::string_view text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  std::string_view name = text.substr(static_cast<size_t>(stop - text.data()));
  if (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    if (unit.name != name) continue;
    const double bytes = std::floor(number * unit.bytes);
    if (!(bytes <= 0x1p63)) return std::nullopt;
    return static_cast<uint64_t>(bytes);
  }
  return std::nullopt;
}

std::string FormatByteSize(uint64_t bytes) {
  const auto amount = static_cast<double>(bytes);
  if (amount < 0x1p10) return fmt::format("{} B", bytes);
  if (amount < 0x1p20) return fmt::format("{:.1f} KiB", amount / 0x1p10);
  if (amount < 0x1p30) return fmt::format("{:.1f} MiB", amount / 0x1p20);
  return fmt::format("{:.1f} GiB", amount / 0x1p30);
}

}  // namespace tandem
