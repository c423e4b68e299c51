#include "cli/help/help_text.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>

#include "cli/help/command_description.h"

namespace tandem::app {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kNameColumns = 28;  // the text of a longer name begins on the next line

// Formats "  NAME   TEXT", with the text wrapped between words and indented.
std::string HelpEntry(const std::string& name, std::string_view text) {
  std::string out = "  " + name;
  size_t column = out.size();
  if (column + 2 > kNameColumns) {
    out += '\n';
    column = 0;
  }
  out.append(kNameColumns - column, ' ');
  column = kNameColumns;
  while (!text.empty()) {
    const size_t length = std::min(text.find(' '), text.size());
    if (column > kNameColumns && column + 1 + length > kColumns) {
      out += '\n' + std::string(kNameColumns, ' ');
      column = kNameColumns;
    } else if (column > kNameColumns) {
      out += ' ';
      ++column;
    }
    out += text.substr(0, length);
    column += length;
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return out + '\n';
}

std::string UsageLine(const CommandDescription& command) {
  std::string line = "Usage: " + command.name;
  if (!command.commands.empty()) line += " COMMAND";
  for (const FlagDescription& flag : command.flags) {
    const std::string more = flag.argument && flag.repeated ? "..." : "";
    if (flag.required) line += " " + flag.Synopsis() + more;
    if (!flag.required && flag.argument) line += fmt::format(" [{}{}]", flag.Synopsis(), more);
  }
  return line + " [flags]\n";
}

std::string HelpOf(const CommandDescription& command) {
  std::string arguments, flags, commands;
  for (const FlagDescription& flag : command.flags) {
    (flag.argument ? arguments : flags) += HelpEntry(flag.Synopsis(), flag.text);
  }
  for (const CommandDescription& one : command.commands) {
    commands += HelpEntry(one.ShortName(), one.summary);
  }
  std::string text = command.summary + "\n\n" + UsageLine(command);
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  if (!commands.empty()) text += "\nCommands:\n" + commands;
  text += "\nFlags:\n" + flags;
  if (!command.footer.empty()) text += "\n" + command.footer + "\n";
  if (!command.examples.empty()) text += "\nExamples:\n";
  for (const Example& example : command.examples) {
    text += fmt::format("  # {}\n  {}\n", example.what, example.line);
  }
  return text;
}

class HelpText final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    return HelpOf(DescribeCommand(*app, name));
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpText() { return std::make_shared<HelpText>(); }

}  // namespace tandem::app
