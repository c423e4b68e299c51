#include "text/regex/regex.h"

#include <fmt/format.h>

namespace tandem::text {

Regex Regex::Of(std::string_view text) {
  std::string pattern;
  const char* p = text.data();
  while (p < text.data() + text.size()) {
    pattern += fmt::format("\\x{{{:X}}}", static_cast<uint32_t>(NextCodePoint(p)));
  }
  return Regex(pattern);
}

}  // namespace tandem::text
