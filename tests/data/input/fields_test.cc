#include "data/input/fields.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.h"

namespace tandem::data {
namespace {

// The field with readable bytes after it that would change the number if they were read.
std::optional<double> ParsePadded(const std::string& field) {
  const std::string padded = field + std::string(64, '7');
  return ParsePaddedNumber(std::string_view(padded).substr(0, field.size()));
}

void ExpectSame(const std::string& field) {
  const std::optional<double> wanted = ParseNumber(field), found = ParsePadded(field);
  ASSERT_EQ(found.has_value(), wanted.has_value()) << field;
  if (!wanted) return;
  EXPECT_EQ(std::bit_cast<uint64_t>(*found), std::bit_cast<uint64_t>(*wanted)) << field;
}

TEST(ParsePaddedNumber, ReadsWhatParseNumberReads) {
  for (const char* field : {"0",
                            "-0",
                            "1",
                            "-1.5",
                            "19.952801",
                            ".5",
                            "5.",
                            ".",
                            "-",
                            "-.",
                            "",
                            "+1",
                            "+-1",
                            "--1",
                            "1..2",
                            "1.2.3",
                            "1e3",
                            "1e-400",
                            "1e999",
                            "nan",
                            "inf",
                            "0x1",
                            "1/2",
                            "1:2",
                            "1 2",
                            "123456789012345",
                            "1234567890123456",
                            "12345678.1234567",
                            "0.00000000000001",
                            "-12345678.123456",
                            "000000000000001",
                            "9007199254740993",
                            "\x80",
                            "1\xB0"}) {
    ExpectSame(field);
  }
}

TEST(ParsePaddedNumber, IsTheNearestDouble) {
  RandomStream random({.seed = 5, .purpose = "numbers"});
  for (int round = 0; round < 200'000; ++round) {
    std::string field = random.Below(3) == 0 ? "-" : "";
    const uint64_t digits = 1 + random.Below(17), point = random.Below(digits + 4);
    for (uint64_t i = 0; i < digits; ++i) {
      if (i == point) field += '.';
      field += static_cast<char>('0' + random.Below(10));
    }
    ExpectSame(field);
    if (HasFailure()) return;
    EXPECT_EQ(*ParsePadded(field), std::strtod(field.c_str(), nullptr)) << field;
  }
}

TEST(BlankFields, GivesTheFieldsOfSplitAtBlanks) {
  RandomStream random({.seed = 6, .purpose = "fields"});
  constexpr std::string_view kBytes = " \t  aB\x01\x1F!\xA0\x89";
  for (int round = 0; round < 20'000; ++round) {
    std::string line;
    for (uint64_t i = random.Below(200); i > 0; --i) {
      line += random.Below(round % 40 + 2) == 0 ? kBytes[random.Below(kBytes.size())] : 'x';
    }
    std::vector<std::string_view> wanted(200);
    wanted.resize(SplitAtBlanks(line, wanted));
    const std::string padded = line + std::string(32, 'x') + std::string(32, ' ');
    BlankFields fields(std::string_view(padded).substr(0, line.size()));
    for (const std::string_view field : wanted) ASSERT_EQ(fields.Next(), field) << line;
    ASSERT_EQ(fields.Next(), "") << line;
    ASSERT_EQ(fields.Next(), "") << line;
  }
}

}  // namespace
}  // namespace tandem::data
