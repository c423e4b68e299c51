#include "report/sweep/repeats.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace tandem::report {
namespace {

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool SameValues(const RunLog& a, const RunLog& b) {
  return std::equal(a.steps.begin(), a.steps.end(), b.steps.begin(), b.steps.end(),
                    [](const StepRow& x, const StepRow& y) {
                      return x.step == y.step && SameNumber(x.loss, y.loss);
                    }) &&
         std::equal(a.validations.begin(), a.validations.end(), b.validations.begin(),
                    b.validations.end(), [](const ValidationRow& x, const ValidationRow& y) {
                      return x.step == y.step && x.measures == y.measures;
                    });
}

}  // namespace

std::vector<Repeat> TakeOutRepeats(const std::vector<RunRecord>& runs,
                                   std::vector<RecipeGroup>& groups) {
  std::vector<Repeat> repeats;
  for (RecipeGroup& group : groups) {
    std::map<std::string, size_t> first;  // by seed
    std::vector<size_t> once;
    for (const size_t run : group.runs) {
      const auto seed = runs[run].keys.find("seed");
      const bool told = seed != runs[run].keys.end();
      const auto [known, is_new] =
          told ? first.emplace(seed->second.text, run) : std::pair(first.end(), true);
      if (is_new) {
        once.push_back(run);
      } else {
        repeats.push_back({run, known->second, SameValues(runs[run].log, runs[known->second].log)});
      }
    }
    group.runs = std::move(once);
  }
  return repeats;
}

}  // namespace tandem::report
