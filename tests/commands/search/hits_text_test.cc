#include "commands/search/hits_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::app {
namespace {

TEST(HitsText, TextsBeginInOneColumnWhateverIdsAndScoresAre) {
  const std::vector<ShownHit> hits = {{12.5, {}, "d1", "alpha beta gamma delta epsilon zeta eta"},
                                      {-0.25, {}, "d12345", "alpha"}};
  EXPECT_EQ(HitsText(hits, {.columns = 60}),
            "   1  12.5000  d1      alpha beta gamma delta epsilon zeta…\n"
            "   2  -0.2500  d12345  alpha\n");
}

TEST(HitsText, ProbabilitiesStandBehindTheScores) {
  const std::vector<ShownHit> hits = {{12.5, 0.93456, "d1", "alpha beta gamma delta"},
                                      {-0.25, 0.0, "d12", "alpha"}};
  EXPECT_EQ(HitsText(hits, {.columns = 60}),
            "   1  12.5000  0.9346  d1   alpha beta gamma delta\n"
            "   2  -0.2500  0.0000  d12  alpha\n");
}

TEST(HitsText, LongIdsLeaveTheTextALineOfItsOwn) {
  const std::string id(40, 'x');
  const std::vector<ShownHit> hits = {{0.5, {}, id, "alpha beta"}, {0.4, {}, "d", ""}};
  EXPECT_EQ(HitsText(hits, {.columns = 80}),
            "   1  0.5000  " + id + "\n      alpha beta\n   2  0.4000  d\n");
}

std::vector<ShownHit> Highlighted(std::string_view text, size_t begin, size_t end) {
  return {{.score = 0.5, .id = "d", .text = text, .highlight = index::Passage{begin, end}}};
}

TEST(HitsText, APassageStandsBelowItsText) {
  const std::string text = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda my";
  EXPECT_EQ(HitsText(Highlighted(text, 6, 56), {.columns = 48}),
            "   1  0.5000  d  alpha beta gamma delta epsilon…\n"
            "      » beta gamma delta epsilon zeta eta theta\n"
            "        iota kappa\n");
  EXPECT_EQ(HitsText(Highlighted(text, 6, 16), {.columns = 48, .bold = true}),
            "   1  0.5000  d  alpha beta gamma delta epsilon…\n"
            "      » \033[1mbeta gamma\033[0m\n");
}

TEST(HitsText, APassageThatBeginsTheTextTakesItsPlace) {
  const std::string text = "  alpha beta gamma delta epsilon zeta eta theta iota kappa";
  EXPECT_EQ(HitsText(Highlighted(text, 2, 18), {.columns = 60}),
            "   1  0.5000  d\n      » alpha beta gamma\n");
  // The whole text is the passage, which does not fit beside the id.
  EXPECT_EQ(HitsText(Highlighted(text, 2, text.size()), {.columns = 60}),
            "   1  0.5000  d\n"
            "      » alpha beta gamma delta epsilon zeta eta theta iota\n"
            "        kappa\n");
}

TEST(HitsText, APassageThatIsAllOfAShortTextStandsBesideTheId) {
  EXPECT_EQ(HitsText(Highlighted("alpha beta ", 0, 10), {.columns = 60}),
            "   1  0.5000  d  alpha beta\n");
  EXPECT_EQ(HitsText(Highlighted("alpha beta ", 0, 10), {.columns = 60, .bold = true}),
            "   1  0.5000  d  \033[1malpha beta\033[0m\n");
}

}  // namespace
}  // namespace tandem::app
