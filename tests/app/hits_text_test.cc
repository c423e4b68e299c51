#include "app/hits_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::app {
namespace {

TEST(HitsText, TextsBeginInOneColumnWhateverIdsAndScoresAre) {
  const std::vector<ShownHit> hits = {{12.5, {}, "d1", "alpha beta gamma delta epsilon zeta eta"},
                                      {-0.25, {}, "d12345", "alpha"}};
  EXPECT_EQ(HitsText(hits, 60),
            "   1  12.5000  d1      alpha beta gamma delta epsilon zeta…\n"
            "   2  -0.2500  d12345  alpha\n");
}

TEST(HitsText, ProbabilitiesStandBehindTheScores) {
  const std::vector<ShownHit> hits = {{12.5, 0.93456, "d1", "alpha beta gamma delta"},
                                      {-0.25, 0.0, "d12", "alpha"}};
  EXPECT_EQ(HitsText(hits, 60),
            "   1  12.5000  0.9346  d1   alpha beta gamma delta\n"
            "   2  -0.2500  0.0000  d12  alpha\n");
}

TEST(HitsText, LongIdsLeaveTheTextALineOfItsOwn) {
  const std::string id(40, 'x');
  const std::vector<ShownHit> hits = {{0.5, {}, id, "alpha beta"}, {0.4, {}, "d", ""}};
  EXPECT_EQ(HitsText(hits, 80), "   1  0.5000  " + id + "\n      alpha beta\n   2  0.4000  d\n");
}

}  // namespace
}  // namespace tandem::app
