#include "eval/samples/threshold_choice.h"

#include <algorithm>

namespace tandem::eval {
namespace {

// A share such as 0.9 is not exact, so that 0.9 * 10 positives may come out a little above 9.
// Counts are whole numbers; they are compared with this much room.
constexpr double kRounding = 1e-12;

bool AtLeast(double a, double b) { return a >= b * (1 - kRounding); }

// The walks below set the two members of this.
struct Choice : ChosenLevels {
  Choice() {
    met.fill(kNoLevel);
    nearest.fill(kNoLevel);
  }
};

// The lowest level with positives that has the precision: on other levels it only falls.
void ChoosePrecision(const ScoreLevels& levels, double wanted, std::span<const Lanes> weights,
                     Choice& choice) {
  Lanes best{};
  WalkLevels(levels, weights, [&](const LevelLanes& at) {
    if (!at.has_positives) return true;
    for (size_t l = 0; l < kLanes; ++l) {
      if (at.more_positives[l] <= 0) continue;
      const double found = at.positives[l] + at.more_positives[l];
      const double precision = found / (found + at.others[l] + at.more_others[l]);
      if (AtLeast(precision, wanted)) choice.met[l] = at.level;
      if (precision >= best[l]) {
        best[l] = precision;
        choice.nearest[l] = at.level;
      }
    }
    return true;
  });
}

// The first level of that recall.
void ChooseRecall(const ScoreLevels& levels, double wanted, std::span<const Lanes> weights,
                  Choice& choice) {
  const Lanes positives = WeightedTotal(levels.positives, weights);
  WalkLevels(levels, weights, [&](const LevelLanes& at) {
    if (!at.has_positives) return true;
    bool all_met = true;
    for (size_t l = 0; l < kLanes; ++l) {
      if (choice.met[l] != kNoLevel || positives[l] <= 0) continue;
      if (at.more_positives[l] > 0) choice.nearest[l] = at.level;
      if (AtLeast(at.positives[l] + at.more_positives[l], wanted * positives[l])) {
        choice.met[l] = at.level;
      }
      all_met = all_met && choice.met[l] != kNoLevel;
    }
    return !all_met;
  });
}

// The last level before a count passes `most`. A level without a document of a lane changes nothing
// there, so that the level of a lane always shows a document more than the one before.
template <typename CountOf>
void ChooseAtMost(const ScoreLevels& levels, const Lanes& most, std::span<const Lanes> weights,
                  CountOf count_of, Choice& choice) {
  std::array<bool, kLanes> ended{};
  for (size_t l = 0; l < kLanes; ++l) ended[l] = !(most[l] > 0);
  WalkLevels(levels, weights, [&](const LevelLanes& at) {
    bool all_ended = true;
    for (size_t l = 0; l < kLanes; ++l) {
      if (!ended[l] && at.more_positives[l] + at.more_others[l] > 0) {
        if (choice.nearest[l] == kNoLevel) choice.nearest[l] = at.level;
        ended[l] = !AtLeast(most[l], count_of(at, l));
        if (!ended[l]) choice.met[l] = at.level;
      }
      all_ended = all_ended && ended[l];
    }
    return !all_ended;
  });
}

}  // namespace

ChosenLevels ChooseLevels(const ScoreLevels& levels, const Target& target,
                          std::span<const Lanes> weights) {
  Choice choice;
  Lanes most{};
  switch (target.kind) {
    case TargetKind::kPrecision:
      ChoosePrecision(levels, target.value, weights, choice);
      break;
    case TargetKind::kRecall:
      ChooseRecall(levels, target.value, weights, choice);
      break;
    case TargetKind::kFalsePositiveRate:
      most = WeightedTotal(levels.others, weights);
      for (double& count : most) count *= target.value;
      ChooseAtMost(
          levels, most, weights,
          [](const LevelLanes& at, size_t l) { return at.others[l] + at.more_others[l]; }, choice);
      break;
    case TargetKind::kResults:
      for (const Lanes& weight : weights) {
        for (size_t l = 0; l < kLanes; ++l) most[l] += weight[l] * target.value;
      }
      ChooseAtMost(
          levels, most, weights,
          [](const LevelLanes& at, size_t l) {
            return at.positives[l] + at.more_positives[l] + at.others[l] + at.more_others[l];
          },
          choice);
      break;
  }
  return choice;
}

}  // namespace tandem::eval
