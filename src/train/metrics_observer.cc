#include "train/metrics_observer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "train/loop.h"

namespace tandem::train {
namespace {

// Rounds to a millionth, because a person reads it.
double Rounded(double epoch) { return std::round(1e6 * epoch) / 1e6; }

}  // namespace

Next MetricsObserver::AfterStep(const Loop& loop, const StepReport& report) {
  loss_sum_ += report.loss;
  ++loss_steps_;
  false_negatives_ += report.false_negatives;
  seconds_ += report.seconds;
  tokens_ += report.tokens;
  if (loop.state().step % every_ == 0 || loop.at_end()) WriteLines(loop, report);
  return Next::kGoOn;
}

void MetricsObserver::WriteLines(const Loop& loop, const StepReport& report) {
  const LoopState& state = loop.state();
  nlohmann::ordered_json line = {{"step", state.step},
                                 {"epoch", Rounded(state.epoch)},
                                 {"queries", state.queries},
                                 {"tokens", state.tokens},
                                 {"loss", loss_sum_ / static_cast<double>(loss_steps_)},
                                 {"learning_rate", report.learning_rate},
                                 {"gradient_norm", report.gradient_norm}};
  if (loop.objective().false_negative_rules.enabled()) line["false_negatives"] = false_negatives_;
  if (!loop.objective_states().empty()) line["objective"] = loop.objective_states().Figures();
  metrics_.Write(line);
  timing_.Write({{"step", state.step},
                 {"seconds", seconds_},
                 {"tokens", tokens_},
                 {"tokens_per_second", static_cast<double>(tokens_) / std::max(1e-9, seconds_)}});
  loss_sum_ = 0;
  loss_steps_ = 0;
  false_negatives_ = 0;
  seconds_ = 0;
  tokens_ = 0;
}

void MetricsObserver::AfterValidation(const Loop& loop, const ValidationReport& report) {
  const int64_t step = loop.state().step;
  metrics_.Write(
      {{"step", step}, {"validation", {{report.measure, report.value}}}, {"best", report.best}});
  timing_.Write({{"step", step}, {"validation_seconds", report.seconds}});
}

void MetricsObserver::AfterMining(const Loop& loop, const MiningReport& report) {
  const int64_t step = loop.state().step;
  const search::MiningSummary& sums = report.sums;
  nlohmann::ordered_json mining = {{"round", report.round},
                                   {"queries", sums.queries},
                                   {"fewer", sums.queries - sums.full},
                                   {"without", sums.without},
                                   {"negatives", sums.negatives},
                                   {"mean_score", sums.negative_score},
                                   {"mean_positive_score", sums.positive_score},
                                   {"left_out_by_margins", sums.left_out}};
  if (const auto rate = sums.FalseNegativeRate()) mining["false_negative_rate"] = *rate;
  metrics_.Write({{"step", step}, {"mining", std::move(mining)}});
  timing_.Write({{"step", step}, {"mining_seconds", report.seconds}});
}

void MetricsObserver::Save(nlohmann::json& state) const {
  metrics_.Sync();
  state["metrics_bytes"] = metrics_.bytes();
  state["loss_sum"] = loss_sum_;
  state["loss_steps"] = loss_steps_;
  state["false_negatives"] = false_negatives_;
}

void MetricsObserver::Restore(const nlohmann::json& state) {
  loss_sum_ = state.at("loss_sum").get<double>();
  loss_steps_ = state.at("loss_steps").get<int64_t>();
  false_negatives_ = state.at("false_negatives").get<int64_t>();
}

}  // namespace tandem::train
