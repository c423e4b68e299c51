// Amounts of memory as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tandem {

// "2GiB", "1.5 GiB", "500MB", "4096": a number of at least 0 and B, KiB, MiB, GiB, TiB (powers of
// 1,024) or kB, MB, GB, TB (of 1,000); bytes without a unit. Gives nothing for all other text, and
// for more than 2^63 bytes.
std::optional<uint64_t> ParseByteSize(std::string_view text);

// "1.5 GiB", "12.0 MiB", "3.2 KiB", "17 B": for a person.
std::string FormatByteSize(uint64_t bytes);

}  // namespace tandem
