#include "weights/settings/prompt_choice.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace tandem::weights {
namespace {

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_';
  });
}

// The character that a backslash and `letter` stand for; 0: they stand for themselves.
char Escaped(char letter) {
  switch (letter) {
    case 'n':
      return '\n';
    case 't':
      return '\t';
    case '\\':
      return '\\';
    default:
      return 0;
  }
}

std::string Unescaped(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const char escaped = text[i] == '\\' && i + 1 < text.size() ? Escaped(text[i + 1]) : '\0';
    plain += escaped == 0 ? text[i] : escaped;
    if (escaped != 0) ++i;
  }
  return plain;
}

}  // namespace

std::string ChoosePrompt(const ModelFolder& folder, std::string_view choice) {
  const auto found = folder.prompts.find(std::string(choice));
  if (found != folder.prompts.end()) return found->second;
  if (!IsWord(choice)) return Unescaped(choice);
  std::vector<std::string_view> names;
  for (const auto& [name, text] : folder.prompts) names.push_back(name);
  throw UsageError(fmt::format(
      "{}: has no prompt named {}; it has {}{}. A text may be given too, as \"{}: \"",
      folder.path.native(), choice, fmt::join(names, ", "), DidYouMean(choice, names), choice));
}

std::string PromptOnOneLine(std::string_view prompt) {
  std::string line;
  for (const char c : prompt) {
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (c == '\\') {
      line += "\\\\";
    } else {
      line += c;
    }
  }
  return line;
}

}  // namespace tandem::weights
