#include "report/verdict/recommendation.h"

#include <gmock/gmock.h>

namespace tandem::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Contest ContestOf(std::vector<Contender> contenders) {
  return {.measure = "ndcg@10",
          .data = "wiki, split test",
          .baseline = "old",
          .contenders = std::move(contenders)};
}

TEST(Recommendation, ServesWhatIsSeenToBeBetter) {
  const Recommendation found = Recommend(ContestOf({{.name = "new",
                                                     .baseline = 0.79312,
                                                     .value = 0.84,
                                                     .queries = 225,
                                                     .p = 0.00041,
                                                     .seen = true}}));
  EXPECT_EQ(found.use, "new");
  EXPECT_TRUE(found.seen);
  EXPECT_EQ(found.queries_needed, std::nullopt);
  EXPECT_EQ(
      found.sentence,
      "Serve new: its ndcg@10 is 0.8400, that of old 0.7931, on 225 queries of wiki, split test, "
      "and such a difference is hardly chance (p = 0.0004).");
}

TEST(Recommendation, DoesNotRecommendByChance) {
  const Recommendation found = Recommend(ContestOf({{.name = "new",
                                                     .baseline = 0.79,
                                                     .value = 0.84,
                                                     .queries = 20,
                                                     .p = 0.3,
                                                     .queries_needed = 131}}));
  EXPECT_EQ(found.use, "old");
  EXPECT_FALSE(found.seen);
  EXPECT_EQ(found.queries_needed, 131);
  EXPECT_EQ(
      found.sentence,
      "Keep old: its ndcg@10 is 0.7900, that of new 0.8400, on 20 queries of wiki, split test, and "
      "such a difference may be chance (p = 0.3000); about 140 queries "
      "would probably show a difference of this size.");
}

TEST(Recommendation, AsksForMoreQueriesThanThereAre) {
  // The estimate is of the normal distribution; of few queries it may be as many as were asked.
  EXPECT_THAT(Recommend(ContestOf({{.name = "new",
                                    .baseline = 0.5,
                                    .value = 0.6,
                                    .queries = 20,
                                    .p = 0.06,
                                    .queries_needed = 12}}))
                  .sentence,
              HasSubstr("about 21 queries would"));
}

TEST(Recommendation, SaysWhetherALossIsSeen) {
  Contender worse{
      .name = "new", .baseline = 0.84, .value = 0.79, .queries = 200, .p = 0.001, .seen = true};
  Recommendation found = Recommend(ContestOf({worse}));
  EXPECT_EQ(found.use, "old");
  EXPECT_TRUE(found.seen);
  EXPECT_THAT(found.sentence,
              testing::StartsWith("Keep old: its ndcg@10 is 0.8400, that of new 0.7900, "));
  EXPECT_THAT(found.sentence, HasSubstr(", and such a difference is hardly chance (p = 0.0010)."));
  worse.seen = false;
  worse.p = 0.2;
  found = Recommend(ContestOf({worse}));
  EXPECT_EQ(found.use, "old");
  EXPECT_THAT(found.sentence, HasSubstr(", and such a difference may be chance (p = 0.2000)."));
}

// Below 0.05 six of six must rise: 2 / 2^6.
TEST(Recommendation, SaysWhereTheBaselineLeavesNoRoomForAGain) {
  EXPECT_EQ(RoomText({.queries = 20, .below = 5}, "ndcg@10", "old", 0.05),
            "ndcg@10 of old is 1 for 15 of 20 queries, so that these queries cannot show a gain, "
            "whatever the model; harder questions, or more of them, can");
  EXPECT_EQ(RoomText({.queries = 50, .below = 6}, "mrr", "", 0.05),
            "mrr is 1 for 44 of 50 queries, so that a gain is seen only where all 6 others rise "
            "and none falls; harder questions, or more of them, show one sooner");
  EXPECT_THAT(RoomText({.queries = 50, .below = 11}, "mrr", "", 0.05), HasSubstr("6 of the 11 "));
  EXPECT_EQ(RoomText({.queries = 50, .below = 12}, "mrr", "", 0.05), "");
  // A measure of all queries together has no values of single ones.
  EXPECT_EQ(RoomText({}, "auc", "", 0.05), "");
  // Few queries leave room where the baseline is poor: they are too few, not too easy.
  EXPECT_EQ(RoomText({.queries = 5, .below = 5}, "mrr", "", 0.05), "");
  const Room room = RoomAbove(std::vector<double>{1, 0.5, 1, 0});
  EXPECT_EQ(room.queries, 4U);
  EXPECT_EQ(room.below, 2U);
  Contest contest = ContestOf({{.name = "new", .baseline = 0.97, .value = 0.96, .p = 0.5}});
  contest.room = {.queries = 20, .below = 3};
  EXPECT_THAT(
      Recommend(contest).sentence,
      HasSubstr("; ndcg@10 of old is 1 for 17 of 20 queries, so that these queries cannot"));
  // Of two others the smallest p is compared with half the level: seven must rise.
  contest.contenders.push_back(contest.contenders.front());
  contest.room = {.queries = 50, .below = 9};
  EXPECT_THAT(Recommend(contest).sentence, HasSubstr("only where 7 of the 9 others rise"));
  contest.contenders.front().seen = true;
  contest.contenders.front().value = 0.99;
  EXPECT_THAT(Recommend(contest).sentence, Not(HasSubstr("others rise")));
}

TEST(Recommendation, SaysWhatElseIsAgainstIt) {
  EXPECT_THAT(Recommend(ContestOf({{.name = "new",
                                    .baseline = 0.1,
                                    .value = 0.2,
                                    .queries = 5,
                                    .p = 0.0625,
                                    .doubt = "too few differ"}}))
                  .sentence,
              HasSubstr(", and such a difference may be chance (p = 0.0625); too few differ."));
  EXPECT_THAT(
      Recommend(ContestOf({{.name = "new", .baseline = 0.2, .value = 0.2, .queries = 5}})).sentence,
      HasSubstr("on 5 queries of wiki, split test, so that nothing speaks for a change."));
  Contest contest = ContestOf({{.name = "new", .baseline = 0.2, .value = 0.2, .queries = 1}});
  contest.caution = "these queries chose it";
  EXPECT_THAT(
      Recommend(contest).sentence,
      HasSubstr("on 1 query of wiki, split test, so that nothing speaks for a change; these "
                "queries chose it."));
}

TEST(Recommendation, OfSeveralTakesTheBestThatIsSeen) {
  const Contender low{
      .name = "low", .baseline = 0.5, .value = 0.6, .queries = 99, .p = 0.01, .seen = true};
  const Contender high{
      .name = "high", .baseline = 0.5, .value = 0.7, .queries = 99, .p = 0.02, .seen = true};
  const Contender chance{.name = "chance", .baseline = 0.5, .value = 0.8, .queries = 99, .p = 0.3};
  const Recommendation found = Recommend(ContestOf({low, chance, high}));
  EXPECT_EQ(found.use, "high");
  EXPECT_THAT(found.sentence, HasSubstr("(p = 0.0200 after Holm's correction); another one is seen "
                                        "to be better than old too, and no test says which of them "
                                        "is best."));
  const Recommendation none = Recommend(ContestOf({chance, {.name = "bad", .baseline = 0.5}}));
  EXPECT_EQ(none.use, "old");
  EXPECT_THAT(none.sentence,
              testing::StartsWith("Keep old: none of the 2 others is seen to be better; its "
                                  "ndcg@10 is 0.5000, that of the highest, chance, 0.8000, on"));
  EXPECT_THAT(Recommend(ContestOf({low})).sentence, Not(HasSubstr("Holm")));
}

TEST(Recommendation, RunsAreUsedAndNotServed) {
  Contest contest = ContestOf(
      {{.name = "new", .baseline = 0.5, .value = 0.6, .queries = 9, .p = 0.01, .seen = true}});
  contest.models = false;
  EXPECT_THAT(Recommend(contest).sentence, testing::StartsWith("Use new: "));
}

}  // namespace
}  // namespace tandem::report
