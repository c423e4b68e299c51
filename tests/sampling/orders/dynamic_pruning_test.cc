// dynamic_pruning against a second implementation that ranks everything anew, and its shares.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <set>
#include <vector>

#include "sampling/pruning/score_histogram.h"
#include "sampling/sampling_worlds.h"

namespace tandem::sampling {
namespace {

struct Plan {
  double alpha_start = 2, alpha_end = 5, base_share = 0.25;
  double top_start = 0.25, top_end = 0.5, beta = 5, keep = 1;
  int64_t interval = 1;
  std::string levels = "both";

  Settings settings() const {
    Settings all = {{"levels", levels}, {"keep", keep}};
    if (levels != "documents") {
      all.insert(all.end(), {{"alpha_start", alpha_start},
                             {"alpha_end", alpha_end},
                             {"base_share", base_share},
                             {"update_interval", interval}});
    }
    if (levels != "queries") {
      all.insert(all.end(), {{"beta", beta}, {"top_start", top_start}, {"top_end", top_end}});
    }
    return all;
  }
};

// The rules in the words of dynamic_pruning.cc, all scores looked at again for every draw.
class Naive {
 public:
  Naive(const Examples& examples, std::vector<float> scores, const Plan& plan)
      : pairs_(examples, false), plan_(plan), scores_(std::move(scores)) {
    std::vector<size_t> order(pairs_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return scores_[a] > scores_[b]; });
    const auto kept = static_cast<size_t>(plan.keep * static_cast<double>(order.size()) + 1e-6);
    for (size_t i = 0; i < kept; ++i) kept_.insert(order[i]);
    for (uint32_t q = 0; q < pairs_.queries(); ++q) {
      if (!KeptOf(q).empty()) active_.push_back(q);
    }
  }

  size_t draws() const {
    if (plan_.levels == "documents") return active_.size();
    const auto n = static_cast<double>(active_.size());
    const double all = n * (1 - plan_.base_share) / plan_.alpha_start + plan_.base_share * n;
    return std::max<size_t>(1, static_cast<size_t>(all + 1e-9));
  }

  void BeginPass(double progress) {
    drawn_.clear();
    const auto n = static_cast<double>(active_.size()), n0 = static_cast<double>(draws());
    const double alpha = Cosine(progress, plan_.alpha_start, plan_.alpha_end);
    const double sure = std::round((alpha * n0 - n) / (alpha - 1));
    sure_ = plan_.levels == "documents" || alpha <= 1
                ? 0
                : static_cast<size_t>(std::clamp(sure, 0.0, n0));
    RankAnew();
  }

  void RankAnew() {
    ranked_.clear();
    for (const uint32_t q : active_) {
      double sum = 0;
      for (const size_t pair : KeptOf(q)) sum += scores_[pair];
      ranked_[q] = static_cast<float>(sum / static_cast<double>(KeptOf(q).size()));
    }
  }

  // The query that has to be next; none: any undrawn one.
  std::optional<uint32_t> SureDraw() const {
    std::vector<uint32_t> order = active_;
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return ranked_.at(a) > ranked_.at(b); });
    for (size_t i = 0; i < sure_; ++i) {
      if (!drawn_.contains(order[i])) return order[i];
    }
    return std::nullopt;
  }
  bool IsUndrawn(uint32_t query) const {
    return std::find(active_.begin(), active_.end(), query) != active_.end() &&
           !drawn_.contains(query);
  }
  void Draw(uint32_t query) { drawn_.insert(query); }
  size_t drawn() const { return drawn_.size(); }

  // What each document of the query's pool weighs; 0 where its pair is left out.
  std::vector<double> Weights(uint32_t query, double progress) const {
    std::vector<uint32_t> buckets;
    for (const size_t pair : kept_) buckets.push_back(ScoreHistogram::BucketOf(scores_[pair]));
    std::sort(buckets.rbegin(), buckets.rend());
    const double share = Cosine(progress, plan_.top_start, plan_.top_end);
    const auto best = static_cast<size_t>(share * static_cast<double>(buckets.size()) + 1e-9);
    std::vector<double> weights;
    for (size_t pair = pairs_.first(query); pair < pairs_.first(query) + pairs_.count(query);
         ++pair) {
      const bool above =
          best >= buckets.size() || ScoreHistogram::BucketOf(scores_[pair]) > buckets[best];
      const double weight = above && plan_.levels != "queries" ? plan_.beta : 1;
      weights.push_back(kept_.contains(pair) ? weight : 0);
    }
    return weights;
  }
  size_t PairOf(uint32_t query, uint32_t document) const { return pairs_.Find(query, document); }
  size_t first(uint32_t query) const { return pairs_.first(query); }
  void SetScore(size_t pair, float score) { scores_[pair] = score; }

 private:
  static double Cosine(double progress, double start, double end) {
    return end + 0.5 * (1 + std::cos(std::numbers::pi * progress)) * (start - end);
  }
  std::vector<size_t> KeptOf(uint32_t query) const {
    std::vector<size_t> kept;
    for (size_t pair = pairs_.first(query); pair < pairs_.first(query) + pairs_.count(query);
         ++pair) {
      if (kept_.contains(pair)) kept.push_back(pair);
    }
    return kept;
  }

  Pairs pairs_;
  Plan plan_;
  std::vector<float> scores_;
  std::set<size_t> kept_;
  std::vector<uint32_t> active_;
  std::map<uint32_t, float> ranked_;
  std::set<uint32_t> drawn_;
  size_t sure_ = 0;
};

// Coarse scores, so that ties are common; some at the ends and beyond.
float AnyScore() { return static_cast<float>(*rc::gen::inRange(-12, 13)) / 10; }

Examples AnyExamples() {
  const auto queries = *rc::gen::inRange<uint32_t>(1, 30);
  std::vector<std::vector<Judged>> judged(queries);
  uint32_t documents = 0;
  for (auto& one : judged) {
    const auto count = *rc::gen::inRange<uint32_t>(1, 5);
    for (uint32_t i = 0; i < count; ++i) one.push_back({documents++, 1});
  }
  std::vector<uint64_t> hashes(documents);
  std::iota(hashes.begin(), hashes.end(), 0);
  Examples examples(1, hashes);
  for (uint32_t q = 0; q < queries; ++q) examples.Add(q, judged[q]);
  return examples;
}

Plan AnyPlan() {
  Plan plan;
  plan.alpha_start = *rc::gen::inRange(10, 60) / 10.0;
  plan.alpha_end = *rc::gen::inRange(10, 60) / 10.0;
  plan.base_share = *rc::gen::inRange(0, 11) / 10.0;
  plan.top_start = *rc::gen::inRange(0, 11) / 10.0;
  plan.top_end = *rc::gen::inRange(0, 11) / 10.0;
  plan.interval = *rc::gen::inRange(1, 4);
  plan.keep = *rc::gen::inRange(0, 2) == 0 ? 1 : 0.7;
  plan.levels = *rc::gen::element<std::string>("both", "queries", "documents");
  return plan;
}

RC_GTEST_PROP(DynamicPruning, DrawsAsTheRulesSay, ()) {
  const Examples examples = AnyExamples();
  const Plan plan = AnyPlan();
  std::vector<float> scores(Pairs(examples, false).size());
  for (float& score : scores) score = AnyScore();
  RC_PRE(plan.keep * static_cast<double>(scores.size()) >= 1);
  const auto batch_size = *rc::gen::inRange<size_t>(1, 9);
  const auto accumulate = *rc::gen::inRange<size_t>(1, 3);
  constexpr double kEpochs = 3;
  const auto sampler =
      kDynamicPruning.make(examples, {.seed = *rc::gen::arbitrary<uint64_t>(),
                                      .batch = batch_size,
                                      .no_duplicates = false,
                                      .accumulate = accumulate,
                                      .length = {.epochs = kEpochs},
                                      .params = ParamsOf(kDynamicPruning, plan.settings()),
                                      .scores = {scores, {}}});
  Naive naive(examples, scores, plan);
  for (uint64_t pass = 0; pass < 3; ++pass) {
    naive.BeginPass(std::min(1.0, static_cast<double>(pass) / kEpochs));
    for (size_t b = 0; naive.drawn() < naive.draws(); ++b) {
      const double progress = std::min(1.0, sampler->Passes() / kEpochs);
      if (b % (static_cast<size_t>(plan.interval) * accumulate) == 0) naive.RankAnew();
      const Batch batch = sampler->Next();
      RC_ASSERT(batch.epoch == pass);
      std::vector<float> cosines;
      for (size_t row = 0; row < batch.rows(); ++row) {
        const uint32_t query = batch.queries[row];
        const std::optional<uint32_t> sure = naive.SureDraw();
        RC_ASSERT(naive.IsUndrawn(query));
        RC_ASSERT(!sure || *sure == query || plan.levels == "documents");
        naive.Draw(query);
        const size_t pair = naive.PairOf(query, batch.documents[row]);
        RC_ASSERT(naive.Weights(query, progress)[pair - naive.first(query)] > 0);
        cosines.push_back(AnyScore());
      }
      for (size_t row = 0; row < batch.rows(); ++row) {
        naive.SetScore(naive.PairOf(batch.queries[row], batch.documents[row]), cosines[row]);
      }
      sampler->AddFeedback({.batch = &batch, .cosines = cosines, .losses = {}});
    }
    RC_ASSERT(naive.drawn() == naive.draws());
  }
}

// With beta at its largest a document of a low pair is drawn about never where there is a high one.
TEST(DynamicPruning, PrefersExactlyTheDocumentsAboveTheQuantile) {
  const Examples examples = PlainExamples(40, 5);
  Plan plan{.top_start = 0.3, .top_end = 0.6, .beta = 1000, .levels = "documents"};
  const std::vector<float> scores = PseudoScores(examples, 3);
  const auto sampler =
      kDynamicPruning.make(examples, {.batch = 8,
                                      .length = {.epochs = 20},
                                      .params = ParamsOf(kDynamicPruning, plan.settings()),
                                      .scores = {scores, {}}});
  Naive naive(examples, scores, plan);
  int low = 0, decided = 0;
  for (int b = 0; b < 100; ++b) {
    const double progress = sampler->Passes() / 20;
    const Batch batch = sampler->Next();
    const MadeUpFeedback feedback(batch, 1);
    for (size_t row = 0; row < batch.rows(); ++row) {
      const uint32_t query = batch.queries[row];
      const std::vector<double> weights = naive.Weights(query, progress);
      const double heaviest = *std::max_element(weights.begin(), weights.end());
      const size_t pair = naive.PairOf(query, batch.documents[row]);
      if (heaviest > 1) {
        ++decided;
        low += weights[pair - naive.first(query)] < heaviest ? 1 : 0;
      }
    }
    for (size_t row = 0; row < batch.rows(); ++row) {
      naive.SetScore(naive.PairOf(batch.queries[row], batch.documents[row]), feedback.cosines[row]);
    }
    feedback.GiveTo(*sampler);
  }
  EXPECT_GT(decided, 600);
  EXPECT_LE(low, 12);  // about 800 draws of 1 in 300
}

TEST(DynamicPruning, DocumentsComeByTheirWeight) {
  const Examples examples = PlainExamples(1, 4);
  const std::vector<float> scores = {0.9F, 0.1F, 0.8F, 0.2F};
  Plan plan{.top_start = 0.5, .top_end = 0.5, .beta = 3, .levels = "documents"};
  const auto sampler = kDynamicPruning.make(
      examples,
      {.batch = 1, .params = ParamsOf(kDynamicPruning, plan.settings()), .scores = {scores, {}}});
  std::vector<int> drawn(4);
  for (int pass = 0; pass < 20000; ++pass) ++drawn[sampler->Next().documents[0]];
  EXPECT_LT(ChiSquare(drawn, {3 / 8.0, 1 / 8.0, 3 / 8.0, 1 / 8.0}), 30.7);  // 1e-6, 3 degrees
}

// 20 queries, alpha 2 throughout: n0 = 12, of which the 4 best are sure and 8 are random.
TEST(DynamicPruning, TheRestIsUniform) {
  constexpr uint32_t kQueries = 20;
  const Examples examples = PlainExamples(kQueries, 1);
  std::vector<float> scores(kQueries);
  for (uint32_t q = 0; q < kQueries; ++q) scores[q] = 1 - 0.05F * static_cast<float>(q);
  Plan plan{.alpha_end = 2};
  const auto sampler = kDynamicPruning.make(
      examples,
      {.batch = 5, .params = ParamsOf(kDynamicPruning, plan.settings()), .scores = {scores, {}}});
  ASSERT_EQ(sampler->QueriesIn(0), 12);
  std::vector<int> drawn(kQueries), places(8), together(4);
  constexpr int kPasses = 6000;
  for (uint64_t pass = 0; pass < kPasses; ++pass) {
    std::vector<uint32_t> order;
    while (sampler->Passes() < static_cast<double>(pass + 1) - 1e-9) {
      const Batch batch = sampler->Next();
      ASSERT_EQ(batch.rows(), 4);  // 12 draws in three batches of at most 5
      order.insert(order.end(), batch.queries.begin(), batch.queries.end());
    }
    ASSERT_EQ(order.size(), 12);
    // 2 * 12 - 20 = 4: the best, in their order.
    ASSERT_EQ((std::vector<uint32_t>(order.begin(), order.begin() + 4)),
              (std::vector<uint32_t>{0, 1, 2, 3}));
    for (const uint32_t q : order) ++drawn[q];
    const auto at = std::find(order.begin(), order.end(), 10);
    if (at != order.end()) ++places[at - order.begin() - 4];
    const bool has_5 = std::count(order.begin(), order.end(), 5) > 0;
    const bool has_6 = std::count(order.begin(), order.end(), 6) > 0;
    ++together[(has_5 ? 2 : 0) + (has_6 ? 1 : 0)];
  }
  EXPECT_LT(ChiSquare({drawn.begin() + 4, drawn.end()}), 57);  // 1e-6, 15 degrees
  EXPECT_LT(ChiSquare(places), 40);                            // 7 degrees
  // Draws are without replacement: C(14, 8), C(14, 7), C(14, 7), C(14, 6) of C(16, 8).
  EXPECT_LT(ChiSquare(together, {3003 / 12870.0, 3432 / 12870.0, 3432 / 12870.0, 3003 / 12870.0}),
            30.7);
}

// Worked through with a pencil in docs/sampling.md.
TEST(DynamicPruning, AlphaAndItsSureDrawsFollowTheRun) {
  const Examples examples = PlainExamples(1000, 1);
  std::vector<float> scores(1000);
  for (size_t q = 0; q < 1000; ++q) scores[q] = 1 - 0.001F * static_cast<float>(q);
  const auto sampler = kDynamicPruning.make(
      examples, {.batch = 25, .length = {.epochs = 2}, .scores = {scores, {}}});
  // n0 = 1000 * .75 / 2 + 250 = 625; k = (2 * 625 - 1000) / 1 = 250, then with alpha = 3.5
  // (2187.5 - 1000) / 2.5 = 475.
  EXPECT_EQ(sampler->QueriesIn(0), 625);
  for (const size_t sure : {250U, 475U}) {
    for (size_t b = 0; b < 25; ++b) {
      const Batch batch = sampler->Next();
      for (size_t row = 0; row < 25; ++row) {
        if (25 * b + row < sure) {
          ASSERT_EQ(batch.queries[row], 25 * b + row);
        }
      }
      if (25 * b == sure) {
        EXPECT_FALSE(std::is_sorted(batch.queries.begin(), batch.queries.end()));
      }
    }
  }
}

// A drawn query that has become worse lets another one into the best ones, which comes next.
TEST(DynamicPruning, RanksTheUndrawnAnewByFeedback) {
  const Examples examples = PlainExamples(8, 1);
  const std::vector<float> scores = {0.8F, 0.7F, 0.6F, 0.5F, 0.4F, 0.3F, 0.2F, 0.1F};
  for (const int64_t interval : {1, 2}) {
    Plan plan{.alpha_end = 2, .interval = interval};  // n0 = 5, k = 2
    const auto sampler = kDynamicPruning.make(
        examples,
        {.batch = 1, .params = ParamsOf(kDynamicPruning, plan.settings()), .scores = {scores, {}}});
    std::vector<uint32_t> order;
    for (int b = 0; b < 4; ++b) {
      const Batch batch = sampler->Next();
      order.push_back(batch.queries[0]);
      const std::vector<float> worse = {-1};
      sampler->AddFeedback({.batch = &batch, .cosines = worse, .losses = {}});
    }
    EXPECT_EQ(order, (std::vector<uint32_t>{0, 1, 2, 3})) << interval;
  }
  Plan plan{.alpha_end = 2, .interval = 100};
  std::set<uint32_t> third;
  for (uint64_t seed = 1; seed < 30; ++seed) {
    const auto sampler =
        kDynamicPruning.make(examples, {.seed = seed,
                                        .batch = 1,
                                        .params = ParamsOf(kDynamicPruning, plan.settings()),
                                        .scores = {scores, {}}});
    for (int b = 0; b < 3; ++b) {
      const Batch batch = sampler->Next();
      const std::vector<float> worse = {-1};
      sampler->AddFeedback({.batch = &batch, .cosines = worse, .losses = {}});
      if (b == 2) third.insert(batch.queries[0]);
    }
  }
  EXPECT_GT(third.size(), 3);  // nothing is ranked anew: the third is random
}

}  // namespace
}  // namespace tandem::sampling
