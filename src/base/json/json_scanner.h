// Reads JSON piece by piece. It finds the first fault of a text that the quicker parser has
// refused, and says it in the words of whoever wrote the text; and it tells a reader what it comes
// across, for texts that are refused at the first piece that does not belong to their format.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tandem {

struct JsonFault {
  enum class Kind {
    kOther,
    kEnd,          // the text ends inside a value
    kEndInString,  // and inside a string
    kBehind,       // something comes after the value
    kNoUtf8
  };
  Kind kind = Kind::kOther;
  size_t offset = 0;  // in bytes, from the start of the text
  std::string where;  // the member it is in: "input[1]"; empty: none
  std::string what;   // "a comma is missing before the next key"
};

// A number that a double or 64 bits do not hold, or a word that Python writes for one.
struct JsonNumber {
  size_t offset = 0;
  std::string_view text;
};

// The events of a scan, in the order of the text. An exception that a function throws ends the scan
// and leaves Scan.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void StartObject() = 0;
  virtual void Key(std::string key) = 0;
  virtual void EndObject() = 0;
  virtual void StartArray() = 0;
  virtual void EndArray() = 0;
  virtual void String(std::string text) = 0;
  virtual void Number(std::string_view digits) = 0;  // as the text has them
  virtual void Word(std::string_view word) = 0;      // true, false or null
};

class JsonScanner {
 public:
  // With `python_words`, NaN, Infinity and -Infinity are numbers, as Python's json module reads
  // and writes them. `text` must outlive the scanner.
  // `events` may be null.
  JsonScanner(std::string_view text, bool python_words, JsonEvents* events = nullptr)
      : text_(text), python_words_(python_words), events_(events) {}

  // Returns none where the text is JSON in UTF-8 (RFC 8259; a byte order mark may stand before it)
  // of at most 512 levels.
  std::optional<JsonFault> Scan();

  // Scan fills them, in the order of the text.
  const std::vector<JsonNumber>& numbers() const { return numbers_; }
  // How many arrays and objects lie around the innermost value, up to the fault.
  size_t levels() const { return levels_; }

 private:
  using Step = std::variant<std::string_view, size_t>;  // a key, or an index

  [[noreturn]] void Fail(std::string what, JsonFault::Kind kind = JsonFault::Kind::kOther) const;
  [[noreturn]] void FailEnd(std::string_view expected) const;
  [[noreturn]] void FailWord() const;
  // Reports that something else stands where `expected` should.
  [[noreturn]] void FailAt(std::string_view expected) const;
  [[noreturn]] void FailBehind() const;
  std::string Where() const;

  char Peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool AtEnd() const { return at_ == text_.size(); }
  // The letters, digits and underscores from here on.
  std::string_view Word() const;
  void SkipBlanks();
  void Value();
  void Object();
  void Member();
  void Array();
  // Reads what comes after a value of an object or array; false after the last one.
  bool Separator(char close);
  std::string_view String();
  void Escape();
  unsigned CodeUnit();
  void Character();
  void Number();
  void Digits();
  bool TakeWord(std::string_view word);

  std::string_view text_;
  bool python_words_;
  JsonEvents* events_;
  size_t at_ = 0;
  std::vector<Step> path_;
  std::vector<JsonNumber> numbers_;
  size_t levels_ = 0;
};

}  // namespace tandem
