// Runs whose recipes differ in their seed alone, and what tells the others apart.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/records/run_record.h"

namespace tandem::report {

// Says whether runs that differ in this key learn the same but for chance: the seed, and what says
// how a run is computed, kept and logged. `output` is in no run's record.
bool IsAsideOfGroups(std::string_view path);

struct RecipeGroup {
  // What tells it from the other groups: "infonce, learning_rate 1e-05"; the objective where
  // nothing does. One name each.
  std::string name;
  std::vector<size_t> runs;
  KeyValues keys;  // without those aside of groups
};

// Groups the runs with the given numbers by their keys, in the order in which they come. They must
// have recipes.
std::vector<RecipeGroup> GroupsByRecipe(const std::vector<KeyValues>& of_runs,
                                        std::span<const size_t> numbers);

// A key that not all groups have alike.
struct DifferingKey {
  std::string path;
  std::vector<KeyValue> values;  // numbers ascending, then texts; each once
  size_t without = 0;            // groups that do not have it
};

// The keys that differ, those with most values first, then by path. A parameter that has one value
// for each entry that its table names ("objective.temperature" for each "objective.name") is left
// out, as the entry's name says all.
std::vector<DifferingKey> DifferingKeys(std::span<const RecipeGroup> groups);

// One key, whatever it comes with; none where it has one value in all groups that have it.
std::optional<DifferingKey> KeyOfGroups(std::span<const RecipeGroup> groups,
                                        const std::string& path);

// The key's value in a group; null where it is not set.
const KeyValue* ValueIn(const RecipeGroup& group, std::string_view path);

}  // namespace tandem::report
