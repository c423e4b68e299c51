#include "tune/choice/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "eval/significance/power.h"
#include "eval/significance/significance.h"

namespace tandem::tune {
namespace {

double MeanOfNumbers(std::span<const double> values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? 0 : sum / static_cast<double>(values.size());
}

// With n - 1; 0 for one value.
double DeviationOf(std::span<const double> values) {
  if (values.size() < 2) return 0;
  const double mean = MeanOfNumbers(values);
  double sum = 0;
  for (const double value : values) sum += (value - mean) * (value - mean);
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

std::vector<double> DifferencesOf(const QueryValues& base, const Arm& arm) {
  std::vector<double> differences;
  for (size_t i = 0; i < base.size() && i < arm.values.size(); ++i) {
    if (base[i].query != arm.values[i].query) break;
    differences.push_back(arm.values[i].value - base[i].value);
  }
  if (differences.size() == base.size() && base.size() == arm.values.size()) return differences;
  throw DataError("validation data", 0, "",
                  fmt::format("{} has values of other queries than the base model, {} and not {}; "
                              "the data were changed during the search: begin another one",
                              arm.name, arm.values.size(), base.size()));
}

bool IsSeenToGain(const ArmTest& arm) { return arm.holm_p < kLevel && arm.gain > 0; }

// An arm is on the border where no other one is at least as good in both and better in one.
bool IsBeaten(const ArmTest& arm, const ArmTest& by) {
  const double loss = arm.loss.value_or(0), its = by.loss.value_or(0);
  return by.gain >= arm.gain && its <= loss && (by.gain > arm.gain || its < loss);
}

void MarkBorder(std::vector<ArmTest>& arms) {
  for (ArmTest& arm : arms) {
    arm.on_border = std::none_of(arms.begin(), arms.end(),
                                 [&arm](const ArmTest& by) { return IsBeaten(arm, by); });
  }
}

// The arm of the largest gain for which `counts` holds; the first of equal ones.
template <typename Counts>
std::optional<size_t> BestOf(const std::vector<ArmTest>& arms, const Counts& counts) {
  std::optional<size_t> best;
  for (size_t i = 0; i < arms.size(); ++i) {
    if (counts(arms[i]) && (!best || arms[i].gain > arms[*best].gain)) best = i;
  }
  return best;
}

// 1,873 as "about 1,900": two digits.
std::string AboutText(size_t count) {
  const double size = std::pow(10, std::floor(std::log10(static_cast<double>(count))) - 1);
  const auto rounded = static_cast<size_t>(
      size >= 1 ? std::ceil(static_cast<double>(count) / size) * size : static_cast<double>(count));
  std::string text = fmt::format("{}", rounded);
  for (size_t i = text.size(); i > 3; i -= 3) text.insert(i - 3, ",");
  return "about " + text;
}

std::string GainText(const ArmTest& arm) {
  return fmt::format("{:+.4f} +- {:.4f}", arm.gain, arm.half_width);
}

std::string WhatWouldBeSeen(const Selection& selection) {
  if (!selection.queries_needed) return "";
  if (*selection.queries_needed <= selection.queries) {
    return fmt::format("; a gain of {:.4f} would have been seen", selection.detectable);
  }
  return fmt::format("; {} would be needed to see a gain of {}",
                     AboutText(*selection.queries_needed), kSmallGain);
}

}  // namespace

std::string ProbabilityText(double p) {
  return p < kLeastShownProbability ? "p below 0.0001" : fmt::format("p {:.4f}", p);
}

Selection Select(const QueryValues& base, const std::vector<Arm>& arms,
                 const SelectionOptions& options) {
  Selection selection{.queries = base.size()};
  std::vector<double> values, p_values, deviations;
  for (const train::QueryValue& value : base) values.push_back(value.value);
  selection.base = MeanOfNumbers(values);
  const double root = std::sqrt(static_cast<double>(std::max<size_t>(1, base.size())));
  constexpr double kTwoSided95 = 1.959963984540054;  // z(.975)
  constexpr double kPower80 = 0.8416212335729143;    // z(.8), as in eval/significance/power.h
  for (const Arm& arm : arms) {
    const std::vector<double> differences = DifferencesOf(base, arm);
    deviations.push_back(DeviationOf(differences));
    const eval::TestResult test =
        eval::SignFlipTest(differences, {.seed = options.seed, .threads = options.threads});
    p_values.push_back(test.p_value);
    const double gain = MeanOfNumbers(differences);
    selection.arms.push_back(
        {.name = arm.name,
         .value = selection.base + gain,
         .gain = gain,
         .half_width = kTwoSided95 * deviations.back() / root,
         .p = test.p_value,
         .loss = arm.loss,
         .allowed = !options.most_loss || arm.loss.value_or(0) <= *options.most_loss});
  }
  const std::vector<double> holm = eval::HolmAdjusted(p_values);
  for (size_t i = 0; i < arms.size(); ++i) selection.arms[i].holm_p = holm[i];
  for (size_t i = 0; i < arms.size(); ++i) {
    if (arms[i].after && !IsSeenToGain(selection.arms[*arms[i].after])) {
      selection.arms[i].allowed = false;
    }
  }
  MarkBorder(selection.arms);
  selection.best = BestOf(selection.arms, [](const ArmTest& arm) { return arm.allowed; });
  selection.chosen =
      BestOf(selection.arms, [](const ArmTest& arm) { return arm.allowed && IsSeenToGain(arm); });
  if (!selection.best) return selection;
  const double deviation = deviations[*selection.best];
  selection.detectable = (kTwoSided95 + kPower80) * deviation / root;
  if (deviation > 0) selection.queries_needed = eval::QueriesNeeded(kSmallGain / deviation, kLevel);
  return selection;
}

std::string VerdictText(const Selection& selection) {
  if (selection.arms.empty()) return "do not train: no configuration could be trained";
  if (!selection.best) {
    return "do not train: every configuration loses more elsewhere than tune.most_loss allows";
  }
  if (!selection.chosen) {
    return fmt::format(
        "do not train: no configuration beats the base by more than chance (best {}, {} dev "
        "queries{})",
        GainText(selection.arms[*selection.best]), selection.queries, WhatWouldBeSeen(selection));
  }
  const ArmTest& arm = selection.arms[*selection.chosen];
  const std::string loss =
      arm.loss ? fmt::format("; it loses at most {:.4f} elsewhere", *arm.loss) : "";
  return fmt::format(
      "train: {} gains {} over the base ({} after Holm's correction over {} "
      "{}, {} dev queries){}",
      arm.name, GainText(arm), ProbabilityText(arm.holm_p), selection.arms.size(),
      selection.arms.size() == 1 ? "model" : "models", selection.queries, loss);
}

}  // namespace tandem::tune
