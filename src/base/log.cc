#include "base/log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace tandem {
namespace {

std::atomic<bool> quiet{false};

bool UseColour() {
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return StderrIsTerminal() && (no_color == nullptr || *no_color == '\0');
}

// One write per line, so that lines of several threads do not mix.
void WriteLine(const std::string& line) { std::fwrite(line.data(), 1, line.size(), stderr); }

void WriteLabelled(std::string_view label, const char* colour, std::string_view message) {
  WriteLine(UseColour() ? fmt::format("\033[{}m{}:\033[0m {}\n", colour, label, message)
                        : fmt::format("{}: {}\n", label, message));
}

}  // namespace

void SetQuiet(bool value) { quiet = value; }
bool IsQuiet() { return quiet; }

void Note(std::string_view message) {
  if (!quiet) WriteLine(fmt::format("{}\n", message));
}

void Warn(std::string_view message) { WriteLabelled("warning", "33", message); }
void ReportError(std::string_view message) { WriteLabelled("error", "31", message); }

bool StderrIsTerminal() { return ::isatty(STDERR_FILENO) != 0; }

}  // namespace tandem
