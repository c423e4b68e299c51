#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace tandem {
namespace {

constexpr double kBarPeriodSeconds = 0.1;  // often enough to look alive, cheap enough to ignore
constexpr int kBarCells = 24;

double Seconds(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double>(span).count();
}

std::string FormatRate(double rate) {
  if (rate >= 1e6) return fmt::format("{:.1f}M", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.1f}k", rate / 1e3);
  return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 0);
}

}  // namespace

std::string FormatDuration(double seconds) {
  const auto whole = static_cast<int64_t>(seconds + 0.5);
  if (whole >= 3600) return fmt::format("{}h {:02}m", whole / 3600, whole % 3600 / 60);
  if (whole >= 60) return fmt::format("{}m {:02}s", whole / 60, whole % 60);
  return fmt::format("{}s", whole);
}

Progress::Progress(ProgressOptions options)
    : options_(std::move(options)),
      start_(Clock::now()),
      last_draw_(start_),
      sink_(CurrentMessageSink()),
      view_(sink_ != nullptr ? sink_->progress_view() : ProgressView::kNone) {}

Progress::~Progress() { Finish(); }

void Progress::Update(uint64_t done, std::string_view detail) {
  if (!started_) {  // a resumed run starts above zero: its rate counts from there
    started_ = true;
    first_ = done <= 1 ? 0 : done - 1;
  }
  drawn_ = drawn_ && done_ == done && detail_ == detail;
  done_ = done;
  detail_ = detail;
  const Clock::time_point now = Clock::now();
  const double period =
      view_ == ProgressView::kBar ? kBarPeriodSeconds : options_.line_period_seconds;
  if (Seconds(now - last_draw_) >= period) Draw(now, false);
}

void Progress::Finish() {
  if (finished_) return;
  finished_ = true;
  Draw(Clock::now(), true);
}

void Progress::Draw(Clock::time_point now, bool last) {
  if (view_ == ProgressView::kNone || (last && view_ == ProgressView::kLines && drawn_)) return;
  drawn_ = true;
  last_draw_ = now;
  std::string line = Line(now);
  if (view_ == ProgressView::kBar) {
    const auto columns = static_cast<size_t>(std::max(20, sink_->columns() - 1));
    if (line.size() > columns) line.resize(columns);
    line = "\r" + line + "\033[K";
  }
  if (view_ == ProgressView::kLines || last) line += '\n';
  sink_->WriteProgress(line);
}

std::string Progress::Line(Clock::time_point now) const {
  const double elapsed = std::max(1e-9, Seconds(now - start_));
  const double rate = static_cast<double>(done_ - std::min(done_, first_)) / elapsed;
  std::string line = options_.label;
  if (options_.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(done_) / static_cast<double>(options_.total));
    if (view_ == ProgressView::kBar) {
      const int filled = static_cast<int>(share * kBarCells);
      line += fmt::format(" [{:#<{}}{:.<{}}]", "", filled, "", kBarCells - filled);
    }
    line += fmt::format(" {:3.0f}% {}/{} {}", share * 100, done_, options_.total, options_.unit);
  } else {
    line += fmt::format(" {} {}", done_, options_.unit);
  }
  line += fmt::format(", {}/s", FormatRate(rate));
  if (!detail_.empty()) line += fmt::format(", {}", detail_);
  if (options_.total > done_ && rate > 0) {
    line += fmt::format(", {} left",
                        FormatDuration(static_cast<double>(options_.total - done_) / rate));
  } else {
    line += fmt::format(", {}", FormatDuration(elapsed));
  }
  return line;
}

}  // namespace tandem
