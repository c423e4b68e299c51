#include "config/params.h"

#include <fmt/format.h>

#include <stdexcept>

namespace tandem::config {

Params::Params(std::span<const ParamInfo> infos) : infos_(infos) {
  for (const ParamInfo& info : infos_) values_.push_back(DefaultOf(info));
}

size_t Params::Index(std::string_view name) const {
  for (size_t i = 0; i < infos_.size(); ++i) {
    if (infos_[i].name == name) return i;
  }
  throw std::logic_error(fmt::format("no parameter {}", name));
}

namespace {

template <typename T>
const T& Get(const Value& value, std::string_view name) {
  const T* held = std::get_if<T>(&value);
  if (held == nullptr) throw std::logic_error(fmt::format("parameter {} has another type", name));
  return *held;
}

}  // namespace

double Params::Number(std::string_view name) const {
  return Get<double>(values_[Index(name)], name);
}

int64_t Params::Integer(std::string_view name) const {
  return Get<int64_t>(values_[Index(name)], name);
}

bool Params::Boolean(std::string_view name) const { return Get<bool>(values_[Index(name)], name); }

const std::string& Params::String(std::string_view name) const {
  return Get<std::string>(values_[Index(name)], name);
}

std::optional<double> Params::OptionalNumber(std::string_view name) const {
  const Value& value = values_[Index(name)];
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return Get<double>(value, name);
}

std::optional<std::string> Params::OptionalString(std::string_view name) const {
  const Value& value = values_[Index(name)];
  if (std::holds_alternative<std::monostate>(value)) return std::nullopt;
  return Get<std::string>(value, name);
}

std::string Params::Set(std::string_view name, const Value& value) {
  const size_t index = Index(name);
  CheckedValue checked = CheckValue(infos_[index], value);
  if (checked.problem.empty()) values_[index] = std::move(checked.value);
  return checked.problem;
}

bool Params::Knows(std::string_view name) const {
  for (const ParamInfo& info : infos_) {
    if (info.name == name) return true;
  }
  return false;
}

bool Params::operator==(const Params& other) const {
  return infos_.data() == other.infos_.data() && values_ == other.values_;
}

}  // namespace tandem::config
