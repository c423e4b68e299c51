// The visitors that write a row struct as a flat JSON object and read it back.
//
// A row struct names its fields once:
//
//   struct MiningRow {
//     static constexpr std::string_view kEvent = "mining";
//     int64_t step = 0;
//     std::optional<double> false_negative_rate;
//     template <typename Row, typename Visitor>
//     static void VisitFields(Row& row, Visitor& visitor) {
//       visitor("step", row.step);
//       visitor("mining_false_negative_rate", row.false_negative_rate);
//     }
//   };
//
// A field is a number, a text, a truth value, one of these that may not exist (its key is then
// left out), or NamedNumbers, whose names follow a prefix in the keys ("validation_ndcg@10").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "base/json/json.h"
#include "report/records/named_numbers.h"
#include "report/tables/numbers.h"

namespace tandem::report {

class RowWriter {
 public:
  explicit RowWriter(Json& object) : object_(object) {}

  template <typename T>
  void operator()(std::string_view key, const T& value) {
    object_[key] = value;
  }
  void operator()(std::string_view key, double value) { object_[key] = JsonNumber(value); }
  template <typename T>
  void operator()(std::string_view key, const std::optional<T>& value) {
    if (value) (*this)(key, *value);
  }
  void operator()(std::string_view prefix, const NamedNumbers& numbers) {
    for (const NamedNumber& number : numbers) {
      const std::string key = std::string(prefix) + number.name;
      std::visit([&](auto value) { (*this)(key, value); }, number.value);
    }
  }

 private:
  Json& object_;
};

// Leaves a field as it is where its key is missing, also where the value of a number is null (one
// that was not finite). A key that no field has is ignored: a later version may write it.
class RowReader {
 public:
  explicit RowReader(const Json& object) : object_(object) {}

  // Says whether every value so far had its field's type.
  bool ok() const { return ok_; }

  template <typename T>
  void operator()(std::string_view key, T& value) {
    const Json* const found = object_.Find(key);
    if (found == nullptr || found->is_null()) return;
    if (HasType<T>(*found)) {
      value = found->get<T>();
    } else {
      ok_ = false;
    }
  }
  template <typename T>
  void operator()(std::string_view key, std::optional<T>& value) {
    T read{};
    if (!object_.contains(key)) return;
    (*this)(key, read);
    value = std::move(read);
  }
  void operator()(std::string_view prefix, NamedNumbers& numbers) {
    for (const auto& [key, value] : object_.items()) {
      if (!key.starts_with(prefix)) continue;
      NamedNumber number{.name = key.substr(prefix.size())};
      if (value.is_number_integer()) {
        number.value = value.get<int64_t>();
      } else if (value.is_number()) {
        number.value = value.get<double>();
      } else {
        ok_ &= value.is_null();
        continue;
      }
      numbers.push_back(std::move(number));
    }
  }

 private:
  template <typename T>
  static bool HasType(const Json& value) {
    if constexpr (std::is_same_v<T, bool>) return value.is_boolean();
    if constexpr (std::is_same_v<T, std::string>) return value.is_string();
    if constexpr (std::is_same_v<T, double>) return value.is_number();
    if constexpr (std::is_same_v<T, int64_t>) return value.is_number_integer();
    return false;
  }

  const Json& object_;
  bool ok_ = true;
};

// {"event": ROW'S EVENT, FIELD: value, ...}.
template <typename Row>
Json ToJson(const Row& row) {
  Json object = {{"event", Row::kEvent}};
  RowWriter writer(object);
  Row::VisitFields(row, writer);
  return object;
}

// The row of an object; none where a value has not its field's type. The event is not looked at.
template <typename Row>
std::optional<Row> FromJson(const Json& object) {
  Row row;
  RowReader reader(object);
  Row::VisitFields(row, reader);
  return reader.ok() ? std::optional(std::move(row)) : std::nullopt;
}

}  // namespace tandem::report
