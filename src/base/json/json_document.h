// Reads JSON in place: a parsed text, and views of its values that copy nothing. It serves large
// files (a tokenizer's 35 MB) and values that are read once; base/json/json_reader.h makes values
// that can be kept and changed.
//
//   const JsonDocument document(text);
//   for (const JsonElement token : document.root().Find("tokens")->elements()) ...
//
// No header of the parser's is included here, since it takes seconds to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/json_reader.h"

namespace tandem {

// A value of a document, which must outlive it. It is as cheap to copy as a pointer.
class JsonElement {
 public:
  enum class Kind { kNull, kBoolean, kInteger, kNumber, kString, kArray, kObject };

  // kInteger: a number without fraction and exponent; kNumber: every other one.
  Kind kind() const;
  // How messages say what was found: "an array", "an object", "a string", "a number", "a boolean"
  // or "null".
  std::string_view KindName() const;
  bool is_null() const { return kind() == Kind::kNull; }
  bool is_array() const { return kind() == Kind::kArray; }
  bool is_object() const { return kind() == Kind::kObject; }

  // Each is none for a value of another kind.
  std::optional<bool> Boolean() const;
  std::optional<int64_t> Integer() const;   // none where int64_t does not hold it
  std::optional<uint64_t> Natural() const;  // none for a negative one
  std::optional<double> Number() const;     // integers too
  std::optional<std::string_view> String() const;
  // The value as JSON text without spaces.
  std::string Minified() const;

  // The elements of an array, and the members of an object in the order of the text, with repeated
  // keys; of another value an empty range.
  class Elements;
  class Members;
  Elements elements() const;
  Members members() const;
  // The first member of that key; none where it is absent or this is no object.
  std::optional<JsonElement> Find(std::string_view key) const;
  // Returns none where this is no array or has fewer elements.
  std::optional<JsonElement> At(size_t index) const;

 private:
  friend class JsonDocument;

  // The members of the parser's own types.
  struct Place {
    const void* document = nullptr;
    size_t index = 0;
    bool operator==(const Place&) const = default;
  };
  explicit JsonElement(Place place) : place_(place) {}

  Place place_;
};

class JsonElement::Elements {
 public:
  class Iterator {
   public:
    JsonElement operator*() const { return JsonElement(place_); }
    Iterator& operator++();
    bool operator==(const Iterator&) const = default;

   private:
    friend class Elements;
    Place place_;
  };
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  bool empty() const { return begin_ == end_; }

 private:
  friend class JsonElement;
  Elements() = default;
  Elements(Place begin, Place end);
  Iterator begin_, end_;
};

struct JsonElementMember {
  std::string_view key;
  JsonElement value;
};

class JsonElement::Members {
 public:
  class Iterator {
   public:
    JsonElementMember operator*() const;
    Iterator& operator++();
    bool operator==(const Iterator&) const = default;

   private:
    friend class Members;
    Place place_;
  };
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }
  bool empty() const { return begin_ == end_; }

 private:
  friend class JsonElement;
  Members() = default;
  Members(Place begin, Place end);
  Iterator begin_, end_;
};

class JsonDocument {
 public:
  static constexpr size_t kMostLevels = 1000;

  // Copies the text. Numbers that 64 bits or a double do not hold do no harm where nobody reads
  // them: such an integer is read as a double near it, another one as an object. Throws
  // JsonTextError, and JsonLevelsError where more than `most_levels` arrays and objects lie in each
  // other.
  explicit JsonDocument(std::string_view text, size_t most_levels = kMostLevels);
  // Returns none where the parser refuses the text, be it for its numbers alone.
  static std::optional<JsonDocument> ParseStrictly(std::string_view text, size_t most_levels);

  JsonDocument(JsonDocument&&) noexcept;
  JsonDocument& operator=(JsonDocument&&) noexcept;
  ~JsonDocument();

  JsonElement root() const;

 private:
  struct State;
  explicit JsonDocument(std::unique_ptr<State> state);

  std::unique_ptr<State> state_;
};

}  // namespace tandem
