#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/json/json.h"
#include "cli/error_record.h"
#include "cli/output_style.h"

namespace tandem::app {
namespace {

void Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

// Paths and texts of users may have bytes that JSON cannot hold.
void WriteLine(const Json& record) { Write(record.Dump(-1, JsonBytes::kReplace) + "\n"); }

std::string AskedForm() {
  const char* value = std::getenv("TANDEM_MESSAGES");  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

}  // namespace

void Terminal::CheckForm() {
  const std::string form = AskedForm();
  if (form.empty() || form == "text" || form == "json") return;
  throw UsageError(fmt::format("TANDEM_MESSAGES is {}; expected text or json", form));
}

Terminal& Terminal::Get() {
  static Terminal terminal;
  return terminal;
}

Terminal::Terminal()
    : json_(AskedForm() == "json"),
      is_terminal_(!json_ && ::isatty(STDERR_FILENO) != 0),
      coloured_(is_terminal_ && !NoColourIsAsked()) {}

void Terminal::ClearBar() const {
  if (bar_is_open_) Write("\r\033[K");
}

void Terminal::WriteLabelled(std::string_view label, int colour, std::string_view message) const {
  ClearBar();
  Write(coloured_ ? fmt::format("\033[{}m{}:\033[0m {}\n", colour, label, message)
                  : fmt::format("{}: {}\n", label, message));
}

void Terminal::Note(std::string_view message) {
  if (quiet_) return;
  if (json_) return WriteLine({{"message", "note"}, {"text", message}});
  ClearBar();
  Write(fmt::format("{}\n", message));
}

void Terminal::Warn(std::string_view message) {
  if (json_) return WriteLine({{"message", "warning"}, {"text", message}});
  WriteLabelled("warning", 33, message);
}

void Terminal::Error(std::string_view message, const tandem::Error& error) const {
  if (json_) return WriteLine(ErrorRecord(message, error));
  WriteLabelled("error", 31, message);
}

ProgressView Terminal::progress_view() const {
  if (quiet_) return ProgressView::kNone;
  return is_terminal_ ? ProgressView::kBar : ProgressView::kLines;
}

int Terminal::columns() const {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

void Terminal::WriteProgress(std::string_view text) {
  if (json_) {
    if (text.ends_with('\n')) text.remove_suffix(1);
    return WriteLine({{"message", "progress"}, {"text", text}});
  }
  Write(text);
  bar_is_open_ = !text.ends_with('\n');
}

}  // namespace tandem::app
