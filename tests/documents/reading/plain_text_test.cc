#include "documents/reading/plain_text.h"

#include <gtest/gtest.h>

#include "documents/described.h"

namespace tandem::documents {
namespace {

TEST(ReadPlainText, AFirstLineThatStandsAloneIsTheTitle) {
  const Document document = ReadPlainText("\r\nGloves \r\n\r\nWarm.\r\nSoft.\r\n \r\nDry.\r\n");
  EXPECT_EQ(document.title, "Gloves");
  EXPECT_EQ(document.text, "Warm.\nSoft.\n \nDry.");
  EXPECT_EQ(Described(document), "paragraph|Warm.\nSoft.\nparagraph|Dry.\n");
}

TEST(ReadPlainText, LinesMayEndWithCarriageReturnsAlone) {
  const Document document = ReadPlainText("Gloves\r\rWarm.\rSoft.\r");
  EXPECT_EQ(document.title, "Gloves");
  EXPECT_EQ(document.text, "Warm.\nSoft.");
}

TEST(ReadPlainText, OtherFirstLinesAreText) {
  EXPECT_EQ(ReadPlainText("Gloves are warm.\n\nDry.").title, "");
  EXPECT_EQ(ReadPlainText("Gloves\nare warm").title, "");
  EXPECT_EQ(ReadPlainText("Gloves").title, "");
  EXPECT_EQ(ReadPlainText("Gloves").text, "Gloves");
  EXPECT_EQ(ReadPlainText(std::string(101, 'a') + "\n\nb").title, "");
  EXPECT_EQ(ReadPlainText("").text, "");
}

}  // namespace
}  // namespace tandem::documents
