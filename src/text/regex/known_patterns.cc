#include "text/regex/known_patterns.h"

#include <algorithm>

namespace tandem::text {
namespace {

// No match of these goes on with a space after a character from U+0021 to U+007E, and one matches
// wherever another ends: a word ends before such a space. None looks at what lies before a match.
constexpr std::string_view kWordPatterns[] = {
    kGpt2Pattern,
    // Llama 3
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    kQwen2Pattern,
    // DeepSeek V3, the last of three
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^)"
    "\r\n"
    R"(\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[)"
    "\r\n"
    R"(]*|\s*[)"
    "\r\n"
    R"(]+|\s+(?!\S)|\s+)",
};

// No match of these has a space or looks at what lies around it.
constexpr std::string_view kSpacelessPatterns[] = {
    R"(\p{N}{1,3})", R"(\p{N})", "[0-9][0-9][0-9]",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",  // DeepSeek
};

bool Has(std::span<const std::string_view> patterns, std::string_view pattern) {
  return std::find(patterns.begin(), patterns.end(), pattern) != patterns.end();
}

}  // namespace

std::span<const std::string_view> KnownWordPatterns() { return kWordPatterns; }
std::span<const std::string_view> KnownSpacelessPatterns() { return kSpacelessPatterns; }

PatternCuts CutsOf(std::string_view pattern) {
  if (Has(kWordPatterns, pattern)) return {Cuts::kAfterAscii, Cuts::kAfterAscii};
  if (Has(kSpacelessPatterns, pattern)) return {Cuts::kNowhere, Cuts::kAtSpaces};
  return {};
}

}  // namespace tandem::text
