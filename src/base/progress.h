// A progress bar with rate and time left on a terminal; one line per period otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace tandem {

struct ProgressOptions {
  std::string label;                // "encode corpus"
  std::string unit = "texts";       // what is counted
  uint64_t total = 0;               // 0: not known
  double line_period_seconds = 10;  // without a terminal: at most one line in this time
};

// Writes to stderr; silent under `--quiet`. Not thread-safe: one thread reports.
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
  bool terminal_;
  bool drawn_ = false;  // the current state is on the screen
  bool finished_ = false;
};

// "1h 02m", "3m 20s", "4s".
std::string FormatDuration(double seconds);

}  // namespace tandem
