// Conversions between a recipe's typed fields and Values. Internal to reading and writing recipes.
#pragma once

#include <optional>
#include <type_traits>

#include "config/param.h"
#include "config/quantity.h"
#include "config/recipe/recipe_fields.h"

namespace tandem::config {

template <typename T>
struct FieldType {
  using Bare = T;
};
template <typename T>
struct FieldType<std::optional<T>> {
  using Bare = T;
};

template <typename T>
constexpr ParamKind KindOf(bool has_choices) {
  if constexpr (std::is_same_v<T, bool>) return ParamKind::kBoolean;
  if constexpr (std::is_same_v<T, int64_t>) return ParamKind::kInteger;
  if constexpr (std::is_same_v<T, double>) return ParamKind::kNumber;
  if constexpr (std::is_same_v<T, Quantity>) return ParamKind::kQuantity;
  if constexpr (std::is_same_v<T, Range>) return ParamKind::kRange;
  if constexpr (std::is_same_v<T, Integers>) return ParamKind::kIntegers;
  if constexpr (std::is_same_v<T, Numbers>) return ParamKind::kNumbers;
  if constexpr (std::is_same_v<T, Strings>) return ParamKind::kStrings;
  return has_choices ? ParamKind::kChoice : ParamKind::kString;
}

// The descriptor of a field of type T (or const T).
template <typename T>
ParamInfo MakeParamInfo(std::string_view name, const FieldInfo& field) {
  using Bare = typename FieldType<std::remove_const_t<T>>::Bare;
  return {.kind = KindOf<Bare>(!field.choices.empty()),
          .name = name,
          .unit = field.unit,
          .doc = field.doc,
          .range = field.range,
          .choices = field.choices,
          .unset_doc = field.unset_doc,
          .elsewhere = field.elsewhere};
}

// `value` has passed CheckValue for the field's descriptor.
template <typename T>
void AssignValue(const Value& value, std::string_view unit, T& target) {
  using Bare = typename FieldType<T>::Bare;
  if constexpr (std::is_same_v<Bare, Quantity>) {
    target = ParseQuantity(value, unit).quantity;
  } else {
    target = std::get<Bare>(value);
  }
}

template <typename T>
Value ValueOf(const T& field, std::string_view unit) {
  if constexpr (std::is_same_v<T, Quantity>) {
    return FormatQuantity(field, unit);
  } else {
    return field;
  }
}
// A choice between true, false and words is written as TOML writes them.
inline Value ValueOfChoice(const std::string& chosen) {
  if (chosen == "true" || chosen == "false") return chosen == "true";
  return chosen;
}
template <typename T>
Value ValueOf(const std::optional<T>& field, std::string_view unit) {
  return field ? ValueOf(*field, unit) : Value();
}

}  // namespace tandem::config
