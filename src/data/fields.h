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

// Splits at every tab, with the blanks around each field taken off; counts as SplitAtBlanks does.
size_t SplitAtTabs(std::string_view line, std::span<std::string_view> fields);

// A decimal number that fills the whole field and is finite; none otherwise. Reads as C's strtod
// does, without its hexadecimal form.
std::optional<double> ParseNumber(std::string_view field);

}  // namespace tandem::data
