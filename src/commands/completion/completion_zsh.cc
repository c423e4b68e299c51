#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/completion/completion.h"

namespace tandem::app {
namespace {

using Kind = ValueCompletion::Kind;

// Escapes text within single quotes, at a place where colons and brackets have a meaning.
std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

// Returns the part of _arguments' specification that offers words for a value.
std::string Action(const FlagDescription& flag) {
  const ValueCompletion completion = CompletionOf(flag);
  std::string words;
  for (const std::string& word : completion.words) words += " " + Escaped(word);
  switch (completion.kind) {
    case Kind::kNothing:
      return " ";
    case Kind::kWords:
      return fmt::format("({})", words.empty() ? "" : words.substr(1));
    case Kind::kList:
      return fmt::format("_values -s , {}{}", flag.value, words);
    case Kind::kKeys:
      return fmt::format("{{compadd -S \"\" --{}}}", words);
    case Kind::kFiles:
      return "_files";
    case Kind::kFolders:
      return "_files -/";
  }
  return "";
}

std::string FlagSpecification(const FlagDescription& flag) {
  const std::string value =
      flag.value.empty() ? "" : fmt::format(":{}:{}", Escaped(flag.value), Action(flag));
  if (flag.argument) {
    return fmt::format("'{}:{}:{}'", flag.repeated ? "*" : "", Escaped(flag.names.front()),
                       Action(flag));
  }
  const std::string end = fmt::format("[{}]{}'", Escaped(flag.text), value);
  if (flag.repeated) return fmt::format("'*{}{}", flag.names.back(), end);
  if (flag.names.size() == 1) return fmt::format("'{}{}", flag.names.front(), end);
  return fmt::format("'({})'{{{}}}'{}", fmt::join(flag.names, " "), fmt::join(flag.names, ","),
                     end);
}

std::string ZshCases(const CommandDescription& command) {
  std::string text = fmt::format("    (\"{}\")\n      _arguments -S", command.Route());
  for (const FlagDescription& flag : command.flags) {
    text += " \\\n        " + FlagSpecification(flag);
  }
  if (!command.commands.empty()) {
    text += " \\\n        '1:command:((";
    for (const CommandDescription& one : command.commands) {
      text += fmt::format("{}{}\\:\"{}\"", &one == command.commands.data() ? "" : " ",
                          one.ShortName(), Escaped(one.summary));
    }
    text += "))'";
  }
  text += " ;;\n";
  for (const CommandDescription& one : command.commands) text += ZshCases(one);
  return text;
}

}  // namespace

std::string ZshCompletion(const CommandDescription& program) {
  return fmt::format(
      "#compdef tandem\n# zsh completion of tandem, written by `tandem completion zsh`\n_tandem() "
      "{{\n"
      "  local route= i\n"
      "  for ((i = 2; i < CURRENT; i++)); do\n"
      "    case \"$route ${{words[i]}}\" in\n"
      "      ({}) route=\"$route ${{words[i]}}\" ;;\n"
      "      (*) break ;;\n"
      "    esac\n"
      "  done\n"
      "  words=(\"${{(@)words[i - 1, -1]}}\")\n"
      "  ((CURRENT -= i - 2))\n"
      "  case $route in\n{}  esac\n}}\n"
      "if [ \"$funcstack[1]\" = _tandem ]; then _tandem \"$@\"; else compdef _tandem tandem; fi\n",
      fmt::join(QuotedRoutes(program), "|"), ZshCases(program));
}

}  // namespace tandem::app
