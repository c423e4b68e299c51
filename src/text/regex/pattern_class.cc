#include "text/regex/pattern_class.h"

#include <fmt/format.h>

#include <cctype>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

constexpr int kMaxClassDepth = 20;  // of classes within classes

uint32_t MaskOf(std::initializer_list<Category> categories) {
  uint32_t mask = 0;
  for (const Category category : categories) mask |= uint32_t{1} << static_cast<int>(category);
  return mask;
}

// The bits from `first` to `last`, in the order of Category.
uint32_t MaskOf(Category first, Category last) {
  uint32_t mask = 0;
  for (auto i = static_cast<int>(first); i <= static_cast<int>(last); ++i) mask |= uint32_t{1} << i;
  return mask;
}

struct NamedCategories {
  std::string_view name;
  uint32_t categories;
};

// General categories, alone and in groups, by the names of the Unicode Standard.
const std::vector<NamedCategories>& PropertyNames() {
  using enum Category;
  static const std::vector<NamedCategories> names = {
      {"L", MaskOf(kLu, kLo)}, {"M", MaskOf(kMn, kMe)}, {"N", MaskOf(kNd, kNo)},
      {"P", MaskOf(kPc, kPo)}, {"S", MaskOf(kSm, kSo)}, {"Z", MaskOf(kZs, kZp)},
      {"C", MaskOf(kCc, kCn)}, {"Lu", MaskOf({kLu})},   {"Ll", MaskOf({kLl})},
      {"Lt", MaskOf({kLt})},   {"Lm", MaskOf({kLm})},   {"Lo", MaskOf({kLo})},
      {"Mn", MaskOf({kMn})},   {"Mc", MaskOf({kMc})},   {"Me", MaskOf({kMe})},
      {"Nd", MaskOf({kNd})},   {"Nl", MaskOf({kNl})},   {"No", MaskOf({kNo})},
      {"Pc", MaskOf({kPc})},   {"Pd", MaskOf({kPd})},   {"Ps", MaskOf({kPs})},
      {"Pe", MaskOf({kPe})},   {"Pi", MaskOf({kPi})},   {"Pf", MaskOf({kPf})},
      {"Po", MaskOf({kPo})},   {"Sm", MaskOf({kSm})},   {"Sc", MaskOf({kSc})},
      {"Sk", MaskOf({kSk})},   {"So", MaskOf({kSo})},   {"Zs", MaskOf({kZs})},
      {"Zl", MaskOf({kZl})},   {"Zp", MaskOf({kZp})},   {"Cc", MaskOf({kCc})},
      {"Cf", MaskOf({kCf})},   {"Co", MaskOf({kCo})},   {"Cn", MaskOf({kCn})}};
  return names;
}

CodePointSet Property(std::string_view name) {
  std::string known;
  for (const NamedCategories& entry : PropertyNames()) {
    if (entry.name == name) return CodePointSet::OfCategories(entry.categories);
    known += known.empty() ? "" : ", ";
    known += entry.name;
  }
  throw PatternError(
      fmt::format("the property \"{}\" is not supported; supported: {}", name, known));
}

// Reads what follows "\p" or "\P": "{L}" or "{^L}".
PatternClass ReadProperty(PatternCursor* in, bool negated) {
  if (!in->Take("{")) throw PatternError("expected \"{\" after \\p");
  if (in->Take("^")) negated = !negated;
  std::string name;
  while (!in->AtEnd() && in->Peek() != U'}') AppendUtf8(in->Next(), &name);
  if (!in->Take("}")) throw PatternError("expected \"}\" after \\p{");
  return {Property(name), negated};
}

CodePointSet Spaces() {
  CodePointSet spaces = CodePointSet::OfCategories(MaskOf(Category::kZs, Category::kZp));
  spaces.Add({0x9, 0xD});
  spaces.Add({0x85, 0x85});
  return spaces;
}

CodePointSet HexDigits() {
  CodePointSet digits('0', '9');
  digits.Add({'A', 'F'});
  digits.Add({'a', 'f'});
  return digits;
}

// \s and its like, inside and outside of "[...]".
std::optional<PatternClass> ReadEscapedClass(PatternCursor* in) {
  for (const bool negated : {false, true}) {
    if (in->Take(negated ? "\\P" : "\\p")) return ReadProperty(in, negated);
    if (in->Take(negated ? "\\S" : "\\s")) return PatternClass{Spaces(), negated};
    if (in->Take(negated ? "\\D" : "\\d")) return PatternClass{Property("Nd"), negated};
    if (in->Take(negated ? "\\H" : "\\h")) return PatternClass{HexDigits(), negated};
    if (in->Take(negated ? "\\W" : "\\w")) {
      return PatternClass{CodePointSet::OfWordCharacters(), negated};
    }
  }
  return {};
}

// Exactly `digits` hexadecimal ones, or, where it is 0, as many as there are.
char32_t ReadHex(PatternCursor* in, int digits) {
  constexpr int kMaxDigits = 8;
  char32_t value = 0;
  int read = 0;
  while (read < (digits > 0 ? digits : kMaxDigits) && HexDigits().Contains(in->Peek())) {
    const char32_t c = in->Next();
    value = value * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    ++read;
  }
  if (read == 0 || (digits > 0 && read < digits) || value > kLastCodePoint ||
      (value >= 0xD800 && value < 0xE000)) {
    throw PatternError("an escape \\x or \\u names no character");
  }
  return value;
}

// Reads what follows the "\" of one character.
char32_t ReadEscape(PatternCursor* in) {
  static constexpr std::pair<char32_t, char32_t> kControls[] = {
      {U't', 0x09}, {U'n', 0x0A}, {U'v', 0x0B}, {U'f', 0x0C},
      {U'r', 0x0D}, {U'a', 0x07}, {U'e', 0x1B}};
  const char32_t c = in->Next();
  for (const auto& [letter, control] : kControls) {
    if (c == letter) return control;
  }
  if (c == U'u') return ReadHex(in, 4);
  if (c == U'x') {
    const bool braces = in->Take("{");
    const char32_t value = ReadHex(in, braces ? 0 : 2);
    if (braces && !in->Take("}")) throw PatternError("expected \"}\" after \\x{");
    // Oniguruma reads a byte where there are no braces.
    if (!braces && value >= 0x80) throw PatternError("\\x80 to \\xFF are not supported");
    return value;
  }
  const bool letter = c < 0x80 && std::isalnum(static_cast<int>(c)) != 0;
  if (letter || c >= 0x80) {
    std::string name;
    AppendUtf8(c, &name);
    throw PatternError(fmt::format("the escape \"\\{}\" is not supported", name));
  }
  return c;
}

CodePointSet ReadList(PatternCursor* in, int depth);

// One range, character, escape or class inside of "[...]".
CodePointSet ReadItem(PatternCursor* in, int depth) {
  if (in->Take("[:")) throw PatternError("classes such as [:alpha:] are not supported");
  if (in->Take("[^")) return ReadList(in, depth + 1).Complement();
  if (in->Take("[")) return ReadList(in, depth + 1);
  if (const auto escaped = ReadEscapedClass(in)) {
    PatternCursor ahead = *in;
    if (ahead.Take("-") && ahead.Peek() != U']') {
      throw PatternError("a range that starts at a class is not supported");
    }
    return escaped->Members();
  }
  const char32_t first = in->Take("\\") ? ReadEscape(in) : in->Next();
  PatternCursor ahead = *in;
  if (!ahead.Take("-") || ahead.AtEnd() || ahead.Peek() == U']') return {first, first};
  *in = ahead;
  if (in->Peek() == U'[' || ReadEscapedClass(&ahead)) {
    throw PatternError("a range that ends at a class is not supported");
  }
  const char32_t last = in->Take("\\") ? ReadEscape(in) : in->Next();
  if (last < first) throw PatternError("a range ends before it starts");
  return {first, last};
}

// Reads what follows "[" or "[^", to the "]". `&&` binds less than the items' union.
CodePointSet ReadList(PatternCursor* in, int depth) {
  if (depth > kMaxClassDepth) {
    throw PatternError(fmt::format("classes are nested more than {} deep", kMaxClassDepth));
  }
  if (in->Peek() == U']') throw PatternError("a class starts with \"]\"; write \"\\]\"");
  std::optional<CodePointSet> before;  // the intersection of what stands before the last &&
  CodePointSet items;
  while (!in->Take("]")) {
    if (in->AtEnd()) throw PatternError("a class is not closed");
    if (in->Take("&&")) {
      before = before ? before->And(items) : items;
      items = {};
    } else {
      items.Add(ReadItem(in, depth));
    }
  }
  return before ? before->And(items) : items;
}

}  // namespace

std::optional<PatternClass> ReadClass(PatternCursor* in) {
  if (in->Take(".")) return PatternClass{{'\n', '\n'}, true};
  if (in->Take("[^")) return PatternClass{ReadList(in, 0), true};
  if (in->Take("[")) return PatternClass{ReadList(in, 0), false};
  return ReadEscapedClass(in);
}

char32_t ReadCharacter(PatternCursor* in) { return in->Take("\\") ? ReadEscape(in) : in->Next(); }

}  // namespace tandem::text
