// A JSON value: what the program builds in order to write it, and what a small file holds.
//
//   Json row = {{"id", "q1"}, {"scores", std::vector<double>{0.5, 1}}};
//   row["rank"] = 3;
//   row.Dump();  // {"id":"q1","scores":[0.5,1.0],"rank":3}
//
// The members of an object keep the order in which they were added. base/json/json_reader.h parses
// text into such values. Large files, whose values are read once each, go through
// base/json/json_document.h instead, which builds no tree of strings.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace tandem {

class Json;
struct JsonMember;

// A value that is not what the caller asked for: "`step` is missing", "a string stands where a
// number is expected".
class JsonError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// How bytes are treated that are not UTF-8, which JSON cannot hold.
enum class JsonBytes {
  kRefuse,  // JsonError
  kReplace  // U+FFFD stands for them
};

template <typename T>
concept JsonNatural = std::unsigned_integral<T> && !std::same_as<T, bool>;
// A container other than a string.
template <typename T>
concept JsonRange =
    !std::same_as<T, Json> && !std::is_convertible_v<const T&, std::string_view> &&
    !std::same_as<std::remove_cvref_t<decltype(*std::begin(std::declval<const T&>()))>, T>;
// One of pairs becomes an object, another one an array.
template <typename T>
concept JsonMap = JsonRange<T> && !std::same_as<typename T::mapped_type, void>;
template <typename T>
concept JsonList = JsonRange<T> && !JsonMap<T>;

class Json {
 public:
  using Elements = std::vector<Json>;
  using Members = std::vector<JsonMember>;

  Json() noexcept;  // null
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  // The conversions are implicit, so that braces spell objects and arrays.
  Json(std::nullptr_t) noexcept : Json() {}
  template <std::same_as<bool> T>  // and no pointer
  Json(T value) noexcept : Json(Scalar<bool>{value}) {}
  template <std::signed_integral T>
  Json(T value) noexcept : Json(Scalar<int64_t>{value}) {}
  template <JsonNatural T>
  Json(T value) noexcept : Json(Scalar<uint64_t>{value}) {}
  template <std::floating_point T>
  Json(T value) noexcept : Json(Scalar<double>{value}) {}
  Json(std::string text);
  Json(std::string_view text);
  Json(const char* text);
  template <JsonList T>
  Json(const T& list) : Json(array()) {
    for (const auto& element : list) push_back(Json(element));
  }
  template <JsonMap T>
  Json(const T& map) : Json(object()) {
    for (const auto& [key, value] : map) Append(std::string(key), Json(value));
  }
  // An object where every element is an array of a string and a value, which must have different
  // strings, else an array.
  Json(std::initializer_list<Json> list);

  static Json array();
  static Json array(std::initializer_list<Json> list);
  static Json object();

  bool is_null() const { return std::holds_alternative<std::monostate>(value_); }
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_number() const { return is_number_integer() || is_number_float(); }
  bool is_number_integer() const {
    return std::holds_alternative<int64_t>(value_) || is_number_unsigned();
  }
  // An integer that is not negative, as a text or an unsigned type gave it.
  bool is_number_unsigned() const { return std::holds_alternative<uint64_t>(value_); }
  bool is_number_float() const { return std::holds_alternative<double>(value_); }
  bool is_string() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Elements>(value_); }
  bool is_object() const { return std::holds_alternative<Members>(value_); }
  // "null", "boolean", "number", "string", "array" or "object".
  std::string_view type_name() const;

  // The value as a bool, a string, a number, or a vector of these; a number of another type is
  // converted. Throws JsonError for a value of another kind.
  template <typename T>
  T get() const;
  const std::string& text() const;  // throws JsonError

  // Elements of an array or members of an object; null has none, every other value counts as one.
  size_t size() const;
  bool empty() const { return size() == 0; }

  // --- Arrays. A null becomes an empty one where an element is added. ---
  const Json* begin() const;  // of what is no array: an empty range
  const Json* end() const;
  Json* begin();
  Json* end();
  const Json& front() const { return at(0); }
  const Json& back() const { return at(size() - 1); }
  const Json& at(size_t index) const;  // throws JsonError
  const Json& operator[](size_t index) const { return at(index); }
  Json& operator[](size_t index) { return const_cast<Json&>(at(index)); }
  // Literal indices, which could be a null pointer to characters too.
  const Json& operator[](int index) const { return at(static_cast<size_t>(index)); }
  Json& operator[](int index) { return (*this)[static_cast<size_t>(index)]; }
  void push_back(Json value);

  // --- Objects. A null becomes an empty one where a member is added. ---
  const Members& items() const;  // of what is no object: none
  Members& items();
  bool contains(std::string_view key) const { return Find(key) != nullptr; }
  bool contains(std::initializer_list<std::string_view> path) const {
    return Find(path) != nullptr;
  }
  // Returns null where the member is absent or this is no object.
  const Json* Find(std::string_view key) const;
  Json* Find(std::string_view key);
  // The member of the innermost of nested objects.
  const Json* Find(std::initializer_list<std::string_view> path) const;
  const Json& at(std::string_view key) const;  // throws JsonError
  const Json& operator[](std::string_view key) const { return at(key); }
  Json& operator[](std::string_view key);  // adds a null where the member is absent
  const Json& operator[](const char* key) const { return at(std::string_view(key)); }
  Json& operator[](const char* key) { return (*this)[std::string_view(key)]; }
  // Adds a member whose key no other has, without looking at the others.
  void Append(std::string key, Json value);
  // Sets each member of `other`, an object.
  void Update(const Json& other);
  void erase(std::string_view key);
  // The member as T; `otherwise` where it is absent. Throws JsonError for another kind.
  template <typename T>
  T value(std::string_view key, T otherwise) const;
  template <typename T>
  T value(std::initializer_list<std::string_view> path, T otherwise) const;

  // Orders the members of this object, and of every one inside it, by the bytes of their keys.
  void SortMembers();
  Json Sorted() const;

  // The value as text: on one line without spaces, or with each member and element on a line of its
  // own that is indented by `indent` for each level. Numbers that are not finite become null.
  std::string Dump(int indent = -1, JsonBytes bytes = JsonBytes::kRefuse) const;

  // Numbers are equal by their values, objects whatever the order of their members.
  friend bool operator==(const Json& a, const Json& b);

 private:
  // The functions that make and destroy a value are in json.cc, because its types are not complete
  // here.
  template <typename T>
  struct Scalar {
    T value;
  };
  explicit Json(Scalar<bool> scalar) noexcept;
  explicit Json(Scalar<int64_t> scalar) noexcept;
  explicit Json(Scalar<uint64_t> scalar) noexcept;
  explicit Json(Scalar<double> scalar) noexcept;

  bool Boolean() const;
  int64_t Integer() const;
  uint64_t Natural() const;
  double Number() const;

  std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string, Elements, Members>
      value_;
};

struct JsonMember {
  std::string key;
  Json value;
};

template <typename T>
T Json::get() const {
  if constexpr (std::same_as<T, Json>) {
    return *this;
  } else if constexpr (std::same_as<T, bool>) {
    return Boolean();
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<T>(Integer());
  } else if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(Natural());
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(Number());
  } else if constexpr (std::same_as<T, std::string>) {
    return text();
  } else {
    if (!is_array()) throw JsonError("a list is expected");
    T list;
    for (const Json& element : *this) {
      list.push_back(element.template get<typename T::value_type>());
    }
    return list;
  }
}

template <typename T>
T Json::value(std::string_view key, T otherwise) const {
  const Json* const found = Find(key);
  return found == nullptr ? std::move(otherwise) : found->get<T>();
}

template <typename T>
T Json::value(std::initializer_list<std::string_view> path, T otherwise) const {
  const Json* const found = Find(path);
  return found == nullptr ? std::move(otherwise) : found->get<T>();
}

}  // namespace tandem
