// Shows how far a long job is: a bar with rate and time left that is drawn again and again, or one
// line per period. The message sink decides which.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"

namespace tandem {

struct ProgressOptions {
  std::string label;                // "encode corpus"
  std::string unit = "texts";       // what is counted; "": only the share of the total is shown
  uint64_t total = 0;               // 0: not known
  uint64_t first = 0;               // units that an earlier process has done
  double line_period_seconds = 10;  // where lines are written: at most one in this time
  // The clock of rates and periods.
  std::function<std::chrono::steady_clock::time_point()> clock = std::chrono::steady_clock::now;
};

// Writes to the message sink that is installed when the Progress is made, which must outlive it;
// it is silent where there is none. Not thread-safe: one thread reports.
//
// A bar fills one row. Where the row is too narrow, the bar shrinks, then the rate goes, then the
// details from the last to the first, then the bar; counts and the time left stay.
class Progress {
 public:
  explicit Progress(ProgressOptions options);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress();

  // `done` units so far, those of an earlier process among them. `detail` is shown after them; its
  // parts are separated by ", ", the most important first ("loss 0.123, 512 tokens/s").
  void Update(uint64_t done, std::string_view detail = {});
  // The time left as the caller knows it, where the job has other work than its units; it is shown
  // until the next call. None: it follows from the rate.
  void SetSecondsLeft(std::optional<double> seconds) { seconds_left_ = seconds; }
  // Rate and time left count from now: what the job did before was preparation.
  void RestartClock();
  // Draws the final state and ends the line; nothing where there never was an Update. The
  // destructor calls it.
  void Finish();

 private:
  using Clock = std::chrono::steady_clock;
  void Draw(Clock::time_point now, bool last);
  // The line as it fits into `columns`; 0: any length, and no bar.
  std::string Line(Clock::time_point now, size_t columns) const;

  ProgressOptions options_;
  Clock::time_point start_;       // of this process's work
  Clock::time_point rate_start_;  // the rate counts from here, where `rate_first_` units were done
  uint64_t rate_first_;
  Clock::time_point last_draw_;
  uint64_t done_ = 0;
  bool updated_ = false;
  std::string detail_;
  std::optional<double> seconds_left_;
  MessageSink* sink_;
  ProgressView view_;
  bool drawn_ = false;  // the last thing that was drawn is the current state
  bool finished_ = false;
};

// "1h 02m", "3m 20s", "4s".
std::string FormatDuration(double seconds);

}  // namespace tandem
