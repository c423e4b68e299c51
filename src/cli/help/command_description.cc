#include "cli/help/command_description.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>

#include "cli/help/command_app.h"

namespace tandem::app {
namespace {

std::string TextOf(const CLI::Option& option, bool takes_value) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (takes_value && !option.get_default_str().empty()) {
    text += fmt::format(" [default: {}]", option.get_default_str());
  }
  return text;
}

std::string Capitals(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

}  // namespace

FlagDescription DescribeFlag(const CLI::Option& option) {
  const bool takes_value = option.get_items_expected_max() > 0;
  FlagDescription flag{.argument = option.get_positional(),
                       .required = option.get_required(),
                       .repeated = option.get_items_expected_max() > 1,
                       .value = takes_value ? option.get_type_name() : "",
                       .text = TextOf(option, takes_value)};
  if (flag.argument) {
    flag.names.push_back(option.get_name());
    return flag;
  }
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  return flag;
}

std::string FlagDescription::Synopsis() const {
  if (argument) {
    const bool any = value.empty() || value == "TEXT" || value == "INT" || value == "NUMBER";
    return any ? Capitals(names.front()) : value;
  }
  const std::string joined = fmt::format("{}", fmt::join(names, ", "));
  return value.empty() ? joined : joined + " " + value;
}

std::string CommandDescription::ShortName() const { return name.substr(name.rfind(' ') + 1); }

std::string CommandDescription::Route() const {
  const size_t end = name.find(' ');
  return end == std::string::npos ? "" : name.substr(end);
}

CommandDescription DescribeCommand(const CLI::App& app, const std::string& name) {
  CommandDescription command{
      .name = name, .summary = app.get_description(), .footer = app.get_footer()};
  if (const auto* with_examples = dynamic_cast<const CommandApp*>(&app)) {
    command.examples.assign(with_examples->examples().begin(), with_examples->examples().end());
  }
  const CLI::Option* help = app.get_help_ptr();
  for (const CLI::Option* option : app.get_options()) {
    if (option != help) command.flags.push_back(DescribeFlag(*option));
  }
  if (help != nullptr) command.flags.push_back(DescribeFlag(*help));
  for (const CLI::App* one : app.get_subcommands({})) {
    command.commands.push_back(DescribeCommand(*one, name + " " + one->get_name()));
  }
  return command;
}

}  // namespace tandem::app
