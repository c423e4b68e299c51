#include "cli/help/usage_message.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/help/command_description.h"

namespace tandem::app {
namespace {

// Returns "--model is required" for the first required flag or argument that is missing.
std::string MissingFlag(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_required() && option->count() == 0) {
      return fmt::format("{} is required", option->get_positional()
                                               ? DescribeFlag(*option).Synopsis()
                                               : option->get_name());
    }
  }
  return "something required is missing";
}

// Names two flags that were given and exclude each other.
std::string ExcludedFlags(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() == 0) continue;
    for (const CLI::Option* other : option->get_excludes()) {
      if (other->count() == 0) continue;
      return fmt::format("{} excludes {}; give one of them", option->get_name(), other->get_name());
    }
  }
  return "two flags exclude each other";
}

// Names the flag with a wrong number of values: "--quiet=x" if --quiet takes no value; else the
// last word is a flag whose value is missing, because a flag takes whatever word follows it.
std::string WrongNumberOfValues(const CLI::App& app, std::span<const char* const> words) {
  for (const std::string_view word : words) {
    const size_t sign = word.find('=');
    if (word.empty() || word.front() != '-' || sign == std::string_view::npos) continue;
    const std::string name(word.substr(0, sign));
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option != nullptr && option->get_items_expected_max() == 0) {
      return fmt::format("{} takes no value; found {}", name, word.substr(sign + 1));
    }
  }
  const std::string_view last = words.empty() ? "a flag" : words.back();
  return fmt::format("{} needs a value", last.substr(0, last.find('=')));
}

}  // namespace

std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error,
                         std::span<const char* const> words) {
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) return MissingFlag(app);
  if (dynamic_cast<const CLI::ExcludesError*>(&error) != nullptr) return ExcludedFlags(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    return WrongNumberOfValues(app, words);
  }
  return error.what();  // no other error is known, because flags.cc checks values itself
}

}  // namespace tandem::app
