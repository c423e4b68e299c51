#include "tune/schedule/halving.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tandem::tune {
namespace {

using Results = std::map<std::pair<int64_t, size_t>, std::optional<double>>;  // by trial and round

Results ByTrial(const std::vector<RungResult>& results) {
  Results by_trial;
  for (const RungResult& result : results) by_trial[{result.trial, result.round}] = result.value;
  return by_trial;
}

// The trials of a round that could be trained, best first.
std::vector<int64_t> Ranked(const std::vector<int64_t>& trials, size_t round,
                            const Results& results) {
  std::vector<int64_t> ranked;
  for (const int64_t trial : trials) {
    if (results.at({trial, round})) ranked.push_back(trial);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [&](int64_t a, int64_t b) {
    return *results.at({a, round}) > *results.at({b, round});
  });
  return ranked;
}

// Goes through the rounds of all brackets. Calls visit(bracket, round, trials), which returns
// whether to go on with the round's best.
template <typename Visit>
void VisitRounds(const std::vector<Bracket>& brackets, const Results& results, const Visit& visit) {
  int64_t first = 1;
  for (size_t b = 0; b < brackets.size(); ++b) {
    const std::vector<Rung>& rungs = brackets[b].rungs;
    std::vector<int64_t> trials;
    for (int64_t i = 0; i < rungs.front().trials; ++i) trials.push_back(first + i);
    first += rungs.front().trials;
    for (size_t round = 0; round < rungs.size(); ++round) {
      if (!visit(b, round, trials)) return;
      trials = Ranked(trials, round, results);
      if (round + 1 == rungs.size()) break;
      const auto most = static_cast<size_t>(rungs[round + 1].trials);
      if (trials.size() > most) trials.resize(most);
      std::sort(trials.begin(), trials.end());
    }
  }
}

}  // namespace

std::optional<Work> NextWork(const std::vector<Bracket>& brackets,
                             const std::vector<RungResult>& all) {
  const Results results = ByTrial(all);
  std::optional<Work> next;
  VisitRounds(brackets, results, [&](size_t bracket, size_t round, const auto& trials) {
    for (const int64_t trial : trials) {
      if (results.contains({trial, round})) continue;
      next = Work{trial, bracket, round};
      return false;
    }
    return true;
  });
  return next;
}

std::vector<int64_t> LeftTrials(const std::vector<Bracket>& brackets,
                                const std::vector<RungResult>& all) {
  const Results results = ByTrial(all);
  std::vector<int64_t> left;
  std::vector<int64_t> before;  // of the round before
  VisitRounds(brackets, results, [&](size_t /*bracket*/, size_t round, const auto& trials) {
    for (const int64_t trial : before) {
      const bool stays = std::find(trials.begin(), trials.end(), trial) != trials.end();
      if (round > 0 && !stays) left.push_back(trial);
    }
    before = trials;
    return std::all_of(trials.begin(), trials.end(), [&](int64_t trial) {
      return results.contains({trial, round});
    });
  });
  std::sort(left.begin(), left.end());
  return left;
}

std::vector<int64_t> Finalists(const std::vector<Bracket>& brackets,
                               const std::vector<RungResult>& all) {
  const Results results = ByTrial(all);
  std::vector<std::pair<double, int64_t>> finalists;
  VisitRounds(brackets, results, [&](size_t bracket, size_t round, const auto& trials) {
    for (const int64_t trial : trials) {
      const auto found = results.find({trial, round});
      if (found == results.end()) return false;
      const bool last = round + 1 == brackets[bracket].rungs.size();
      if (last && found->second) finalists.emplace_back(-*found->second, trial);
    }
    return true;
  });
  std::sort(finalists.begin(), finalists.end());
  std::vector<int64_t> trials;
  for (const auto& [value, trial] : finalists) trials.push_back(trial);
  return trials;
}

}  // namespace tandem::tune
