// The information about each field in the list of a recipe's fields (recipe_fields.h).
#pragma once

#include <concepts>
#include <span>
#include <string_view>
#include <type_traits>

#include "config/param.h"
#include "config/recipe/recipe.h"

namespace tandem::config {

// Says whether a run may be resumed under another value.
enum class OnResume { kMustStay, kMayChange };

// Says when a field does something. Setting one that does nothing is an error, and the recipe that
// a run keeps leaves it out.
struct FieldCondition {
  // The condition in words that follow "needs": "data.minimum_grade".
  std::string_view text;
  bool (*holds)(const Recipe& recipe) = nullptr;  // null: always
};

struct FieldInfo {
  std::string_view doc;  // one line
  std::string_view unit;
  Range range;
  std::span<const ChoiceInfo> choices;
  std::string_view unset_doc;  // what holds when an optional field is absent
  std::string_view elsewhere;  // what other programs call it, as in ParamInfo
  bool required = false;
  OnResume on_resume = OnResume::kMustStay;
  FieldCondition condition;
};

// Serves visits of a struct and of a constant one.
template <typename T, typename Struct>
concept MaybeConst = std::same_as<std::remove_const_t<T>, Struct>;

}  // namespace tandem::config
