// The values of a catalogue entry's parameters, by name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/param.h"

namespace tandem::config {

// Getters throw std::logic_error for a name that the entry does not have, and for a wrong type.
// Both are bugs in the entry: parsing has refused every mistake of the user before.
class Params {
 public:
  Params() = default;
  // All defaults. `infos` must outlive the Params: descriptors are constant data.
  explicit Params(std::span<const ParamInfo> infos);

  double Number(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  bool Boolean(std::string_view name) const;
  const std::string& String(std::string_view name) const;  // strings and choices
  // Returns nothing where a parameter without a default has no value.
  std::optional<double> OptionalNumber(std::string_view name) const;
  std::optional<std::string> OptionalString(std::string_view name) const;

  // Checks the value and sets it. Returns "", or the problem as CheckValue words it.
  std::string Set(std::string_view name, const Value& value);
  // Says whether there is a parameter of this name.
  bool Knows(std::string_view name) const;

  std::span<const ParamInfo> infos() const { return infos_; }
  const Value& value(size_t index) const { return values_[index]; }  // of infos()[index]

  bool operator==(const Params& other) const;

 private:
  size_t Index(std::string_view name) const;

  std::span<const ParamInfo> infos_;
  std::vector<Value> values_;  // one for each of infos_
};

}  // namespace tandem::config
