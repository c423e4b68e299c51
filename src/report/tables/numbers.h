// Says how numbers are shown, wherever the program shows one.
//
// A person reads four decimals for measures and scores, "-" for a value that does not exist. For
// programs (TSV, JSON): the fewest digits that read back to the same double. Durations are
// FormatDuration's (base/progress.h), amounts of memory FormatByteSize's (base/byte_size.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json.h"

namespace tandem::report {

inline constexpr std::string_view kNoValue = "-";

// Measures and scores in [0, 1] show four: the fourth is below what a set of queries can tell.
inline constexpr int kMeasureDecimals = 4;

// A value and the interval that it lies in with the confidence that the caller names.
struct Interval {
  double value = 0;
  double low = 0;
  double high = 0;
};

// "0.8168"; "-" for none; "nan" and "inf", "-inf" for what is not finite; never "-0.0000". From
// 1e15 on "1.0000e+15".
std::string Fixed(std::optional<double> value, int decimals = kMeasureDecimals);
// "+0.0210", "-0.0030", "+0.0000": a difference.
std::string Signed(std::optional<double> value, int decimals = kMeasureDecimals);
// "2.3e-05": errors and tolerances.
std::string Scientific(std::optional<double> value, int decimals = 2);
// The fewest digits that read back to the same double: "0.1", "1e-07", "300".
std::string Exact(std::optional<double> value);
// The number as JSON: null for none and for what is not finite, which JSON cannot say.
Json JsonNumber(std::optional<double> value);

// "0.8168 [0.7901, 0.8424]".
std::string WithInterval(const std::optional<Interval>& value, int decimals = kMeasureDecimals);
// "0.0210 ± 0.0080": `half` is half an interval that lies evenly around the value.
std::string PlusMinus(double value, double half, int decimals = kMeasureDecimals);

// "0.0004", "< 0.0001" for less than that: the probability of a test.
std::string PValue(std::optional<double> p);
// "91.2 %" of a share 0.912.
std::string Percent(std::optional<double> share, int decimals = 1);
// "950", "8.84 k", "1.2 M", "3.41 G": three digits and the prefix of 1,000, 1,000,000, ...
std::string SiNumber(double value);
// "12.3 s", "240 ms", "8.10 us": three digits. Longer ones are FormatDuration's.
std::string Seconds(double seconds);

}  // namespace tandem::report
