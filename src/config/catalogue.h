// What every catalogue (objectives, measures, ...) tells of its entries, and looking one up.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/param.h"

namespace tandem::config {

class Params;

// Parameters that are right one by one and contradict each other: the one to name, and what is
// wrong with it ("needs ..."); an empty text: nothing is.
struct ParamProblem {
  std::string_view name;
  std::string text;
};

// The torch-free descriptor of one catalogue entry; rooms extend it by what they need besides.
struct EntryInfo {
  std::string_view name;     // as spelled in recipes
  std::string_view summary;  // one line
  std::string_view source;   // paper and equation, and how we differ
  std::span<const ParamInfo> params;
  ParamProblem (*problem)(const Params& params) = nullptr;  // null: they cannot contradict
};

// "X is unknown; known are a, b, c; did you mean a?"
std::string UnknownName(std::string_view name, std::span<const std::string_view> known);

// The entry called `name`, or nullptr. Works for any descriptor that derives from EntryInfo.
template <typename Info>
const Info* FindEntry(std::span<const Info* const> entries, std::string_view name) {
  for (const Info* entry : entries) {
    if (entry->name == name) return entry;
  }
  return nullptr;
}

template <typename Info>
std::vector<std::string_view> EntryNames(std::span<const Info* const> entries) {
  std::vector<std::string_view> names;
  for (const Info* entry : entries) names.push_back(entry->name);
  return names;
}

}  // namespace tandem::config
