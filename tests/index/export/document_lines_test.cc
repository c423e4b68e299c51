// Documents as lines for other programs, against what their documentation says.
#include "index/export/document_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string>

#include "base/error.h"

namespace tandem::index {
namespace {

using data::MetadataType;
using data::MetadataValue;

const LineColumns kColumns{{{"year", MetadataType::kNumber}, {"a \"b\"", MetadataType::kString}},
                           true};
constexpr std::array kVector = {0.1F, -1.0F, 1e-20F};
const std::array kMetadata = {MetadataValue{.present = true, .number = 1990.5},
                              MetadataValue{.present = true, .text = "\\N"}};

LiveDocument DocumentOf(std::string_view id, std::string_view text) {
  return {.id = id, .text = text, .vector = kVector, .metadata = kMetadata};
}

std::string CopyOf(const LiveDocument& document, const LineColumns& columns) {
  std::string line;
  AppendCopyLine(document, columns, "mine.index", line);
  return line;
}

TEST(CopyLine, EscapesWhatCopyReads) {
  EXPECT_EQ(CopyOf(DocumentOf("d\t1", "a\\b\nc\rd\b\f\v \"e'"), kColumns),
            "d\\t1\t[0.1,-1,1e-20]\ta\\\\b\\nc\\rd\\b\\f\\v \"e'\t1990.5\t\\\\N\n");
}

TEST(CopyLine, WhatIsNotThereIsNull) {
  LiveDocument document = DocumentOf("d", "t");
  const std::array<MetadataValue, 2> nothing = {};
  document.metadata = nothing;
  EXPECT_EQ(CopyOf(document, {kColumns.fields, false}), "d\t[0.1,-1,1e-20]\t\\N\t\\N\n");
}

TEST(CopyLine, AZeroByteIsAnErrorThatNamesTheDocument) {
  using std::string_view_literals::operator""sv;
  try {
    CopyOf(DocumentOf("d7", "a\0b"sv), kColumns);
    FAIL() << "nothing was thrown";
  } catch (const DataError& error) {
    EXPECT_EQ(error.file(), "mine.index");
    EXPECT_EQ(error.id(), "d7");
    EXPECT_THAT(error.what(), testing::HasSubstr("zero byte"));
  }
}

TEST(CopyLine, NamesAreQuotedInTheTable) {
  EXPECT_EQ(CopyTableColumns(kColumns, 3),
            "id text PRIMARY KEY, embedding vector(3), text text, \"year\" double precision, "
            "\"a \"\"b\"\"\" text");
}

// psql 17 reads both files so: of an encoding without quotes, and a backslash is itself.
TEST(CopyLine, TheFileIsQuotedAndItsEncodingSaid) {
  EXPECT_EQ(CopyFromFile("mine.copy"), "\\copy documents FROM 'mine.copy' (ENCODING utf8)");
  EXPECT_EQ(CopyFromFile("it's \\n.copy"),
            "\\copy documents FROM 'it''s \\n.copy' (ENCODING utf8)");
}

TEST(JsonLine, IsReadBackAsTheSameNumbersAndTexts) {
  std::string line;
  AppendJsonLine(DocumentOf("d\"1", "ü\n"), kColumns, line);
  EXPECT_TRUE(line.ends_with("}\n"));
  const nlohmann::json read = nlohmann::json::parse(line);
  EXPECT_EQ(read["id"], "d\"1");
  EXPECT_EQ(read["text"], "ü\n");
  EXPECT_EQ(read["year"], 1990.5);
  EXPECT_EQ(read["a \"b\""], "\\N");
  EXPECT_EQ(read["embedding"].size(), kVector.size());
  for (size_t i = 0; i < kVector.size(); ++i) {
    EXPECT_EQ(read["embedding"][i].get<float>(), kVector[i]);
  }
}

TEST(DocumentLines, AFieldIsNotCalledAsAnotherColumn) {
  const auto check = [](const std::string& name, bool texts) {
    CheckColumns({{{name, MetadataType::kString}}, texts});
  };
  EXPECT_THROW(check("id", false), UsageError);
  EXPECT_THROW(check("embedding", false), UsageError);
  EXPECT_THROW(check("text", true), UsageError);
  EXPECT_NO_THROW(check("text", false));
}

}  // namespace
}  // namespace tandem::index
