#include "tune/schedule/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/progress.h"

namespace tandem::tune {
namespace {

[[noreturn]] void RefuseBudget(std::string_view text) {
  throw UsageError(fmt::format(
      "--budget is \"{}\"; a time like 90s, 30m or 2h, or steps like \"5000 steps\", is expected",
      text));
}

// How often trials are taken up: once at each rung that they reach.
int64_t VisitsOf(const std::vector<Bracket>& brackets) {
  int64_t visits = 0;
  for (const Bracket& bracket : brackets) {
    for (const Rung& rung : bracket.rungs) visits += rung.trials;
  }
  return visits;
}

int64_t BaseValidations(int64_t trials, const SearchCost& cost) {
  if (cost.base_validations.empty() || trials == 0) return trials;
  const size_t last = std::min(static_cast<size_t>(trials), cost.base_validations.size()) - 1;
  return cost.base_validations[last];
}

// Full runs are no longer added from here on, whatever the budget is: nobody waits for so many.
constexpr int64_t kMostFullRuns = 2000;

}  // namespace

Budget ParseBudget(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !(number > 0) || !std::isfinite(number)) RefuseBudget(text);
  std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  if (unit == "s") return {.seconds = number};
  if (unit == "m") return {.seconds = 60 * number};
  if (unit == "h") return {.seconds = 3600 * number};
  const bool whole = number == std::floor(number) && number < 1e15;
  if ((unit == "steps" || unit == "step") && whole) return {.steps = static_cast<int64_t>(number)};
  RefuseBudget(text);
}

double SecondsOf(const std::vector<Bracket>& brackets, int64_t rungs, const SearchCost& cost) {
  const double unit_seconds = cost.length_factor * cost.step_seconds *
                                  static_cast<double>(cost.steps) /
                                  static_cast<double>(FullUnits(rungs)) +
                              cost.validation_seconds;
  return static_cast<double>(UnitsOf(brackets)) * unit_seconds +
         static_cast<double>(VisitsOf(brackets)) * cost.setup_seconds +
         static_cast<double>(BaseValidations(TrialsOf(brackets), cost)) * cost.validation_seconds;
}

int64_t StepsOf(const std::vector<Bracket>& brackets, int64_t rungs, const SearchCost& cost) {
  return std::llround(cost.length_factor * static_cast<double>(cost.steps) *
                      static_cast<double>(UnitsOf(brackets)) /
                      static_cast<double>(FullUnits(rungs)));
}

std::vector<Bracket> BracketsWithin(const Budget& budget, int64_t rungs, const SearchCost& cost,
                                    int64_t most_configurations) {
  const int64_t full = FullUnits(rungs);
  std::vector<Bracket> best;
  for (int64_t units = full; units <= kMostFullRuns * full; ++units) {
    std::vector<Bracket> brackets = BracketsFor(units, rungs, most_configurations);
    const bool pays = budget.steps > 0 ? StepsOf(brackets, rungs, cost) <= budget.steps
                                       : SecondsOf(brackets, rungs, cost) <= budget.seconds;
    if (!pays) break;
    const bool all = FullTrialsOf(brackets) >= most_configurations;
    best = std::move(brackets);
    if (all) break;
  }
  if (!best.empty()) return best;
  const std::vector<Bracket> one = {MakeBracket(1, rungs, rungs)};
  const std::string needs =
      budget.steps > 0 ? fmt::format("{} steps", StepsOf(one, rungs, cost))
                       : fmt::format("about {}", FormatDuration(SecondsOf(one, rungs, cost)));
  throw UsageError(
      fmt::format("--budget is less than one trial takes, {}; give more, or make the run shorter "
                  "(train.epochs, train.steps)",
                  needs));
}

}  // namespace tandem::tune
