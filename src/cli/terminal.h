// Writes to stderr: messages of the libraries, progress, and the error that ends the program. For a
// program that has started this one they are JSON (TANDEM_MESSAGES), an object a line.
#pragma once

#include <atomic>
#include <string_view>

#include "base/error.h"
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
  // Writes `error: MESSAGE`, with a red label; as JSON the error's class, exit code and facts too.
  // `message` may say more than the error does by itself.
  void Error(std::string_view message, const tandem::Error& error) const;

  // Whether messages are JSON: TANDEM_MESSAGES is "json".
  bool json() const { return json_; }
  // Throws UsageError where TANDEM_MESSAGES is neither empty, "text" nor "json".
  static void CheckForm();

  ProgressView progress_view() const override;
  int columns() const override;
  void WriteProgress(std::string_view text) override;

 private:
  Terminal();
  void WriteLabelled(std::string_view label, int colour, std::string_view message) const;
  // Clears a progress bar, so that a message can take its row; the bar is next drawn below the
  // message.
  void ClearBar() const;

  bool json_;
  bool is_terminal_;
  bool coloured_;
  bool quiet_ = false;
  std::atomic<bool> bar_is_open_ = false;  // the cursor is at the end of a bar
};

}  // namespace tandem::app
