#include "tune/schedule/brackets.h"

#include <algorithm>

namespace tandem::tune {
namespace {

// Of a large budget successive halving gets one part in so many.
constexpr int64_t kHalvingPart = 4;

int64_t Power(int64_t exponent) {
  int64_t power = 1;
  for (int64_t i = 0; i < exponent; ++i) power *= kEta;
  return power;
}

// The most trials that a bracket can have for so many units; 0: not even one.
int64_t MostTrials(int64_t units, int64_t rounds, int64_t rungs) {
  int64_t trials = 0;
  while (UnitsOf(MakeBracket(trials + 1, rounds, rungs)) <= units) ++trials;
  return trials;
}

// Adds a bracket, unless there are `most_trials` already.
void AddWithin(int64_t most_trials, const Bracket& bracket, int64_t rungs,
               std::vector<Bracket>* brackets) {
  const int64_t trials = std::min(most_trials - TrialsOf(*brackets), bracket.rungs.front().trials);
  if (trials <= 0) return;
  const auto rounds = static_cast<int64_t>(bracket.rungs.size());
  brackets->push_back(MakeBracket(trials, rounds, rungs));
}

}  // namespace

int64_t FullUnits(int64_t rungs) { return Power(rungs - 1); }

Bracket MakeBracket(int64_t trials, int64_t rounds, int64_t rungs) {
  Bracket bracket;
  for (int64_t round = 0; round < rounds; ++round) {
    bracket.rungs.push_back({trials, Power(rungs - rounds + round)});
    trials = std::max<int64_t>(1, trials / kEta);
  }
  return bracket;
}

int64_t UnitsOf(const Bracket& bracket) {
  int64_t units = 0;
  int64_t before = 0;
  for (const Rung& rung : bracket.rungs) {
    units += rung.trials * (rung.units - before);
    before = rung.units;
  }
  return units;
}

int64_t TrialsOf(const std::vector<Bracket>& brackets) {
  int64_t trials = 0;
  for (const Bracket& bracket : brackets) trials += bracket.rungs.front().trials;
  return trials;
}

int64_t FullTrialsOf(const std::vector<Bracket>& brackets) {
  int64_t trials = 0;
  for (const Bracket& bracket : brackets) trials += bracket.rungs.back().trials;
  return trials;
}

int64_t UnitsOf(const std::vector<Bracket>& brackets) {
  int64_t units = 0;
  for (const Bracket& bracket : brackets) units += UnitsOf(bracket);
  return units;
}

std::vector<Bracket> HyperbandBrackets(int64_t rungs, int64_t most_trials) {
  std::vector<Bracket> brackets;
  for (int64_t rounds = rungs; rounds >= 1; --rounds) {
    const int64_t trials = (rungs * Power(rounds - 1) + rounds - 1) / rounds;  // rounded up
    AddWithin(most_trials, MakeBracket(trials, rounds, rungs), rungs, &brackets);
  }
  return brackets;
}

std::vector<Bracket> BracketsFor(int64_t units, int64_t rungs, int64_t most_configurations) {
  const int64_t full = FullUnits(rungs);
  if (units < full || most_configurations < 1) return {};
  const int64_t halving =
      std::min(units, std::max(UnitsOf(MakeBracket(full, rungs, rungs)), units / kHalvingPart));
  const int64_t begun = std::min(MostTrials(halving, rungs, rungs), most_configurations);
  const int64_t in_full = (units - UnitsOf(MakeBracket(begun, rungs, rungs))) / full;
  std::vector<Bracket> brackets;
  // What full runs leave over gives halving more trials.
  AddWithin(most_configurations,
            MakeBracket(MostTrials(units - in_full * full, rungs, rungs), rungs, rungs), rungs,
            &brackets);
  const int64_t left = most_configurations - FullTrialsOf(brackets);
  brackets.resize(brackets.size() + static_cast<size_t>(std::min(in_full, left)),
                  MakeBracket(1, 1, rungs));
  return brackets;
}

}  // namespace tandem::tune
