#include "cli/output_style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace tandem::app {

report::TextStyle OutputStyle() {
  report::TextStyle style;
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    style.columns = size.ws_col;
  style.bold = ::isatty(STDOUT_FILENO) != 0 && !NoColourIsAsked();
  return style;
}

bool NoColourIsAsked() {
  const char* no_color = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe)
  return no_color != nullptr && *no_color != '\0';
}

}  // namespace tandem::app
