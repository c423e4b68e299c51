// The messages about a command line that CLI11 refuses.
//
// CLI11's own sentences differ between its versions; these do not.
#pragma once

#include <span>
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tandem::app {

// Returns one line without "error: ". `app` is the command whose flags were read, or the program if
// no command was named; `words` are all words of the command line.
std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error,
                         std::span<const char* const> words);

}  // namespace tandem::app
