#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/completion/completion.h"

namespace tandem::app {
namespace {

using Kind = ValueCompletion::Kind;

constexpr const char* kBashHead =
    R"(# bash completion of tandem, written by `tandem completion bash`
_tandem_words() { COMPREPLY=($(compgen -W "$1" -- "$current")); }
_tandem_list() {
  local head=
  [[ $current != *,* ]] || head=${current%,*},
  COMPREPLY=($(compgen -P "$head" -W "$1" -- "${current##*,}"))
}
_tandem_keys() {
  _tandem_words "$1"
  compopt -o nospace 2>/dev/null
}
_tandem_files() {
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
_tandem() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} route= i
  COMPREPLY=()
  # --flag=value comes as three words.
  if [[ $current == = ]]; then
    current=
  elif [[ $previous == = ]]; then
    previous=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
)";

// Returns the call that offers words for a value; "" if there are none.
std::string Offer(const ValueCompletion& completion) {
  const std::string words = fmt::format("{}", fmt::join(completion.words, " "));
  switch (completion.kind) {
    case Kind::kNothing:
      return "";
    case Kind::kWords:
      return fmt::format("_tandem_words '{}'", words);
    case Kind::kList:
      return fmt::format("_tandem_list '{}'", words);
    case Kind::kKeys:
      return fmt::format("_tandem_keys '{}'", words);
    case Kind::kFiles:
      return "_tandem_files -f";
    case Kind::kFolders:
      return "_tandem_files -d";
  }
  return "";
}

// Writes the case for a command's flags and values, and then those of its parts.
std::string BashCases(const CommandDescription& command) {
  std::vector<std::string> flags;
  std::string values, argument;
  for (const FlagDescription& flag : command.flags) {
    const std::string offer = Offer(CompletionOf(flag));
    if (flag.argument) {
      if (argument.empty()) argument = offer;
      continue;
    }
    flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    if (flag.value.empty()) continue;
    values += fmt::format("        {}) {}{}return ;;\n", fmt::join(flag.names, " | "), offer,
                          offer.empty() ? "" : "; ");
  }
  if (!command.commands.empty()) {
    std::string names;
    for (const CommandDescription& one : command.commands) names += " " + one.ShortName();
    argument = fmt::format("_tandem_words '{}'", names.substr(1));
  }
  std::string text = fmt::format("    \"{}\")\n", command.Route());
  if (!values.empty()) text += "      case $previous in\n" + values + "      esac\n";
  text += fmt::format("      if [[ $current == -* ]]; then _tandem_words '{}'; else {}; fi ;;\n",
                      fmt::join(flags, " "), argument.empty() ? ":" : argument);
  for (const CommandDescription& one : command.commands) text += BashCases(one);
  return text;
}

}  // namespace

std::string BashCompletion(const CommandDescription& program) {
  return fmt::format(
      "{}    case \"$route ${{COMP_WORDS[i]}}\" in\n      {}) route+=\" ${{COMP_WORDS[i]}}\" ;;\n"
      "      *) break ;;\n    esac\n  done\n  case $route in\n{}  esac\n}}\ncomplete -F _tandem "
      "tandem\n",
      kBashHead, fmt::join(QuotedRoutes(program), " | "), BashCases(program));
}

}  // namespace tandem::app
