#include "commands/model/precision_advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "base/files/files.h"

namespace tandem::app {
namespace {

using search::PrecisionTime;
using tensor::Precision;

std::string Sentence(std::vector<PrecisionTime> times) {
  return PrecisionSentence(times, 5183, model::TextKind::kDocument);
}

TEST(PrecisionSentence, SaysWhatOthersTakeAndChange) {
  EXPECT_EQ(Sentence({{Precision::kFp32, 241}, {Precision::kBf16, 44}, {Precision::kInt8, 5000}}),
            "encoding 5183 documents in fp32 takes about 4 min; --precision bf16 about 45 s "
            "(all-MiniLM-L6-v2 on five sets: nDCG@10 within 0.002 of fp32's, docs/performance.md); "
            "TANDEM_PRECISION sets it for all commands");
  EXPECT_THAT(
      Sentence({{Precision::kFp32, 7300}, {Precision::kInt8, 9.4}}),
      testing::StartsWith("encoding 5183 documents in fp32 takes about 2.0 h; --precision "
                          "int8 about 9 s (all-MiniLM-L6-v2 on five sets: nDCG@10 within "));
}

TEST(PrecisionSentence, IsNoneWhereNothingIsSaved) {
  EXPECT_EQ(Sentence({{Precision::kFp32, 100}, {Precision::kInt8, 90}}), "");
  EXPECT_EQ(Sentence({{Precision::kFp32, 100}}), "");
}

// The cells of the table "precision study" of docs/performance.md, without its heading.
std::vector<std::vector<std::string>> StudyRows() {
  const std::string page =
      ReadFile(std::filesystem::path(TANDEM_SOURCE_DIR) / "docs" / "performance.md");
  const std::string begin = "<!-- precision study -->\n";
  const size_t first = page.find(begin) + begin.size();
  std::istringstream lines(page.substr(first, page.find("<!-- end -->", first) - first));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| ") || line.starts_with("| ---")) continue;
    std::istringstream cells(line.substr(2));
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string cell; std::getline(cells, cell, '|');) {
      cell.erase(0, cell.find_first_not_of(' '));
      cell.erase(cell.find_last_not_of(' ') + 1);
      row.push_back(cell);
    }
  }
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

// What the sentence promises is what was measured, on each of the five sets.
TEST(PrecisionSentence, SaysNoMoreThanTheTable) {
  const auto rows = StudyRows();
  ASSERT_EQ(rows.size(), 5U);
  for (const std::vector<std::string>& row : rows) {
    ASSERT_GE(row.size(), 6U) << row.front();
    const double fp32 = std::stod(row[3]), bf16 = std::stod(row[4]), int8 = std::stod(row[5]);
    EXPECT_GT(fp32, 0) << row.front();
    EXPECT_LE(std::abs(bf16 - fp32), kBf16NdcgWithin + 1e-9) << row.front();
    EXPECT_LE(std::abs(int8 - fp32), kInt8NdcgWithin + 1e-9) << row.front();
  }
}

}  // namespace
}  // namespace tandem::app
