// Catalogues: what every one of them (objectives, samplers, measures, ...) tells of its entries.
//
// Recipes, `tandem list`, `tandem explain` and the reference docs read all catalogues through
// `Catalogue`, so that an entry of any of them has its parameters everywhere as soon as its
// descriptor says so. A room's table of entries is written by CMake from the list in its
// CMakeLists.txt (cmake/TandemCatalogue.cmake).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/param.h"

namespace tandem::config {

class Params;

// A contradiction between parameters that are each in range. `name` is the parameter that the error
// message names, `text` follows it there ("needs ..."). An empty text means that nothing is wrong.
struct ParamProblem {
  std::string_view name;
  std::string text;
};

// A key of another table that does nothing beside this entry, and why.
struct IdleKey {
  std::string_view path;    // "data.flip_labels"; "data.masks" stands for every key of that table
  std::string_view reason;  // follows the entry's name: "learns from a teacher's scores, not ..."
};

// The descriptor of one catalogue entry, which knows no tensors; rooms extend it by what they need
// besides.
struct EntryInfo {
  std::string_view name;     // as spelled in recipes
  std::string_view summary;  // one line
  std::string_view source;   // paper and equation, and how we differ
  std::span<const ParamInfo> params;
  ParamProblem (*problem)(const Params& params) = nullptr;  // null: they cannot contradict
  std::span<const IdleKey> idle_keys = {};  // keys that a recipe with this entry must not set
  std::string_view studies = {};  // pages of docs/studies that tried it, separated by blanks
};

// The names of an entry's studies, in their order.
std::vector<std::string> StudyNames(const EntryInfo& entry);

// The reason why the key at `path` ("data.masks.copies") does nothing beside `entry`; "" where it
// does something.
std::string_view IdleReason(const EntryInfo& entry, std::string_view path);

// A catalogue, whatever the kind of its entries.
struct Catalogue {
  std::string_view name;   // plural, as `tandem list` takes it: "objectives"
  std::string_view entry;  // one of them: "objective"
  // The recipe table whose key `name` names an entry, and whose further keys are that entry's
  // parameters: "objective". It is empty where recipes do not name entries.
  std::string_view table;
  std::string_view summary;  // what its entries are
  std::vector<const EntryInfo*> entries;
  // Prints the details of an entry that `tandem explain` shows besides summary, source and
  // parameters; null: there are none.
  std::string (*details)(const EntryInfo& entry) = nullptr;
};

// The catalogue whose entries the recipe table `table` names, or nullptr.
const Catalogue* FindCatalogue(std::span<const Catalogue> catalogues, std::string_view table);

// The entries of a room's table, without what the room adds to EntryInfo.
template <typename Info>
std::vector<const EntryInfo*> EntriesOf(std::span<const Info* const> infos) {
  return {infos.begin(), infos.end()};
}

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
