#include "train/run/state_visitor.h"

#include "base/json/json.h"

namespace tandem::train {

template <typename T>
void StateVisitor::Required(const char* name, T& value) const {
  if (reads()) {
    value = from_->at(name).get<T>();
  } else {
    (*to_)[name] = value;
  }
}

template <typename T>
void StateVisitor::Optional(const char* name, T& value, T otherwise, bool kept) const {
  if (reads()) {
    value = from_->value(name, otherwise);
  } else if (kept) {
    (*to_)[name] = value;
  }
}

void StateVisitor::Member(const char* name, bool& value) const { Required(name, value); }
void StateVisitor::Member(const char* name, int64_t& value) const { Required(name, value); }
void StateVisitor::Member(const char* name, uint64_t& value) const { Required(name, value); }
void StateVisitor::Member(const char* name, double& value) const { Required(name, value); }
void StateVisitor::Member(const char* name,
                          std::vector<std::pair<int64_t, uint64_t>>& value) const {
  if (!reads()) {
    Json pairs = Json::array();
    for (const auto& [first, second] : value) pairs.push_back(Json::array({first, second}));
    (*to_)[name] = std::move(pairs);
    return;
  }
  const Json& pairs = from_->at(name);
  if (!pairs.is_array()) throw JsonError("a list is expected");
  value.clear();
  for (const Json& pair : pairs) {
    value.emplace_back(pair.at(0).get<int64_t>(), pair.at(1).get<uint64_t>());
  }
}
void StateVisitor::Member(const char* name, Json& value) const { Required(name, value); }

void StateVisitor::Member(const char* name, bool& value, bool otherwise, bool kept) const {
  Optional(name, value, otherwise, kept);
}
void StateVisitor::Member(const char* name, int64_t& value, int64_t otherwise, bool kept) const {
  Optional(name, value, otherwise, kept);
}
void StateVisitor::Member(const char* name, uint64_t& value, uint64_t otherwise, bool kept) const {
  Optional(name, value, otherwise, kept);
}
void StateVisitor::Member(const char* name, double& value, double otherwise, bool kept) const {
  Optional(name, value, otherwise, kept);
}

void StateVisitor::Member(const char* name, std::optional<double>& value) const {
  if (!reads()) {
    if (value) (*to_)[name] = *value;
    return;
  }
  const Json* const found = from_->Find(name);
  value = found == nullptr ? std::nullopt : std::optional(found->get<double>());
}

void StateVisitor::NullableMember(const char* name, std::optional<uint64_t>& value) const {
  if (reads()) {
    const Json& found = from_->at(name);
    value = found.is_null() ? std::nullopt : std::optional(found.get<uint64_t>());
  } else {
    (*to_)[name] = value ? Json(*value) : Json();
  }
}

StateVisitor StateVisitor::Part(const char* name) const {
  if (reads()) return Reader(from_->at(name));
  Json& part = (*to_)[name];
  if (part.is_null()) part = Json::object();
  return Writer(part);
}

}  // namespace tandem::train
