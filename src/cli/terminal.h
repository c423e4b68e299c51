// What `tandem` writes on stderr: messages of the libraries, progress, and the error that ends it.
#pragma once

#include <atomic>
#include <string_view>

#include "base/log.h"

namespace tandem::app {

// The program's message sink. Colours are used on a terminal unless NO_COLOR is set. Each message
// is one write, so that the lines of several threads do not mix.
class Terminal final : public MessageSink {
 public:
  // The one of this process; made at the first call.
  static Terminal& Get();

  // Whether notes and progress are left out (`--quiet`); warnings and errors never are.
  void set_quiet(bool quiet) { quiet_ = quiet; }

  void Note(std::string_view message) override;
  // Writes `warning: MESSAGE`, the label in yellow.
  void Warn(std::string_view message) override;
  // Writes `error: MESSAGE`, the label in red.
  void Error(std::string_view message) const;

  ProgressView progress_view() const override;
  int columns() const override;
  void WriteProgress(std::string_view text) override;

 private:
  Terminal();
  void WriteLabelled(std::string_view label, int colour, std::string_view message) const;
  // A message takes the row of a bar that is being drawn; the next drawing comes below it.
  void ClearBar() const;

  bool is_terminal_;
  bool coloured_;
  bool quiet_ = false;
  std::atomic<bool> bar_is_open_ = false;  // the cursor stands after a bar
};

}  // namespace tandem::app
