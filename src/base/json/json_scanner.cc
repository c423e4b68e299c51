#include "base/json/json_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/utf8.h"

namespace tandem {
namespace {

constexpr size_t kMaxLevels = 512;
constexpr size_t kShownBytes = 40;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWordByte(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string Shown(std::string_view word) {
  return fmt::format("{}{}", word.substr(0, kShownBytes), word.size() > kShownBytes ? "..." : "");
}

// Says whether 64 bits, or for fractions a double, hold the number.
bool Fits(std::string_view number, bool is_integer) {
  const char* const end = number.data() + number.size();
  if (is_integer) {
    int64_t integer = 0;
    uint64_t natural = 0;
    return std::from_chars(number.data(), end, integer).ec == std::errc() ||
           (number[0] != '-' && std::from_chars(number.data(), end, natural).ec == std::errc());
  }
  double value = 0;
  const auto error = std::from_chars(number.data(), end, value).ec;
  if (error == std::errc()) return true;
  // Out of range: as good as zero, which parsers read, or infinite.
  const size_t exponent = number.find_first_of("eE");
  return exponent != number.npos && number.substr(exponent + 1).starts_with('-');
}

unsigned HexDigits(std::string_view four) {
  unsigned unit = 0;
  std::from_chars(four.data(), four.data() + four.size(), unit, 16);
  return unit;
}

// The text that a string's characters between the quotes stand for; they have been scanned.
std::string Unescaped(std::string_view raw) {
  constexpr std::string_view kNames = "bfnrt", kCharacters = "\b\f\n\r\t";
  std::string text;
  for (size_t at = 0; at < raw.size(); ++at) {
    if (raw[at] != '\\') {
      text += raw[at];
      continue;
    }
    const char escape = raw[++at];
    if (escape != 'u') {
      const size_t name = kNames.find(escape);
      text += name == kNames.npos ? escape : kCharacters[name];
      continue;
    }
    unsigned code = HexDigits(raw.substr(at + 1, 4));
    at += 4;
    if (code >= 0xD800 && code <= 0xDBFF) {  // the other half follows
      code = 0x10000 + ((code - 0xD800) << 10) + (HexDigits(raw.substr(at + 3, 4)) - 0xDC00);
      at += 6;
    }
    AppendUtf8(code, &text);
  }
  return text;
}

}  // namespace

std::optional<JsonFault> JsonScanner::Scan() {
  try {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    SkipBlanks();
    Value();
    SkipBlanks();
    if (!AtEnd()) FailBehind();
  } catch (JsonFault& fault) {
    return std::move(fault);
  }
  return std::nullopt;
}

void JsonScanner::Fail(std::string what, JsonFault::Kind kind) const {
  throw JsonFault{.kind = kind, .offset = at_, .where = Where(), .what = std::move(what)};
}

void JsonScanner::FailEnd(std::string_view expected) const {
  Fail(fmt::format("the text ends where {} is expected", expected), JsonFault::Kind::kEnd);
}

std::string JsonScanner::Where() const {
  std::string where;
  for (const Step& step : path_) {
    if (const auto* index = std::get_if<size_t>(&step)) {
      where += fmt::format("[{}]", *index);
    } else {
      if (!where.empty()) where += '.';
      where += Shown(std::get<std::string_view>(step));
    }
  }
  return where;
}

std::string_view JsonScanner::Word() const {
  const auto* const end = std::find_if_not(text_.begin() + at_, text_.end(), IsWordByte);
  return text_.substr(at_, static_cast<size_t>(end - text_.begin()) - at_);
}

void JsonScanner::SkipBlanks() {
  at_ = std::min(text_.size(), text_.find_first_not_of(" \t\r\n", at_));
}

void JsonScanner::FailWord() const {
  const std::string_view word = Word();
  const bool negative = at_ > 0 && text_[at_ - 1] == '-';
  for (const std::string_view name : {"NaN", "nan", "Infinity", "inf"}) {
    if (word != name) continue;
    Fail(
        fmt::format("{}{} is no number of JSON, though some programs write it; write null, or "
                    "leave the member out",
                    negative ? "-" : "", word));
  }
  for (const auto& [python, json] :
       {std::pair{"True", "true"}, {"False", "false"}, {"None", "null"}}) {
    if (word == python) {
      Fail(fmt::format("{} is Python's; JSON has {} (json.dumps writes it)", python, json));
    }
  }
  Fail(fmt::format("{} stands without quotes", Shown(word)));
}

void JsonScanner::FailAt(std::string_view expected) const {
  if (AtEnd()) FailEnd(expected);
  const std::string_view rest = text_.substr(at_);
  if (Peek() == '\'') {
    Fail(
        "a string in single quotes, as Python prints it; JSON's stand in double quotes "
        "(json.dumps writes them)");
  }
  if (rest.starts_with("//") || rest.starts_with("/*") || Peek() == '#') {
    Fail("a comment; JSON has none: remove it");
  }
  for (const std::string_view quote : {"\xE2\x80\x9C", "\xE2\x80\x9D", "\xE2\x80\x98"}) {
    if (rest.starts_with(quote)) Fail("a typographic quote; JSON's is the straight one, \"");
  }
  if (IsWordByte(Peek()) && !IsDigit(Peek())) FailWord();
  const int bytes = CharacterLength(rest);
  if (bytes < 0) {
    Fail(fmt::format("the byte 0x{:02X}", static_cast<unsigned char>(Peek())),
         JsonFault::Kind::kNoUtf8);
  }
  if (static_cast<unsigned char>(Peek()) < 0x20) {
    Fail(fmt::format("the control character U+{:04X} stands where {} is expected",
                     static_cast<unsigned char>(Peek()), expected));
  }
  Fail(fmt::format("{} stands where {} is expected", rest.substr(0, static_cast<size_t>(bytes)),
                   expected));
}

void JsonScanner::FailBehind() const {
  const bool second = Peek() == '{' || Peek() == '[';
  Fail(second ? "a second value begins after the first" : "something stands after the value",
       JsonFault::Kind::kBehind);
}

void JsonScanner::Value() {
  levels_ = std::max(levels_, path_.size());
  if (path_.size() >= kMaxLevels) Fail(fmt::format("more than {} levels are nested", kMaxLevels));
  switch (Peek()) {
    case '{':
      return Object();
    case '[':
      return Array();
    case '"': {
      const std::string_view raw = String();
      if (events_ != nullptr) events_->String(Unescaped(raw));
      return;
    }
    case '-':
      return Number();
    default:
      break;
  }
  if (IsDigit(Peek())) return Number();
  const size_t begin = at_;
  if (TakeWord("true") || TakeWord("false") || TakeWord("null")) {
    if (events_ != nullptr) events_->Word(text_.substr(begin, at_ - begin));
    return;
  }
  if (python_words_ && (TakeWord("NaN") || TakeWord("Infinity"))) {
    numbers_.push_back({begin, text_.substr(begin, at_ - begin)});
    return;
  }
  FailAt("a value");
}

bool JsonScanner::TakeWord(std::string_view word) {
  if (Word() != word) return false;
  at_ += word.size();
  return true;
}

void JsonScanner::Object() {
  ++at_;
  if (events_ != nullptr) events_->StartObject();
  SkipBlanks();
  if (Peek() == '}') {
    ++at_;
  } else {
    do {
      Member();
    } while (Separator('}'));
  }
  if (events_ != nullptr) events_->EndObject();
}

void JsonScanner::Member() {
  if (Peek() != '"') {
    if (IsWordByte(Peek())) Fail(fmt::format("the key {} stands without quotes", Shown(Word())));
    FailAt("a key in double quotes");
  }
  path_.emplace_back(String());
  if (events_ != nullptr) events_->Key(Unescaped(std::get<std::string_view>(path_.back())));
  SkipBlanks();
  if (Peek() != ':' || AtEnd()) FailAt("a colon, after the key,");
  ++at_;
  SkipBlanks();
  Value();
  path_.pop_back();
}

void JsonScanner::Array() {
  ++at_;
  if (events_ != nullptr) events_->StartArray();
  SkipBlanks();
  if (Peek() == ']') {
    ++at_;
  } else {
    size_t index = 0;
    do {
      path_.emplace_back(index++);
      Value();
      path_.pop_back();
    } while (Separator(']'));
  }
  if (events_ != nullptr) events_->EndArray();
}

bool JsonScanner::Separator(char close) {
  SkipBlanks();
  if (!AtEnd() && Peek() == close) {
    ++at_;
    return false;
  }
  if (Peek() == ',') {
    ++at_;
    SkipBlanks();
    if (Peek() == close) Fail(fmt::format("a comma before {}, after which nothing comes", close));
    return true;
  }
  if (Peek() == '"' || Peek() == '{' || Peek() == '[') {
    Fail(fmt::format("a comma is missing before the next {}", close == '}' ? "key" : "value"));
  }
  const size_t last = text_.find_last_not_of(" \t\r\n", at_ - 1);
  if (!Word().empty() && text_[last] == '"') {
    Fail(
        fmt::format("{} stands after a string that has ended; a quote inside a string is written "
                    "\\\"",
                    Shown(Word())));
  }
  FailAt(fmt::format("a comma or {}", close));
}

std::string_view JsonScanner::String() {
  const size_t begin = ++at_;
  while (!AtEnd() && Peek() != '"') {
    if (Peek() == '\\') {
      Escape();
    } else {
      Character();
    }
  }
  if (AtEnd()) Fail("the text ends inside a string", JsonFault::Kind::kEndInString);
  return text_.substr(begin, at_++ - begin);
}

void JsonScanner::Character() {
  const auto byte = static_cast<unsigned char>(Peek());
  if (byte < 0x20) {
    const std::string escape = byte == '\n'   ? "\\n"
                               : byte == '\t' ? "\\t"
                               : byte == '\r' ? "\\r"
                                              : fmt::format("\\u{:04x}", byte);
    Fail(fmt::format("the control character U+{:04X} stands in a string; write {}", byte, escape));
  }
  const int bytes = CharacterLength(text_.substr(at_));
  if (bytes < 0) Fail(fmt::format("the byte 0x{:02X}", byte), JsonFault::Kind::kNoUtf8);
  at_ += static_cast<size_t>(bytes);
}

// The four digits of \uXXXX, from the backslash on; nothing is consumed.
unsigned JsonScanner::CodeUnit() {
  unsigned unit = 0;
  const std::string_view digits = text_.substr(std::min(at_ + 2, text_.size()), 4);
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), unit, 16).ptr;
  if (digits.size() == 4 && end == digits.data() + 4) return unit;
  if (at_ + 2 + digits.size() == text_.size() && end == digits.data() + digits.size()) {
    Fail("the text ends inside a string", JsonFault::Kind::kEndInString);
  }
  Fail("\\u is not followed by four hexadecimal digits");
}

void JsonScanner::Escape() {
  const std::string_view rest = text_.substr(at_);
  if (rest.size() == 1) {
    Fail("the text ends inside a string", JsonFault::Kind::kEndInString);
  }
  if (rest[1] != 'u') {
    if (std::string_view("\"\\/bfnrt").find(rest[1]) == std::string_view::npos) {
      Fail(fmt::format("{} is no escape of JSON; a backslash itself is written \\\\",
                       rest.substr(0, 1 + size_t(std::max(0, CharacterLength(rest.substr(1)))))));
    }
    at_ += 2;
    return;
  }
  const unsigned unit = CodeUnit();
  const size_t begin = at_;
  at_ += 6;
  if (unit < 0xD800 || unit > 0xDFFF) return;
  const auto fail_alone = [&] {
    at_ = begin;
    Fail(
        fmt::format("the lone surrogate \\u{:04x}: half of a character, which no text has; remove "
                    "it, or write the other half too",
                    unit));
  };
  if (unit > 0xDBFF || !text_.substr(at_).starts_with("\\u")) fail_alone();
  const unsigned second = CodeUnit();
  if (second < 0xDC00 || second > 0xDFFF) fail_alone();
  at_ += 6;
}

void JsonScanner::Digits() {
  if (AtEnd()) FailEnd("a digit");
  if (!IsDigit(Peek())) Fail("a number is not written as JSON's are, such as -1.5e3");
  while (IsDigit(Peek())) ++at_;
}

void JsonScanner::Number() {
  const size_t begin = at_;
  if (Peek() == '-') ++at_;
  if (python_words_ && TakeWord("Infinity")) {
    numbers_.push_back({begin, text_.substr(begin, at_ - begin)});
    return;
  }
  if (std::isalpha(static_cast<unsigned char>(Peek())) != 0) FailWord();
  const bool zero = Peek() == '0';
  const size_t first = at_;
  Digits();
  if (zero && at_ > first + 1) {
    at_ = begin;
    Fail("a number has zeros before it; JSON's have none");
  }
  bool is_integer = true;
  if (Peek() == '.') {
    ++at_;
    Digits();
    is_integer = false;
  }
  if (Peek() == 'e' || Peek() == 'E') {
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    Digits();
    is_integer = false;
  }
  const std::string_view number = text_.substr(begin, at_ - begin);
  if (!Fits(number, is_integer)) numbers_.push_back({begin, number});
  if (events_ != nullptr) events_->Number(number);
}

}  // namespace tandem
