#include "report/sweep/input_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "report/page/validation_words.h"

namespace tandem::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnSeed = "seed-*";

bool IsOfModel(std::string_view key) { return key.starts_with("model."); }

std::string KeyText(const KeyValues& keys, std::string_view key) {
  const auto found = keys.find(key);
  return found == keys.end() ? "" : found->second.text;
}

// The parts of the path at the key, with "seed-*" for the run's own seed; none where it is not
// known, or the given recipe is not the one that the run used.
std::vector<std::string> PathParts(const RunRecord& run, std::string_view key) {
  const auto found = run.inputs.paths.find(key);
  if (found == run.inputs.paths.end()) return {};
  const fs::path path = found->second;
  if (path.filename().native() != KeyText(run.keys, key)) return {};
  const std::string own = "seed-" + KeyText(run.keys, "seed");
  std::vector<std::string> parts;
  for (const fs::path& part : path) {
    parts.push_back(part.native() == own ? std::string(kOwnSeed) : part.native());
  }
  return parts;
}

bool HasOwnSeed(const std::vector<std::string>& parts) {
  return std::find(parts.begin(), parts.end(), kOwnSeed) != parts.end();
}

// Says whether both read what is at their paths in the same way, so that other fingerprints mean
// other data. An objective says which labels and scores are read.
bool ReadAlike(const RunRecord& a, const RunRecord& b) {
  const auto of_reading = [](const KeyValues& keys) {
    std::set<std::pair<std::string, std::string>> some;
    for (const auto& [key, value] : keys) {
      if (key.starts_with("data.") || key.starts_with("validation.") ||
          key.starts_with("objective.")) {
        some.emplace(key, value.text);
      }
    }
    return some;
  };
  return of_reading(a.keys) == of_reading(b.keys);
}

// Says whether the path of some data of one run is another than in the other run.
bool HaveOtherDataPaths(const RunRecord& a, const RunRecord& b) {
  return std::any_of(a.keys.begin(), a.keys.end(), [&](const auto& key) {
    if (!IsInputPath(key.first) || IsOfModel(key.first)) return false;
    const auto x = PathParts(a, key.first), y = PathParts(b, key.first);
    return !x.empty() && !y.empty() && x != y;
  });
}

bool IsSameInput(const RunRecord& a, const RunRecord& b, std::string_view key) {
  const auto x = PathParts(a, key), y = PathParts(b, key);
  const bool same_path = x.empty() || y.empty() || x == y;
  if (IsOfModel(key)) {
    // A fingerprint of the base says nothing of adapters. Different ones tell nothing: a base that
    // begins with new layers has another for each seed.
    const bool same = a.inputs.base && a.inputs.base == b.inputs.base;
    return (same && key != "model.adapter") || same_path;
  }
  if (!a.inputs.data || !b.inputs.data) return same_path;
  if (*a.inputs.data == *b.inputs.data) return true;
  if (!same_path) return false;
  // Other data at this path: unless a path of other data says where they differ, or another recipe
  // reads other parts of them.
  return !ReadAlike(a, b) || HaveOtherDataPaths(a, b) || HasOwnSeed(x);
}

// Runs whose data or model at a key is one.
struct Input {
  std::vector<size_t> runs;
  std::vector<std::string> parts;  // of its path; none where no run knows it
  std::optional<uint64_t> fingerprint;
};

std::vector<Input> InputsOf(const std::vector<RunRecord>& runs, const std::vector<size_t>& numbers,
                            std::string_view key) {
  std::vector<Input> inputs;
  const auto add = [&](size_t run) {
    auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Input& one) {
      return IsSameInput(runs[one.runs.front()], runs[run], key);
    });
    if (found == inputs.end()) found = inputs.insert(inputs.end(), Input{});
    found->runs.push_back(run);
    if (found->parts.empty()) found->parts = PathParts(runs[run], key);
    if (!found->fingerprint && !IsOfModel(key)) found->fingerprint = runs[run].inputs.data;
  };
  // Those of whom most is known come first, and what the others may be is the first of these.
  const auto known = [&](size_t run) {
    return (runs[run].inputs.data ? 2 : 0) + (PathParts(runs[run], key).empty() ? 0 : 1);
  };
  for (const int much : {3, 2, 1, 0}) {
    for (const size_t run : numbers) {
      if (known(run) == much) add(run);
    }
  }
  return inputs;
}

std::string LastParts(const std::vector<std::string>& parts, size_t most) {
  fs::path path;
  for (size_t i = parts.size() - std::min(most, parts.size()); i < parts.size(); ++i) {
    path /= parts[i];
  }
  return path.native();
}

// The names of several inputs that are called `name`: as many last parts of their paths as tell
// them apart, and where paths do not, a fingerprint.
std::vector<std::string> NamesOfInputs(const std::vector<Input>& inputs, const std::string& name) {
  size_t longest = 1;
  for (const Input& input : inputs) longest = std::max(longest, input.parts.size());
  std::vector<std::string> names;
  for (size_t most = 1; most <= longest; ++most) {
    names.clear();
    for (const Input& input : inputs) {
      names.push_back(input.parts.empty() ? name : LastParts(input.parts, most));
    }
    if (std::set(names.begin(), names.end()).size() == names.size()) return names;
  }
  const std::vector<std::string> paths = names;
  for (size_t i = 0; i < names.size(); ++i) {
    if (std::count(paths.begin(), paths.end(), paths[i]) == 1) continue;
    names[i] = inputs[i].fingerprint
                   ? fmt::format("{} (fingerprint {:08x})",
                                 inputs[i].parts.empty() ? name : inputs[i].parts.back(),
                                 *inputs[i].fingerprint >> 32U)
                   : fmt::format("{} ({})", paths[i], i + 1);
  }
  return names;
}

}  // namespace

std::vector<KeyValues> KeysWithInputNames(const std::vector<RunRecord>& runs) {
  std::map<std::pair<std::string, std::string>, std::vector<size_t>> called;  // by key and name
  std::vector<KeyValues> keys;
  for (size_t i = 0; i < runs.size(); ++i) {
    keys.push_back(runs[i].keys);
    for (const auto& [key, value] : runs[i].keys) {
      if (IsInputPath(key)) called[{key, value.text}].push_back(i);
    }
  }
  for (const auto& [what, numbers] : called) {
    const auto& [key, name] = what;
    const std::vector<Input> inputs = InputsOf(runs, numbers, key);
    if (inputs.size() < 2) continue;
    const std::vector<std::string> names = NamesOfInputs(inputs, name);
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (const size_t run : inputs[i].runs) keys[run][key].text = names[i];
    }
  }
  return keys;
}

std::string ValidationName(const RunRecord& run, const KeyValues& keys) {
  if (!run.validation) return "data that its recipe does not name";
  ValidationFacts facts = *run.validation;
  const std::string_view table = facts.held_out ? "data." : "validation.";
  std::string told;  // names that are longer than in the recipe
  for (const auto& [key, value] : keys) {
    if (!IsInputPath(key) || !key.starts_with(table)) continue;
    if (value.text != KeyText(run.keys, key)) told += (told.empty() ? "" : ", ") + value.text;
  }
  const bool one = keys.contains("validation.data") && !facts.held_out;
  if (!told.empty()) facts.data = one ? told : fmt::format("{} ({})", facts.data, told);
  const std::string words = ValidationWords(facts);
  return words.empty() ? "data that its recipe does not name" : words;
}

bool IsKnownByName(const RunRecord& run) {
  if (run.inputs.data) return false;
  return std::all_of(run.keys.begin(), run.keys.end(), [&](const auto& key) {
    return !IsInputPath(key.first) || IsOfModel(key.first) || PathParts(run, key.first).empty();
  });
}

}  // namespace tandem::report
