// Writes to stderr: messages of the libraries, progress, and the error that ends the program.
#pragma once

#include <atomic>
#include <string_view>

#include "base/log.h"

namespace tandem::app {

// The message sink of the program. Colours are used on a terminal unless NO_COLOR is set. Each
// message is one write, so that the lines of several threads do not mix.
class Terminal final : public MessageSink {
 public:
  // Returns the object of this process, which the first call makes.
  static Terminal& Get();

  // Whether notes and progress are left out (`--quiet`); warnings and errors never are.
  void set_quiet(bool quiet) { quiet_ = quiet; }

  void Note(std::string_view message) override;
  // Writes `warning: MESSAGE`, with a yellow label.
  void Warn(std::string_view message) override;
  // Writes `error: MESSAGE`, with a red label.
  void Error(std::string_view message) const;

  ProgressView progress_view() const override;
  int columns() const override;
  void WriteProgress(std::string_view text) override;

 private:
  Terminal();
  void WriteLabelled(std::string_view label, int colour, std::string_view message) const;
  // Clears a progress bar, so that a message can take its row; the bar is next drawn below the
  // message.
  void ClearBar() const;

  bool is_terminal_;
  bool coloured_;
  bool quiet_ = false;
  std::atomic<bool> bar_is_open_ = false;  // the cursor is at the end of a bar
};

}  // namespace tandem::app
