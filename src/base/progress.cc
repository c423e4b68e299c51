#include "base/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"

namespace tandem {
namespace {

constexpr double kBarPeriodSeconds = 0.1;  // often enough to look alive, cheap enough to ignore
constexpr int kBarCells = 24;
constexpr int kLeastBarCells = 8;

double Seconds(std::chrono::steady_clock::duration span) {
  return std::chrono::duration<double>(span).count();
}

std::string FormatRate(double rate) {
  if (rate >= 1e6) return fmt::format("{:.1f}M", rate / 1e6);
  if (rate >= 1e4) return fmt::format("{:.1f}k", rate / 1e3);
  return fmt::format("{:.{}f}", rate, rate < 10 ? 2 : 0);
}

// The parts of a line.
struct LineParts {
  std::string label;
  std::optional<double> share;  // of the job; none: there is no bar
  std::string counts;           // " 33% 100/300 steps"
  std::string time;             // ", 4m 20s left"
  std::string rate;             // ", 0.52/s"
  std::vector<std::string> details;

  // The line with a bar of so many cells; 0: without a bar.
  std::string Join(int cells) const {
    std::string line = label;
    if (share && cells > 0) {
      const int filled = static_cast<int>(*share * cells);
      line += fmt::format(" [{:#<{}}{:.<{}}]", "", filled, "", cells - filled);
    }
    line += counts + time + rate;
    for (const std::string& detail : details) line += ", " + detail;
    return line;
  }
};

std::vector<std::string> PartsOf(std::string_view detail) {
  constexpr std::string_view kSeparator = ", ";
  std::vector<std::string> parts;
  while (!detail.empty()) {
    const size_t end = std::min(detail.find(kSeparator), detail.size());
    parts.emplace_back(detail.substr(0, end));
    detail.remove_prefix(std::min(detail.size(), end + kSeparator.size()));
  }
  return parts;
}

// The line with the largest bar that `columns` have room for; see progress.h for what goes first.
std::string Fitted(LineParts parts, size_t columns) {
  const auto over = [&](int cells) {
    const size_t size = parts.Join(cells).size();
    return size > columns ? static_cast<int>(size - columns) : 0;
  };
  int cells = std::max(kLeastBarCells, kBarCells - over(kBarCells));
  if (over(cells) > 0) parts.rate.clear();
  while (over(cells) > 0 && !parts.details.empty()) parts.details.pop_back();
  if (over(cells) > 0) cells = 0;
  std::string line = parts.Join(cells);
  if (line.size() > columns) line.resize(columns);
  return line;
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
      start_(options_.clock()),
      rate_start_(start_),
      rate_first_(options_.first),
      last_draw_(start_),
      done_(options_.first),
      sink_(CurrentMessageSink()),
      view_(sink_ != nullptr ? sink_->progress_view() : ProgressView::kNone) {}

Progress::~Progress() { Finish(); }

void Progress::Update(uint64_t done, std::string_view detail) {
  drawn_ = drawn_ && done_ == done && detail_ == detail;
  updated_ = true;
  done_ = done;
  detail_ = detail;
  const Clock::time_point now = options_.clock();
  const double period =
      view_ == ProgressView::kBar ? kBarPeriodSeconds : options_.line_period_seconds;
  if (Seconds(now - last_draw_) >= period) Draw(now, false);
}

void Progress::RestartClock() {
  rate_start_ = options_.clock();
  rate_first_ = done_;
}

void Progress::Finish() {
  if (finished_) return;
  finished_ = true;
  if (updated_) Draw(options_.clock(), true);
}

void Progress::Draw(Clock::time_point now, bool last) {
  if (view_ == ProgressView::kNone || (last && view_ == ProgressView::kLines && drawn_)) return;
  drawn_ = true;
  last_draw_ = now;
  std::string line;
  if (view_ == ProgressView::kBar) {
    // A terminal wraps a row that is filled to its last column.
    line = fmt::format("\r{}\033[K",
                       Line(now, static_cast<size_t>(std::max(20, sink_->columns() - 1))));
  } else {
    line = Line(now, 0);
  }
  if (view_ == ProgressView::kLines || last) line += '\n';
  sink_->WriteProgress(line);
}

std::string Progress::Line(Clock::time_point now, size_t columns) const {
  LineParts parts{.label = options_.label, .details = PartsOf(detail_)};
  const double seconds = Seconds(now - rate_start_);
  const double rate =
      done_ > rate_first_ ? static_cast<double>(done_ - rate_first_) / std::max(1e-9, seconds) : 0;
  const bool counted = !options_.unit.empty();
  if (rate > 0 && counted) parts.rate = fmt::format(", {}/s", FormatRate(rate));
  if (options_.total > 0) {
    parts.share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(options_.total));
    parts.counts = counted ? fmt::format(" {:3.0f}% {}/{} {}", *parts.share * 100, done_,
                                         options_.total, options_.unit)
                           : fmt::format(" {:5.1f}%", *parts.share * 100);
  } else {
    parts.counts = fmt::format(" {} {}", done_, options_.unit);
  }
  if (seconds_left_) {
    parts.time = fmt::format(", {} left", FormatDuration(*seconds_left_));
  } else if (options_.total <= done_) {
    parts.time = fmt::format(", {}", FormatDuration(Seconds(now - start_)));
  } else if (rate > 0) {
    parts.time = fmt::format(", {} left",
                             FormatDuration(static_cast<double>(options_.total - done_) / rate));
  }
  return columns == 0 ? parts.Join(0) : Fitted(std::move(parts), columns);
}

}  // namespace tandem
