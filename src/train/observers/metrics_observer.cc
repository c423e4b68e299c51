#include "train/observers/metrics_observer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json/json.h"
#include "report/records/metrics_row.h"
#include "train/run/loop.h"

namespace tandem::train {
namespace {

// Rounds to a millionth, because people read it.
double Rounded(double epoch) { return std::round(1e6 * epoch) / 1e6; }

}  // namespace

Next MetricsObserver::AfterStep(const Loop& loop, const StepReport& made) {
  loss_sum_ += made.loss;
  ++loss_steps_;
  false_negatives_ += made.false_negatives;
  same_tower_masked_ += made.same_tower_masked;
  skipped_ += made.skipped ? 1 : 0;
  seconds_ += made.seconds;
  tokens_ += made.tokens;
  if (loop.state().step % every_ == 0 || loop.at_end()) WriteLines(loop, made);
  return Next::kGoOn;
}

void MetricsObserver::WriteLines(const Loop& loop, const StepReport& made) {
  const LoopState& state = loop.state();
  report::StepRow row{.step = state.step,
                      .epoch = Rounded(state.epoch),
                      .queries = state.queries,
                      .tokens = state.tokens,
                      .loss = loss_sum_ / static_cast<double>(loss_steps_),
                      .learning_rate = made.learning_rate,
                      .gradient_norm = made.gradient_norm};
  if (loop.objective().false_negative_rules.enabled()) row.false_negatives = false_negatives_;
  if (loop.objective().same_tower_score) row.same_tower_masked = same_tower_masked_;
  if (loop.loss_scale().on()) {
    row.loss_scale = loop.loss_scale().value();
    row.skipped = skipped_;
  }
  row.objective = loop.objective_states().Figures();
  metrics_.Write(report::ToJson(row));
  timing_.Write(report::ToJson(report::StepTimeRow{
      .step = state.step,
      .seconds = seconds_,
      .tokens = tokens_,
      .tokens_per_second = static_cast<double>(tokens_) / std::max(1e-9, seconds_)}));
  loss_sum_ = 0;
  loss_steps_ = 0;
  false_negatives_ = 0;
  same_tower_masked_ = 0;
  skipped_ = 0;
  seconds_ = 0;
  tokens_ = 0;
}

void MetricsObserver::AfterValidation(const Loop& loop, const ValidationReport& found) {
  const int64_t step = loop.state().step;
  report::NamedNumbers measures = {{found.measure, found.value}};
  for (const MeasuredValue& further : found.further) {
    measures.push_back({further.measure, further.value});
  }
  for (const SourceValue& source : found.sources) {
    measures.push_back({fmt::format("{}[{}]", found.measure, source.source), source.value});
  }
  metrics_.Write(report::ToJson(
      report::ValidationRow{.step = step, .measures = std::move(measures), .best = found.best}));
  timing_.Write(report::ToJson(report::ValidationTimeRow{step, found.seconds}));
}

void MetricsObserver::AfterMining(const Loop& loop, const MiningReport& found) {
  const int64_t step = loop.state().step;
  const search::MiningSummary& sums = found.sums;
  const auto count = [](size_t number) { return static_cast<int64_t>(number); };
  metrics_.Write(
      report::ToJson(report::MiningRow{.step = step,
                                       .round = found.round,
                                       .queries = count(sums.queries),
                                       .fewer = count(sums.queries - sums.full),
                                       .without = count(sums.without),
                                       .negatives = count(sums.negatives),
                                       .mean_score = sums.negative_score,
                                       .mean_positive_score = sums.positive_score,
                                       .left_out_by_margins = count(sums.left_out),
                                       .false_negative_rate = sums.FalseNegativeRate()}));
  timing_.Write(report::ToJson(report::MiningTimeRow{{step, found.seconds}}));
}

void MetricsObserver::VisitState(StateVisitor visit) {
  if (!visit.reads()) metrics_.Sync();
  // A resumed run has cut the file back to this length already when it made the log.
  uint64_t bytes = metrics_.bytes();
  visit.Member("metrics_bytes", bytes, 0);
  visit.Member("loss_sum", loss_sum_);
  visit.Member("loss_steps", loss_steps_);
  visit.Member("false_negatives", false_negatives_);
  visit.Member("same_tower_masked", same_tower_masked_, 0, /*kept=*/same_tower_masked_ > 0);
  visit.Member("skipped_steps", skipped_, 0, /*kept=*/skipped_ > 0);
}

}  // namespace tandem::train
