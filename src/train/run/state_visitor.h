// Writes and reads the members of a checkpoint's state.json. Each part of a run lists its members
// once, for both directions.
//
//   void LossScale::VisitState(StateVisitor visit) {
//     visit.Member("value", value_);
//     visit.Member("finite_steps", finite_steps_);
//   }
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/json/json.h"

namespace tandem::train {

// Visits the members of one JSON object, which must outlive the visitor. It is passed by value.
class StateVisitor {
 public:
  // Writes the values into `object` and leaves them as they are.
  static StateVisitor Writer(Json& object) { return {&object, nullptr}; }
  // Overwrites the values with what `object` says.
  static StateVisitor Reader(const Json& object) { return {nullptr, &object}; }

  bool reads() const { return from_ != nullptr; }

  // Reading throws JsonError where the member is missing or of another type.
  void Member(const char* name, bool& value) const;
  void Member(const char* name, int64_t& value) const;
  void Member(const char* name, uint64_t& value) const;
  void Member(const char* name, double& value) const;
  void Member(const char* name, std::vector<std::pair<int64_t, uint64_t>>& value) const;
  void Member(const char* name, Json& value) const;

  // A member that some runs do not have, or that earlier versions did not write: it is written if
  // `kept`, and reading gives `otherwise` if it is missing.
  void Member(const char* name, bool& value, bool otherwise, bool kept = true) const;
  void Member(const char* name, int64_t& value, int64_t otherwise, bool kept = true) const;
  void Member(const char* name, uint64_t& value, uint64_t otherwise, bool kept = true) const;
  void Member(const char* name, double& value, double otherwise, bool kept = true) const;
  // A member that is not written if it has no value.
  void Member(const char* name, std::optional<double>& value) const;
  // A member that is written as null if it has no value.
  void NullableMember(const char* name, std::optional<uint64_t>& value) const;

  // Visits the object under `name`. Reading throws as Member does.
  StateVisitor Part(const char* name) const;

 private:
  StateVisitor(Json* to, const Json* from) : to_(to), from_(from) {}
  template <typename T>
  void Required(const char* name, T& value) const;
  template <typename T>
  void Optional(const char* name, T& value, T otherwise, bool kept) const;

  Json* to_;          // null: the visitor reads
  const Json* from_;  // null: the visitor writes
};

}  // namespace tandem::train
