// Draws fewer queries an epoch, those that the model scores highest for sure; their better
// documents come more often.
//
// Every pair has a score: the base model's cosine, then the cosine of the last training step that
// had the pair. A query's score is the mean over its pairs. With n queries, t the share of the run
// that is done, and c(t, s, e) = e + (1 + cos(pi t)) / 2 * (s - e):
//
//   alpha = c(t, alpha_start, alpha_end), at the epoch's beginning
//   n0 = floor(n (1 - base_share) / alpha_start + base_share n), at least 1: the draws of an epoch
//   k = (alpha n0 - n) / (alpha - 1), rounded: how many queries are in for sure
//
// While one of the k best queries (of all n, drawn or not) is undrawn, the best such one is next;
// else the next is uniform among the undrawn. Queries are ranked anew every `update_interval` steps
// of an epoch. A document weighs `beta` where its pair is among the v P best of all P pairs (its
// score's bucket of ScoreHistogram is above that of number floor(v P)), v = c(t, top_start,
// top_end) at every step; else 1. With keep < 1, static pruning comes first, and n, P and means
// count what it has left.
//
// Random draws of epoch e come from stream (seed, "dynamic pruning", e), documents from the query's
// stretch of stream (seed, "sampling documents", e).
// Source: OPERA DP (Fang et al.), Algorithm 1. Ours, where the paper is silent: the mean as a
// query's score; scores of training steps, nothing is encoded anew; epochs without replacement,
// alpha and k fixed in each. The paper's k is r n with r = (alpha n0 - n) / ((alpha - 1) n).
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>
#include <numeric>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sampling/catalogue.h"
#include "sampling/extra_documents.h"
#include "sampling/pruning/dynamic_settings.h"
#include "sampling/pruning/keep.h"
#include "sampling/pruning/query_ranking.h"
#include "sampling/pruning/score_histogram.h"

namespace tandem::sampling {
namespace {

using config::Params;

double Cosine(double progress, double start, double end) {
  return end + (1 + std::cos(std::numbers::pi * progress)) / 2 * (start - end);
}

// The largest whole number that is not above `value`, where a value that is a whole number but for
// rounding counts as that one.
double Floor(double value) { return std::floor(value + 1e-9); }

class DynamicPruning final : public SteppedOrder {
 public:
  DynamicPruning(const Pairs& pairs, const OrderOptions& options)
      : pairs_(pairs),
        settings_(options.params),
        seed_(options.seed),
        scores_(options.scores.cosines.begin(), options.scores.cosines.end()),
        ranking_(pairs.queries()),
        random_({seed_, "dynamic pruning", 0}),
        documents_(DocumentStream(seed_, 0)) {
    for (uint32_t query = 0; query < pairs.queries(); ++query) {
      queries_ += pairs.kept_count(query) > 0 ? 1 : 0;
    }
    CountScores();
  }

  void Begin(uint64_t epoch, double progress) override {
    sure_ = SureDraws(progress);
    given_ = 0;
    moved_.clear();
    if (settings_.documents) best_above_ = BestAbove(progress);
    StartStreams(epoch);
    Rank([this](uint32_t query) { return QueryScore(query); });
  }

  // n0.
  size_t draws() const override {
    if (!settings_.queries) return queries_;
    const auto n = static_cast<double>(queries_);
    const double share = settings_.base_share;
    const double draws = Floor(n * (1 - share) / settings_.alpha_start + share * n);
    return std::clamp<size_t>(static_cast<size_t>(draws), 1, queries_);
  }
  size_t DrawsIn(uint64_t /*epoch*/) const override { return draws(); }
  int64_t update_interval() const override { return settings_.update_interval; }

  void BeginBatch(double progress, bool rank_anew) override {
    ranking_.Unskip();
    proposed_.reset();
    if (rank_anew) {
      // In a mixture this pass may hear of the one before: undrawn queries keep their ranks.
      const auto end = std::stable_partition(moved_.begin(), moved_.end(), [this](uint32_t query) {
        return ranking_.is_drawn(query);
      });
      std::vector<float> scores;
      for (auto query = moved_.begin(); query != end; ++query) scores.push_back(QueryScore(*query));
      ranking_.Move(std::span(moved_.begin(), end), scores);
      moved_.erase(moved_.begin(), end);
    }
    if (settings_.documents) best_above_ = BestAbove(progress);
  }

  std::optional<Draw> Propose() override {
    if (proposed_) return proposed_;
    if (given_ == draws()) return std::nullopt;
    const bool is_best = ranking_.undrawn() > 0 && ranking_.better() < sure_;
    if (!is_best && ranking_.open() == 0) return std::nullopt;
    // An epoch that has every query leaves none out for another.
    proposed_sure_ = is_best || draws() == queries_;
    proposed_place_ = is_best ? 0 : random_.Below(ranking_.open());
    const uint32_t query = is_best ? ranking_.best() : ranking_.open_query(proposed_place_);
    proposed_ = {.query = query, .document = DrawDocument(query)};
    return proposed_;
  }
  bool is_sure() const override { return proposed_sure_; }

  void Take() override {
    ranking_.Draw(proposed_->query);
    ++given_;
    proposed_.reset();
  }

  // Only a random draw is skipped.
  void Skip() override {
    ranking_.Skip(proposed_place_);
    proposed_.reset();
  }

  // The sure ones, by the latest scores, have 1, the others equal shares of the rest. Documents
  // weigh as in the batch that has begun, or as in the first.
  std::vector<float> Probabilities() const override {
    const double sure = static_cast<double>(std::min(sure_, queries_));
    const double others = static_cast<double>(queries_) - sure;
    const double rest = others > 0 ? (static_cast<double>(draws()) - sure) / others : 0;
    std::vector<float> scores(pairs_.queries(), -std::numeric_limits<float>::infinity());
    for (uint32_t query = 0; query < pairs_.queries(); ++query) {
      if (pairs_.kept_count(query) > 0) scores[query] = QueryScore(query);
    }
    const std::vector<bool> is_sure = BestPairs({scores}, std::min(sure_, queries_));
    std::vector<float> probabilities(pairs_.size());
    for (uint32_t query = 0; query < pairs_.queries(); ++query) {
      if (pairs_.kept_count(query) == 0) continue;
      const double drawn = is_sure[query] ? 1 : rest;
      double sum = 0;
      for (size_t i = 0; i < pairs_.count(query); ++i) sum += Weight(pairs_.first(query) + i);
      for (size_t i = 0; i < pairs_.count(query); ++i) {
        const size_t pair = pairs_.first(query) + i;
        probabilities[pair] = static_cast<float>(drawn * Weight(pair) / sum);
      }
    }
    return probabilities;
  }

  // They come with the scores by which they were ranked; those whose pairs are all left out with
  // their mean.
  std::vector<LeftOut> NotDrawn() const override {
    std::vector<LeftOut> left_out;
    for (uint32_t query = 0; query < pairs_.queries(); ++query) {
      if (pairs_.kept_count(query) == 0) {
        left_out.push_back({query, Mean(query, [](size_t) { return true; })});
      } else if (!ranking_.is_drawn(query)) {
        left_out.push_back({query, ranking_.score(query)});
      }
    }
    return left_out;
  }

  void AddFeedback(const Feedback& feedback) override {
    for (size_t row = 0; row < feedback.batch->rows(); ++row) {
      const uint32_t query = feedback.batch->queries[row];
      const size_t pair = pairs_.Find(query, feedback.batch->documents[row]);
      if (settings_.documents) {
        histogram_.Remove(scores_[pair]);
        histogram_.Add(feedback.cosines[row]);
      }
      scores_[pair] = feedback.cosines[row];
      moved_.push_back(query);
    }
  }

  bool has_state() const override { return true; }

  // A query whose feedback the ranking has not used yet keeps the score by which it is ranked.
  void Save(SamplerState& state) const override {
    state.values["given"] = given_;
    state.values["sure"] = sure_;
    state.values["random"] = random_.position();
    state.values["undrawn"] = ranking_.undrawn();
    std::vector<float> ranked_by;
    for (const uint32_t query : moved_) ranked_by.push_back(ranking_.score(query));
    state.Add("scores", scores_);
    state.Add("pool", ranking_.pool());
    state.Add("moved", moved_);
    state.Add("ranked_by", std::move(ranked_by));
  }

  void Restore(const SamplerState& state, uint64_t epoch) override {
    const auto scores = state.Floats("scores", scores_.size());
    const auto pool = state.Integers("pool", queries_);
    const auto moved = state.Integers("moved");
    const auto ranked_by = state.Floats("ranked_by", moved.size());
    given_ = state.values.at("given").get<size_t>();
    sure_ = state.values.at("sure").get<size_t>();
    scores_.assign(scores.begin(), scores.end());
    moved_.assign(moved.begin(), moved.end());
    CountScores();
    StartStreams(epoch);
    random_.Seek(state.values.at("random").get<uint64_t>());
    std::vector<std::pair<uint32_t, float>> earlier;
    for (size_t i = 0; i < moved.size(); ++i) earlier.emplace_back(moved[i], ranked_by[i]);
    std::sort(earlier.begin(), earlier.end());
    Rank([&](uint32_t query) {
      const auto found =
          std::lower_bound(earlier.begin(), earlier.end(), query,
                           [](const auto& one, uint32_t q) { return one.first < q; });
      const bool waits = found != earlier.end() && found->first == query;
      return waits ? found->second : QueryScore(query);
    });
    ranking_.RestorePool(pool, state.values.at("undrawn").get<size_t>());
  }

 private:
  // k.
  size_t SureDraws(double progress) const {
    if (!settings_.queries) return 0;
    const double alpha = Cosine(progress, settings_.alpha_start, settings_.alpha_end);
    if (alpha <= 1) return 0;
    const auto n = static_cast<double>(queries_), n0 = static_cast<double>(draws());
    return static_cast<size_t>(std::clamp(std::round((alpha * n0 - n) / (alpha - 1)), 0.0, n0));
  }

  void StartStreams(uint64_t epoch) {
    random_ = RandomStream({seed_, "dynamic pruning", epoch});
    documents_ = DocumentStream(seed_, epoch);
  }

  template <typename Scores>
  void Rank(const Scores& scores) {
    std::vector<uint32_t> queries;
    queries.reserve(queries_);
    for (uint32_t query = 0; query < pairs_.queries(); ++query) {
      if (pairs_.kept_count(query) > 0) queries.push_back(query);
    }
    ranking_.Begin(queries, scores);
  }

  void CountScores() {
    if (!settings_.documents) return;
    histogram_.Assign(scores_, [this](size_t pair) { return pairs_.kept(pair); });
  }

  float QueryScore(uint32_t query) const {
    return Mean(query, [this](size_t pair) { return pairs_.kept(pair); });
  }

  // Goes over those of the query's pairs that count.
  template <typename Counts>
  float Mean(uint32_t query, const Counts& counts) const {
    double sum = 0;
    size_t count = 0;
    const size_t first = pairs_.first(query), last = first + pairs_.count(query);
    for (size_t pair = first; pair < last; ++pair) {
      if (!counts(pair)) continue;
      sum += scores_[pair];
      ++count;
    }
    return static_cast<float>(sum / static_cast<double>(count));
  }

  // The bucket above which the best pairs are; none where all are.
  std::optional<uint32_t> BestAbove(double progress) const {
    const double share = Cosine(progress, settings_.top_start, settings_.top_end);
    const auto best = static_cast<size_t>(Floor(share * static_cast<double>(histogram_.size())));
    if (best >= histogram_.size()) return std::nullopt;
    return histogram_.BucketBelow(best);
  }

  double Weight(size_t pair) const {
    if (!pairs_.kept(pair)) return 0;
    if (!settings_.documents) return 1;
    const bool best = !best_above_ || ScoreHistogram::BucketOf(scores_[pair]) > *best_above_;
    return best ? settings_.beta : 1;
  }

  uint32_t DrawDocument(uint32_t query) {
    const size_t first = pairs_.first(query), count = pairs_.count(query);
    double sum = 0;
    weights_.resize(count);
    for (size_t i = 0; i < count; ++i) sum += weights_[i] = Weight(first + i);
    documents_.Seek(uint64_t{query} << kDrawBits);
    double left = documents_.Uniform() * sum;
    size_t chosen = count;  // the last kept one, should rounding leave nothing
    for (size_t i = 0; i < count; ++i) {
      if (weights_[i] == 0) continue;
      chosen = i;
      if (left < weights_[i]) break;
      left -= weights_[i];
    }
    return pairs_.pool(query).document(chosen);
  }

  const Pairs& pairs_;
  DynamicSettings settings_;
  uint64_t seed_;
  size_t queries_ = 0;           // n: with a kept pair
  std::vector<float> scores_;    // [pairs] the latest known
  std::vector<uint32_t> moved_;  // had feedback since the ranking was last made
  QueryRanking ranking_;
  ScoreHistogram histogram_;  // of the kept pairs' scores
  std::optional<uint32_t> best_above_;
  std::vector<double> weights_;  // of the documents that DrawDocument chooses from
  RandomStream random_, documents_;
  size_t sure_ = 0;   // k
  size_t given_ = 0;  // draws of this epoch so far
  std::optional<Draw> proposed_;
  bool proposed_sure_ = false;
  size_t proposed_place_ = 0;  // among the open queries, of a random draw
};

ScoreNeeds DynamicPruningScores(const Params& params) {
  return {.cosines = true, .consistencies = PrunesFirst(params) && PrunesByConsistency(params)};
}

bool FollowsLength(const Params& params) {
  return (ChoosesQueries(params) && params.Number("alpha_start") != params.Number("alpha_end")) ||
         (ChoosesDocuments(params) && params.Number("top_start") != params.Number("top_end"));
}

std::unique_ptr<Order> MakeDynamicPruning(Pairs& pairs, const OrderOptions& options) {
  const InitialScores& scores = options.scores;
  CheckScores(pairs, scores.cosines, "cosines");
  const double keep = options.params.Number("keep");
  if (PrunesFirst(options.params) && PrunesByConsistency(options.params)) {
    KeepBest(pairs, keep, {scores.consistencies, scores.cosines});
  } else {
    KeepBest(pairs, keep, {scores.cosines});
  }
  return std::make_unique<DynamicPruning>(pairs, options);
}

constexpr std::string_view kDynamicPruningFormula =
    R"(Every pair has a score, its latest known cosine; a query's score is the mean of its pairs'.
With n queries, P pairs, t the share of the run that is done, and
c(s, e) = e + (1 + cos(pi t)) / 2 (s - e):

  alpha = c(alpha_start, alpha_end)
  n0    = floor(n (1 - r_s) / alpha_start + r_s n)   queries of every epoch
  k     = (alpha n0 - n) / (alpha - 1), rounded      queries that are in for sure: the k best
  P(d | q) in proportion to beta where the pair is among the v P best pairs, else to 1

The other n0 - k queries of an epoch are drawn uniformly from the rest, without replacement.
r_s = base_share, v = c(top_start, top_end). Every update_interval steps the queries that are not
yet drawn are ranked anew. keep < 1 prunes statically first; levels switches queries or documents
off. No loss is weighed.)";

constexpr std::string_view kDynamicPruningDiffers =
    R"(the paper says "Update q" and draws anew in each step. Our reading: the mean over its
pairs is a query's score; scores come from the cosines of training steps, so that nothing is
encoded anew; an epoch draws without replacement; alpha and k are fixed within an epoch. Equation 5
disagrees with Algorithm 1: the algorithm stands.)";

}  // namespace

extern const SamplerInfo kDynamicPruning{
    {.name = "dynamic_pruning",
     .summary =
         "fewer queries an epoch, the best scored for sure, their better documents more often",
     .source = "OPERA (Fang et al.), dynamic pruning, Algorithm 1",
     .params = kDynamicParams,
     .studies = "pruning opera-pruning opera-levels opera-noise opera-intervals "
                "opera-passes opera-regime"},
    kDynamicPruningFormula,
    kDynamicPruningDiffers,
    MakeDynamicPruning,
    DynamicPruningScores,
    FollowsLength};

}  // namespace tandem::sampling
