// Fields and numbers of a line in the tabular formats.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tandem::data {

// Splits at runs of spaces and tabs into `fields`; returns how many there are, counting those
// beyond `fields.size()`, which are not stored.
size_t SplitAtBlanks(std::string_view line, std::span<std::string_view> fields);

// Splits at every tab and takes the blanks around each field off; counts as SplitAtBlanks does.
size_t SplitAtTabs(std::string_view line, std::span<std::string_view> fields);

// The decimal number that fills the whole field; nothing where there is none or it is not finite.
// Reads what C's strtod reads, except hexadecimal numbers.
std::optional<double> ParseNumber(std::string_view field);

}  // namespace tandem::data
