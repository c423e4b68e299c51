// The plan of a search: its brackets, and the configurations of the first one, which are drawn at
// random. It is the journal's row "plan". Those of later trials are rows "draw" (tune/draw).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "config/tune/tune_recipe.h"
#include "tune/schedule/brackets.h"
#include "tune/schedule/budget.h"

namespace tandem::tune {

struct SearchPlan {
  std::vector<Bracket> brackets;
  std::vector<config::Assignment> configurations;  // trial 1 is the first
};

// The whole space, as far as a search could go: at most so many configurations are drawn.
inline constexpr int64_t kMostConfigurations = 2000;

// The mean length of the configurations over that of the recipe as it is, in queries (for a budget
// in seconds) or in steps.
double LengthFactor(const config::LoadedTune& tune,
                    const std::vector<config::Assignment>& configurations, bool in_steps);

// A hash of everything that decides what a search does but its data: the recipe, [tune], and the
// budget.
std::string SearchFingerprint(const config::LoadedTune& tune, const std::optional<Budget>& budget);

// The values of a configuration as the journal has them: {KEY: its text in TOML}. Reading throws
// JsonError for another form.
Json AssignmentJson(const config::Assignment& values);
config::Assignment AssignmentOf(const Json& keys);

Json PlanRow(const SearchPlan& plan, const std::string& fingerprint);
// Throws ModelError for a row of another form.
SearchPlan PlanOf(const Json& row, const std::string& file);

// "18 trials: 12 configurations by successive halving, then 6 in full, each where those before it
// promise most".
std::string TrialsText(const SearchPlan& plan);

// The same, and what it costs: "...; 8.9 times the training of one, about 12 min".
std::string PlanText(const SearchPlan& plan, int64_t rungs, const SearchCost& cost);

// "optimizer.learning_rate = 1e-05, train.batch = 8"; "the recipe as it is" without values.
std::string AssignmentText(const config::Assignment& assignment);

}  // namespace tandem::tune
