#include "text/added_tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "text/normalizers/bert_normalizer.h"

namespace tandem::text {
namespace {

using testing::ElementsAre;

// The ids of the pieces of `text`, with `tokens` looked for in its lower case.
std::vector<int32_t> IdsIn(const std::string& text, const std::vector<AddedToken>& tokens) {
  const BertNormalizer lower({.lowercase = true});
  std::vector<TextPiece> pieces;
  AddedTokens::Make(tokens, lower, "file").normalized.Split(text, &pieces);
  std::vector<int32_t> ids;
  for (const TextPiece& piece : pieces) ids.push_back(piece.id);
  return ids;
}

AddedToken Normal(const std::string& content, int32_t id) {
  return {.content = content, .id = id, .normalized = true};
}
AddedToken Special(const std::string& content, int32_t id) {
  return {.content = content, .id = id, .normalized = true, .special = true};
}

TEST(AddedTokens, OfEqualNormalFormsSpecialTokensComeFirst) {
  EXPECT_THAT(IdsIn("a<x>", {Normal("<X>", 7), Special("<x>", 8)}),
              ElementsAre(TextPiece::kText, 8));
  EXPECT_THAT(IdsIn("a<x>", {Special("<X>", 7), Normal("<x>", 8)}),
              ElementsAre(TextPiece::kText, 7));
}

TEST(AddedTokens, OfEqualNormalFormsOfAKindTheFirstCounts) {
  EXPECT_THAT(IdsIn("<x>a", {Normal("<X>", 7), Normal("<x>", 8)}),
              ElementsAre(7, TextPiece::kText));
  EXPECT_THAT(IdsIn("<x>a", {Special("<x>", 8), Special("<X>", 7)}),
              ElementsAre(8, TextPiece::kText));
}

// Being special does not make a token match where a longer one does.
TEST(AddedTokens, TheLongestMatchCounts) {
  EXPECT_THAT(IdsIn("<x>y", {Special("<x>", 7), Normal("<x>y", 8)}), ElementsAre(8));
}

}  // namespace
}  // namespace tandem::text
