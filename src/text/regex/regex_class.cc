#include "text/regex/regex_class.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <mutex>
#include <string_view>
#include <vector>

#include "base/utf8.h"
#include "text/regex/pcre2_code.h"
#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

// Sets of fewer ranges are spelled out: comparing is as fast as looking up a property.
constexpr size_t kFewRanges = 8;
constexpr char32_t kLastLatin1 = 0xFF;

constexpr std::string_view kCategoryNames[] = {
    "Lu", "Ll", "Lt", "Lm", "Lo", "Mn", "Mc", "Me", "Nd", "Nl", "No", "Pc", "Pd", "Ps", "Pe",
    "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn"};

struct NamedSet {
  std::string_view name;  // as in \p{NAME}
  CodePointSet members;   // as the package knows it
};

// Each group before its parts.
std::vector<NamedSet> MakeProperties() {
  std::vector<NamedSet> properties;
  for (const std::string_view group : {"L", "M", "N", "P", "S"}) {
    uint32_t categories = 0;
    for (size_t i = 0; i < std::size(kCategoryNames); ++i) {
      if (kCategoryNames[i].front() == group.front()) categories |= uint32_t{1} << i;
    }
    properties.push_back({group, CodePointSet::OfCategories(categories)});
  }
  for (size_t i = 0; i < std::size(kCategoryNames); ++i) {
    properties.push_back({kCategoryNames[i], CodePointSet::OfCategories(uint32_t{1} << i)});
  }
  return properties;
}

std::string EveryCodePoint() {
  std::string text;
  const CodePointSet all(0, kLastCodePoint);
  for (const CodePointSet::Range& range : all.ranges()) {
    for (char32_t c = range.first; c <= range.last; ++c) AppendUtf8(c, &text);
  }
  return text;
}

CodePointSet AskPcre2(std::string_view name) {
  const std::string text = EveryCodePoint();
  const Pcre2Code code(fmt::format("\\p{{{}}}+", name));
  CodePointSet members;
  Pcre2Code::Match match{0, 0};
  while (code.Find(text, match.end, &match)) {
    const char* first = text.data() + match.begin;
    members.Add({NextCodePoint(first), CodePointBefore(text.data() + match.end)});
  }
  return members;
}

const CodePointSet& Pcre2Members(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string_view, CodePointSet> known;
  const std::scoped_lock lock(mutex);
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  return known.emplace(name, AskPcre2(name)).first->second;
}

std::string Spelled(const CodePointSet& set) {
  std::string spelled;
  for (const CodePointSet::Range& range : set.ranges()) {
    spelled += fmt::format("\\x{{{:X}}}", static_cast<uint32_t>(range.first));
    if (range.last == range.first) continue;
    spelled += fmt::format("-\\x{{{:X}}}", static_cast<uint32_t>(range.last));
  }
  return spelled;
}

}  // namespace

std::string Pcre2Class(const CodePointSet& set, bool negated) {
  static const std::vector<NamedSet> properties = MakeProperties();
  if (set.empty()) return negated ? "[\\x{0}-\\x{10FFFF}]" : "(?!)";
  std::string body;
  CodePointSet named;  // characters with the properties in `body`, by PCRE2
  std::string groups;
  for (const auto& [name, members] : properties) {
    if (groups.find(name.front()) != std::string::npos) continue;
    if (members.ranges().size() < kFewRanges || !set.Contains(members)) continue;
    if (name.size() == 1) groups += name;
    body += fmt::format("\\p{{{}}}", name);
    named.Add(Pcre2Members(name));
  }
  CodePointSet spelled = set.Without(named);
  // PCRE2 finds the first 256 characters in a bit map before it looks at properties.
  spelled.Add(set.And({0, kLastLatin1}));
  body = Spelled(spelled) + body;
  const CodePointSet excess = named.Without(set);
  if (excess.empty()) return fmt::format("[{}{}]", negated ? "^" : "", body);
  return negated ? fmt::format("(?:[^{}]|[{}])", body, Spelled(excess))
                 : fmt::format("(?:(?![{}])[{}])", Spelled(excess), body);
}

}  // namespace tandem::text
