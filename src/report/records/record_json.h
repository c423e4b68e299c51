// JSON of structs whose members a visitor names (report/records/evaluation_fields.h).
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "base/suggest.h"
#include "report/records/evaluation_fields.h"

namespace tandem::report {

class RecordWriter {
 public:
  template <typename T>
  static Json ObjectOf(const T& value) {
    RecordWriter writer;
    VisitFields(value, writer);
    return std::move(writer.object_);
  }

  template <typename T>
  void Field(std::string_view name, const T& value, NumberRange = {}) {
    name_ = name;
    Put(name, value);
  }

 private:
  // An absent value is left out, not written as null or [].
  template <typename T>
  void Put(std::string_view name, const std::optional<T>& value) {
    if (value) Put(name, *value);
  }
  void Put(std::string_view name, const std::optional<double>& value) {
    if (value && std::isfinite(*value)) object_[name] = *value;
  }
  template <typename T>
  void Put(std::string_view name, const std::vector<T>& values) {
    if (values.empty()) return;
    Json& list = object_[name] = Json::array();
    for (const T& value : values) list.push_back(ValueOf(value));
  }
  template <typename T>
  void Put(std::string_view name, const T& value) {
    object_[name] = ValueOf(value);
  }

  Json ValueOf(const std::string& value) const { return value; }
  Json ValueOf(int64_t value) const { return value; }
  Json ValueOf(double value) const {
    if (!std::isfinite(value)) throw NumericError(fmt::format("{} is {}", name_, value));
    return value;
  }
  Json ValueOf(const std::optional<double>& value) const {
    return value && std::isfinite(*value) ? Json(*value) : Json(nullptr);
  }
  Json ValueOf(const Point& point) const {
    return Json::array({ValueOf(point[0]), ValueOf(point[1])});
  }
  template <typename T>
  Json ValueOf(const T& value) const {
    return ObjectOf(value);
  }

  Json object_ = Json::object();
  std::string_view name_;
};

class RecordReader {
 public:
  // `where`: the object's name in messages; "" for the whole file.
  RecordReader(const Json& object, std::string where, std::string_view file)
      : object_(object), where_(std::move(where)), file_(file) {
    if (!object.is_object()) Fail(where_, "an object", object);
  }

  // Members that are read elsewhere.
  void Ignore(std::string_view name) { known_.push_back(name); }

  template <typename T>
  void Field(std::string_view name, T& value, NumberRange range = {}) {
    known_.push_back(name);
    const Json* const found = object_.Find(name);
    const std::string path = PathOf(name);
    if (found == nullptr) {
      Missing(value, path);
    } else {
      Read(*found, value, path, range);
    }
  }

  // Throws for a member that no Field named.
  void CheckAllKnown() const {
    for (const auto& [name, value] : object_.items()) {
      bool known = false;
      for (const std::string_view one : known_) known = known || one == name;
      if (known) continue;
      throw DataError(file_, 0, "", PathOf(name) + " is unknown" + DidYouMean(name, known_));
    }
  }

 private:
  std::string PathOf(std::string_view name) const {
    return where_.empty() ? std::string(name) : fmt::format("{}.{}", where_, name);
  }
  [[noreturn]] void Fail(const std::string& path, std::string_view expected,
                         const Json& found) const {
    std::string shown = found.Dump(-1, JsonBytes::kReplace);
    if (shown.size() > 40) shown = fmt::format("a longer {}", found.type_name());
    throw DataError(file_, 0, "",
                    fmt::format("{} should be {} and is {}", path.empty() ? "the file" : path,
                                expected, shown));
  }

  template <typename T>
  void Missing(std::optional<T>&, const std::string&) const {}
  template <typename T>
  void Missing(std::vector<T>&, const std::string&) const {}
  template <typename T>
  void Missing(T&, const std::string& path) const {
    throw DataError(file_, 0, "", fmt::format("{} is missing", path));
  }

  void Read(const Json& json, std::string& value, const std::string& path, NumberRange) const {
    if (!json.is_string()) Fail(path, "a text", json);
    value = json.get<std::string>();
  }
  void Read(const Json& json, int64_t& value, const std::string& path, NumberRange range) const {
    // A number beyond int64_t is a "number_unsigned" too.
    const bool fits = json.is_number_integer() &&
                      (!json.is_number_unsigned() || json.get<uint64_t>() <= INT64_MAX);
    if (!fits || static_cast<double>(json.get<int64_t>()) < range.low) {
      Fail(path, range.low == 0 ? "an integer of at least 0" : "an integer", json);
    }
    value = json.get<int64_t>();
  }
  void Read(const Json& json, double& value, const std::string& path, NumberRange range) const {
    const bool fits =
        json.is_number() && json.get<double>() >= range.low && json.get<double>() <= range.high;
    if (!fits) Fail(path, WordsOf(range), json);
    value = json.get<double>();
  }
  static std::string WordsOf(NumberRange range) {
    return fmt::format("a number from {:g} to {:g}", range.low, range.high);
  }
  void Read(const Json& json, Point& value, const std::string& path, NumberRange range) const {
    if (!json.is_array() || json.size() != 2) Fail(path, "a list of two numbers", json);
    for (size_t i = 0; i < 2; ++i) Read(json[i], value[i], fmt::format("{}[{}]", path, i), range);
  }
  template <typename T>
  void Read(const Json& json, std::optional<T>& value, const std::string& path,
            NumberRange range) const {
    if (json.is_null()) return;
    Read(json, value.emplace(), path, range);
  }
  template <typename T>
  void Read(const Json& json, std::vector<T>& values, const std::string& path,
            NumberRange range) const {
    if (!json.is_array()) Fail(path, "a list", json);
    values.resize(json.size());
    for (size_t i = 0; i < json.size(); ++i) {
      Read(json[i], values[i], fmt::format("{}[{}]", path, i), range);
    }
  }
  template <typename T>
  void Read(const Json& json, T& value, const std::string& path, NumberRange) const {
    RecordReader reader(json, path, file_);
    VisitFields(value, reader);
    reader.CheckAllKnown();
  }

  const Json& object_;
  std::string where_;
  std::string_view file_;
  std::vector<std::string_view> known_;
};

}  // namespace tandem::report
