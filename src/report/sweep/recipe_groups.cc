#include "report/sweep/recipe_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tandem::report {
namespace {

std::string TableOf(std::string_view path) {
  const size_t dot = path.rfind('.');
  return std::string(path.substr(0, dot == std::string_view::npos ? 0 : dot));
}

std::string LeafOf(std::string_view path) { return std::string(path.substr(path.rfind('.') + 1)); }

bool Before(const KeyValue& a, const KeyValue& b) {
  const auto order = [](const KeyValue& value) {
    return std::tuple(!value.number.has_value(), value.number.value_or(0),
                      std::string_view(value.text));
  };
  return order(a) < order(b);
}

DifferingKey KeyOf(std::span<const RecipeGroup> groups, const std::string& path) {
  DifferingKey key{.path = path};
  for (const RecipeGroup& group : groups) {
    const KeyValue* const value = ValueIn(group, path);
    if (value == nullptr) {
      ++key.without;
    } else if (std::find(key.values.begin(), key.values.end(), *value) == key.values.end()) {
      key.values.push_back(*value);
    }
  }
  std::sort(key.values.begin(), key.values.end(), Before);
  return key;
}

bool Differs(const DifferingKey& key) { return key.values.size() + (key.without > 0 ? 1 : 0) > 1; }

// Says whether the entry that the key's table names tells by itself what the key's value is.
bool ComesWithItsEntry(std::span<const RecipeGroup> groups, const DifferingKey& key) {
  const std::string name = TableOf(key.path) + ".name";
  if (key.path == name) return false;
  std::map<std::string, KeyValue> values;  // by entry
  for (const RecipeGroup& group : groups) {
    const KeyValue* const entry = ValueIn(group, name);
    const KeyValue* const value = ValueIn(group, key.path);
    if (entry == nullptr) return false;
    const KeyValue here = value == nullptr ? KeyValue{} : *value;
    if (values.emplace(entry->text, here).first->second != here) return false;
  }
  return true;
}

// The key before its value; of two keys of one last part, and of validation.data, which would read
// as the training data, with their tables.
std::string Word(const DifferingKey& key, std::span<const DifferingKey> keys) {
  const std::string leaf = LeafOf(key.path);
  const auto same = std::count_if(keys.begin(), keys.end(), [&](const DifferingKey& other) {
    return LeafOf(other.path) == leaf;
  });
  return same > 1 || key.path == "validation.data" ? key.path : leaf;
}

// The parts of a name in the order of the keys' paths, the objective first.
std::string NameOf(const RecipeGroup& group, std::span<const DifferingKey> keys) {
  std::map<std::pair<bool, std::string>, std::string> parts;
  for (const DifferingKey& key : keys) {
    const KeyValue* const value = ValueIn(group, key.path);
    const bool entry = LeafOf(key.path) == "name";
    const std::string table = TableOf(key.path);
    std::string& part = parts[{key.path != "objective.name", key.path}];
    if (value == nullptr) {
      // Of another entry's parameter nothing is said.
      if (key.values.size() == 1) part = "no " + Word(key, keys);
    } else if (entry) {
      part = value->text;
    } else {
      part = fmt::format("{} {}", Word(key, keys), value->text);
    }
  }
  std::string name;
  for (const auto& [order, part] : parts) {
    if (!part.empty()) name += (name.empty() ? "" : ", ") + part;
  }
  return name;
}

// Says whether the other keys tell all groups apart that this one does.
bool IsToldByOthers(std::span<const RecipeGroup> groups, std::span<const DifferingKey> keys,
                    const DifferingKey& without) {
  std::set<std::vector<std::string>> all, others;
  for (const RecipeGroup& group : groups) {
    std::vector<std::string> values;
    for (const DifferingKey& key : keys) {
      const KeyValue* const value = ValueIn(group, key.path);
      if (key.path != without.path) values.push_back(value == nullptr ? "" : "=" + value->text);
    }
    others.insert(values);
    values.push_back(ValueIn(group, without.path) == nullptr ? "" : "set");
    all.insert(std::move(values));
  }
  return all.size() == others.size();
}

// The keys that names have: not those that are there only beside certain values of others ("a limit
// of age where there is a bank").
std::vector<DifferingKey> NamingKeys(std::span<const RecipeGroup> groups) {
  std::vector<DifferingKey> keys = DifferingKeys(groups);
  for (size_t i = keys.size(); i-- > 0;) {
    const bool comes_and_goes = keys[i].values.size() == 1 && keys[i].without > 0;
    if (comes_and_goes && IsToldByOthers(groups, keys, keys[i])) {
      keys.erase(keys.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return keys;
}

void NameGroups(std::vector<RecipeGroup>& groups) {
  const std::vector<DifferingKey> keys = NamingKeys(groups);
  std::map<std::string, int> told;
  for (RecipeGroup& group : groups) {
    group.name = NameOf(group, keys);
    if (group.name.empty()) {
      const KeyValue* const objective = ValueIn(group, "objective.name");
      group.name = objective == nullptr ? "the recipe" : objective->text;
    }
    if (const int number = ++told[group.name]; number > 1) {
      group.name += fmt::format(" ({})", number);
    }
  }
}

}  // namespace

bool IsAsideOfGroups(std::string_view path) {
  return path == "seed" || path == "threads" || path == "output" || path.starts_with("logging.");
}

std::vector<RecipeGroup> GroupsByRecipe(const std::vector<KeyValues>& of_runs,
                                        std::span<const size_t> numbers) {
  std::vector<RecipeGroup> groups;
  for (const size_t number : numbers) {
    KeyValues keys = of_runs[number];
    std::erase_if(keys, [](const auto& key) { return IsAsideOfGroups(key.first); });
    const auto same = std::find_if(groups.begin(), groups.end(),
                                   [&](const RecipeGroup& group) { return group.keys == keys; });
    if (same == groups.end()) {
      groups.push_back({.runs = {number}, .keys = std::move(keys)});
    } else {
      same->runs.push_back(number);
    }
  }
  NameGroups(groups);
  return groups;
}

std::vector<DifferingKey> DifferingKeys(std::span<const RecipeGroup> groups) {
  std::set<std::string> paths;
  for (const RecipeGroup& group : groups) {
    for (const auto& [path, value] : group.keys) paths.insert(path);
  }
  std::vector<DifferingKey> keys;
  for (const std::string& path : paths) {
    DifferingKey key = KeyOf(groups, path);
    if (Differs(key) && !ComesWithItsEntry(groups, key)) keys.push_back(std::move(key));
  }
  std::stable_sort(keys.begin(), keys.end(), [](const DifferingKey& a, const DifferingKey& b) {
    return a.values.size() > b.values.size();
  });
  return keys;
}

std::optional<DifferingKey> KeyOfGroups(std::span<const RecipeGroup> groups,
                                        const std::string& path) {
  DifferingKey key = KeyOf(groups, path);
  if (key.values.size() < 2) return std::nullopt;
  return key;
}

const KeyValue* ValueIn(const RecipeGroup& group, std::string_view path) {
  const auto found = group.keys.find(path);
  return found == group.keys.end() ? nullptr : &found->second;
}

}  // namespace tandem::report
