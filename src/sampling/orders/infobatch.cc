// Drops some of the queries that the model does well on, and weighs the others of these more.
//
// A query's loss is the last that training saw. At the beginning of an epoch the queries whose loss
// is strictly below the mean of all losses are dropped with probability r = `drop` each, for this
// epoch; those that stay weigh 1 / (1 - r), so that the expected gradient is that of all queries. A
// query that was never seen stays, weighs 1, and is not in the mean. Nothing is dropped in the
// first epoch, nor in one that begins at `drop_until` of the run or later.
//
// Whether query q is dropped in epoch e is number q of stream (seed, "infobatch", e). Paired
// documents are drawn as by `uniform`.
// Source: InfoBatch (Qin et al., ICLR 2024). The paper prints "loss below the mean"; its delta is
// `drop_until`.
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "base/random.h"
#include "sampling/catalogue.h"
#include "sampling/paired_document.h"

namespace tandem::sampling {
namespace {

constexpr config::ParamInfo kInfoBatchParams[] = {
    config::Number("drop", "probability",
                   "each query with a loss below the mean is left out of an epoch with it", 0.5,
                   {0, 0.99}),
    config::Number("drop_until", "share of the run", "epochs that begin later drop nothing", 0.875,
                   {0, 1})};

enum Fate : uint8_t { kDropped, kKept, kWeighted };

class InfoBatch final : public PlannedOrder {
 public:
  InfoBatch(const Pairs& pairs, const OrderOptions& options)
      : pairs_(pairs),
        seed_(options.seed),
        drop_(options.params.Number("drop")),
        drop_until_(options.params.Number("drop_until")),
        losses_(pairs.queries(), std::numeric_limits<float>::quiet_NaN()),
        fates_(pairs.queries(), kKept),
        draws_(pairs.queries()) {}

  void Begin(uint64_t epoch, double progress) override {
    const bool drops = epoch > 0 && progress < drop_until_;
    const double mean = drops ? MeanLoss() : -std::numeric_limits<double>::infinity();
    RandomStream random({seed_, "infobatch", epoch});
    draws_ = 0;
    for (size_t query = 0; query < fates_.size(); ++query) {
      fates_[query] = kKept;
      if (losses_[query] < mean) {  // false for NaN
        random.Seek(query);
        fates_[query] = random.Uniform() < drop_ ? kDropped : kWeighted;
      }
      draws_ += fates_[query] == kDropped ? 0 : 1;
    }
  }

  size_t draws() const override { return draws_; }
  size_t DrawsIn(uint64_t /*epoch*/) const override { return pairs_.queries(); }
  bool known_ahead() const override { return false; }

  std::vector<Draw> Plan(uint64_t epoch) const override {
    RandomStream documents = DocumentStream(seed_, epoch);
    std::vector<Draw> draws;
    draws.reserve(draws_);
    for (uint32_t query = 0; query < fates_.size(); ++query) {
      if (fates_[query] == kDropped) continue;
      draws.push_back({.query = query, .document = DrawPairedDocument(pairs_, query, documents)});
    }
    RandomStream({seed_, "sampling order", epoch}).Shuffle(std::span(draws));
    return draws;
  }

  // The probabilities before the dice of this epoch.
  std::vector<float> Probabilities() const override {
    std::vector<float> probabilities(pairs_.size());
    for (size_t query = 0; query < pairs_.queries(); ++query) {
      const double drawn = fates_[query] == kKept ? 1 : 1 - drop_;
      const auto each = static_cast<float>(drawn / static_cast<double>(pairs_.count(query)));
      for (size_t i = 0; i < pairs_.count(query); ++i)
        probabilities[pairs_.first(query) + i] = each;
    }
    return probabilities;
  }

  // They come with the losses that they had when the epoch began.
  std::vector<LeftOut> NotDrawn() const override {
    std::vector<LeftOut> left_out;
    for (uint32_t query = 0; query < fates_.size(); ++query) {
      if (fates_[query] == kDropped) left_out.push_back({query, losses_[query]});
    }
    return left_out;
  }

  double weight(const Draw& draw) const override {
    return fates_[draw.query] == kWeighted ? 1 / (1 - drop_) : 1;
  }

  void AddFeedback(const Feedback& feedback) override {
    if (feedback.losses.size() != feedback.batch->rows()) {
      throw std::invalid_argument("infobatch learns from a loss of each query, and got none");
    }
    for (size_t row = 0; row < feedback.losses.size(); ++row) {
      losses_[feedback.batch->queries[row]] = feedback.losses[row];
    }
  }

  bool has_state() const override { return true; }
  void Save(SamplerState& state) const override {
    state.Add("losses", losses_);
    state.Add("fates", fates_);
  }
  void Restore(const SamplerState& state, uint64_t /*epoch*/) override {
    const auto losses = state.Floats("losses", losses_.size());
    const auto fates = state.Bytes("fates", fates_.size());
    losses_.assign(losses.begin(), losses.end());
    fates_.assign(fates.begin(), fates.end());
    draws_ = 0;
    for (const uint8_t fate : fates_) draws_ += fate == kDropped ? 0 : 1;
  }

 private:
  // The mean over the queries that have been seen; below every loss where none has.
  double MeanLoss() const {
    double sum = 0;
    size_t count = 0;
    for (const float loss : losses_) {
      if (std::isnan(loss)) continue;
      sum += loss;
      ++count;
    }
    return count > 0 ? sum / static_cast<double>(count) : -std::numeric_limits<double>::infinity();
  }

  const Pairs& pairs_;
  uint64_t seed_;
  double drop_;
  double drop_until_;
  std::vector<float> losses_;   // [n] last seen; NaN: never
  std::vector<uint8_t> fates_;  // [n] in the epoch under way
  size_t draws_;
};

constexpr std::string_view kInfoBatchFormula =
    R"(l_q is query q's loss when it was last trained on, L the mean of all that are known. At the
beginning of an epoch

  l_q >= L, or q was never seen:  q is in, with weight 1
  l_q <  L:                       q is out with probability r, else in with weight 1/(1 - r)

r = drop. Nothing is dropped in the first epoch, nor in one that begins at drop_until of the run or
later. Documents are drawn as by uniform.)";

constexpr std::string_view kInfoBatchDiffers =
    R"(its paper prints "loss below the mean": strictly below is taken. With an objective that
has no loss of single queries (mann_whitney) the mean over the pairs of the query's positive stands
in.)";

}  // namespace

extern const SamplerInfo kInfoBatch{
    {.name = "infobatch",
     .summary =
         "leaves out some queries of low loss each epoch and weighs the others of these more",
     .source = "InfoBatch (Qin et al. 2024)",
     .params = kInfoBatchParams,
     .studies = "pruning opera-pruning opera-passes opera-regime"},
    kInfoBatchFormula,
    kInfoBatchDiffers,
    [](Pairs& pairs, const OrderOptions& options) -> std::unique_ptr<Order> {
      return std::make_unique<InfoBatch>(pairs, options);
    },
    /*needs_scores=*/nullptr,
    [](const config::Params& params) { return params.Number("drop_until") < 1; },
    /*needs_losses=*/true};

}  // namespace tandem::sampling
