#include "app/help_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::app {
namespace {

constexpr size_t kColumns = 100;
constexpr size_t kNameColumns = 28;  // a longer name has its text on the next lines

// "  NAME   TEXT", the text wrapped between words and indented.
std::string Entry(const std::string& name, std::string_view text) {
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

bool TakesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

// "-q, --quiet", "--format text|json".
std::string FlagName(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return fmt::format("{}{}{}", fmt::join(names, ", "), TakesValue(option) ? " " : "",
                     TakesValue(option) ? option.get_type_name() : "");
}

std::string Description(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (TakesValue(option) && !option.get_default_str().empty()) {
    text += fmt::format(" [default: {}]", option.get_default_str());
  }
  return text;
}

std::string UsageLine(const CLI::App& app, const std::string& name) {
  std::string line = "Usage: " + name;
  if (!app.get_subcommands({}).empty()) line += " COMMAND";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      line += option->get_required() ? " " + option->get_name() : " [" + option->get_name() + "]";
    } else if (option->get_required()) {
      line += " " + FlagName(*option);
    }
  }
  return line + " [flags]\n";
}

class HelpText final : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode /*mode*/) const override {
    std::string arguments, flags, commands;
    for (const CLI::Option* option : app->get_options()) {
      if (option == app->get_help_ptr()) continue;
      if (option->get_positional()) {
        arguments += Entry(option->get_name(), Description(*option));
      } else {
        flags += Entry(FlagName(*option), Description(*option));
      }
    }
    flags += Entry(FlagName(*app->get_help_ptr()), Description(*app->get_help_ptr()));
    for (const CLI::App* command : app->get_subcommands({})) {
      commands += Entry(command->get_name(), command->get_description());
    }
    std::string text = app->get_description() + "\n\n" + UsageLine(*app, name);
    if (!arguments.empty()) text += "\nArguments:\n" + arguments;
    if (!commands.empty()) text += "\nCommands:\n" + commands;
    text += "\nFlags:\n" + flags;
    if (!app->get_footer().empty()) text += "\n" + app->get_footer() + "\n";
    return text;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> MakeHelpText() { return std::make_shared<HelpText>(); }

}  // namespace tandem::app
