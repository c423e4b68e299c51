#include "cli/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/output_style.h"

namespace tandem::app {
namespace {

void Write(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace

Terminal& Terminal::Get() {
  static Terminal terminal;
  return terminal;
}

Terminal::Terminal()
    : is_terminal_(::isatty(STDERR_FILENO) != 0), coloured_(is_terminal_ && !NoColourIsAsked()) {}

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
  ClearBar();
  Write(fmt::format("{}\n", message));
}

void Terminal::Warn(std::string_view message) { WriteLabelled("warning", 33, message); }
void Terminal::Error(std::string_view message) const { WriteLabelled("error", 31, message); }

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
  Write(text);
  bar_is_open_ = !text.ends_with('\n');
}

}  // namespace tandem::app
