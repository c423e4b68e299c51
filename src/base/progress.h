// A progress bar with rate and time left, or one line per period, as the message sink shows it.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/log.h"

namespace tandem {

struct ProgressOptions {
  std::string label;                // "encode corpus"
  std::string unit = "texts";       // what is counted
  uint64_t total = 0;               // 0: not known
  double line_period_seconds = 10;  // where lines are written: at most one in this time
};

// Writes to the message sink that is installed when it is made, which must outlive it; silent where
// there is none. Not thread-safe: one thread reports.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // `done` units so far; `detail` is shown behind them ("loss 0.123").
  void Update(uint64_t done, std::string_view detail = {});
  // Draws the final state and ends the line. The destructor calls it.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  void Draw(Clock::time_point now, bool last);
  std::string Line(Clock::time_point now) const;

  ProgressOptions options_;
  Clock::time_point start_;
  Clock::time_point last_draw_;
  uint64_t done_ = 0;
  uint64_t first_ = 0;
  bool started_ = false;
  std::string detail_;
  MessageSink* sink_;
  ProgressView view_;
  bool drawn_ = false;  // the current state is on the screen
  bool finished_ = false;
};

// "1h 02m", "3m 20s", "4s".
std::string FormatDuration(double seconds);

}  // namespace tandem
