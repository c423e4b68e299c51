#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands/completion/completion.h"

namespace tandem::app {
namespace {

using Kind = ValueCompletion::Kind;

// Fish gives a function the words so far; these commands say where among ours they are.
constexpr const char* kFishHead =
    R"(# fish completion of tandem, written by `tandem completion fish`
function __tandem_at --description 'Whether the words so far begin with these'
    set -l words (commandline -opc)[2..]
    test (count $words) -ge (count $argv); or return 1
    for i in (seq (count $argv))
        test $words[$i] = $argv[$i]; or return 1
    end
end
function __tandem_is --description 'Whether the words so far are these'
    __tandem_at $argv; and test (count (commandline -opc)) -eq (math (count $argv) + 1)
end
function __tandem_list --description 'These words after what stands before the last comma'
    set -l head (string match -r '.*,' -- (commandline -ct))
    for word in $argv
        echo $head$word
    end
end
complete -c tandem -f
)";

std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

// Returns " -x -a '...'", the words that fish offers for a value.
std::string Values(const ValueCompletion& completion, bool argument) {
  const std::string words = fmt::format("{}", fmt::join(completion.words, " "));
  const std::string takes = argument ? "" : " -x";
  switch (completion.kind) {
    case Kind::kNothing:
      return takes;
    case Kind::kWords:
    case Kind::kKeys:
      return fmt::format("{} -a {}", takes, Quoted(words));
    case Kind::kList:
      return fmt::format("{} -a {}", takes, Quoted(fmt::format("(__tandem_list {})", words)));
    case Kind::kFiles:
      return argument ? " -F" : " -r -F";
    case Kind::kFolders:
      return takes + " -a '(__fish_complete_directories)'";
  }
  return "";
}

std::string Line(const FlagDescription& flag, const std::string& where) {
  const ValueCompletion completion = CompletionOf(flag);
  if (flag.argument) {
    if (completion.kind == Kind::kNothing) return "";
    return fmt::format("complete -c tandem -n {}{}\n", Quoted(where), Values(completion, true));
  }
  std::string line = fmt::format("complete -c tandem -n {}", Quoted(where));
  for (const std::string& name : flag.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  if (!flag.value.empty()) line += Values(completion, false);
  return line + " -d " + Quoted(flag.text) + "\n";
}

std::string Lines(const CommandDescription& command) {
  const std::string here =
      (command.commands.empty() ? "__tandem_at" : "__tandem_is") + command.Route();
  std::string text;
  for (const CommandDescription& one : command.commands) {
    text += fmt::format("complete -c tandem -n {} -a {} -d {}\n", Quoted(here), one.ShortName(),
                        Quoted(one.summary));
  }
  for (const FlagDescription& flag : command.flags) text += Line(flag, here);
  for (const CommandDescription& one : command.commands) text += Lines(one);
  return text;
}

}  // namespace

std::string FishCompletion(const CommandDescription& program) { return kFishHead + Lines(program); }

}  // namespace tandem::app
