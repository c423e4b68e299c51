// What a progress line shows, and what it leaves out where a row is narrow.
#include "base/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/captured_messages.h"

namespace tandem {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

// A terminal of so many columns that keeps what was drawn last.
class Screen final : public MessageSink {
 public:
  explicit Screen(int columns) : columns_(columns), before_(SetMessageSink(this)) {}
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen() override { SetMessageSink(before_); }

  void Note(std::string_view) override {}
  void Warn(std::string_view) override {}
  ProgressView progress_view() const override { return ProgressView::kBar; }
  int columns() const override { return columns_; }
  void WriteProgress(std::string_view text) override {
    row_ = text.substr(1, text.find("\033[K") - 1);
  }
  const std::string& row() const { return row_; }

 private:
  int columns_;
  MessageSink* before_;
  std::string row_;
};

// A clock that stands still until somebody moves it.
class Watch {
 public:
  void Wait(double seconds) { seconds_ += seconds; }
  std::function<std::chrono::steady_clock::time_point()> clock() {
    return [this] {
      return std::chrono::steady_clock::time_point(
          std::chrono::nanoseconds(static_cast<int64_t>(1e9 * seconds_)));
    };
  }

 private:
  double seconds_ = 1000;
};

// The row of a job of 300 steps that has done 100 in 195 seconds.
std::string RowAt(int columns, std::string_view detail) {
  const Screen screen(columns);
  Watch watch;
  Progress progress({.label = "train", .unit = "steps", .total = 300, .clock = watch.clock()});
  watch.Wait(195);
  progress.Update(100, detail);
  progress.Finish();
  return screen.row();
}

TEST(ProgressBar, KeepsTheTimeLeftInEightyColumns) {
  const std::string row = RowAt(80, "loss 0.1234, ndcg@10 0.4073, 5678 tokens/s");
  EXPECT_LE(row.size(), 79);
  EXPECT_THAT(row, HasSubstr(" 33% 100/300 steps, 6m 30s left"));
  EXPECT_THAT(row, HasSubstr("train [##......]"));
  EXPECT_THAT(row, HasSubstr(", loss 0.1234, ndcg@10 0.4073"));
}

TEST(ProgressBar, LeavesOutTheRateThenDetailsThenTheBar) {
  const std::string detail = "loss 0.1234, ndcg@10 0.4073, 5678 tokens/s";
  EXPECT_THAT(RowAt(200, detail), EndsWith("6m 30s left, 0.51/s, " + detail));
  EXPECT_THAT(RowAt(200, detail), HasSubstr("[########................]"));
  const std::string narrow = RowAt(64, detail);
  EXPECT_LE(narrow.size(), 63);
  EXPECT_THAT(narrow, EndsWith("6m 30s left, loss 0.1234"));
  EXPECT_THAT(narrow, HasSubstr("[##......]"));
  EXPECT_EQ(RowAt(45, detail), "train  33% 100/300 steps, 6m 30s left");
}

TEST(ProgressBar, EveryWidthHasTheTimeLeftAndNoneOverflows) {
  for (int columns = 40; columns < 160; ++columns) {
    const std::string row = RowAt(columns, "validating 73%");
    EXPECT_LT(row.size(), static_cast<size_t>(columns));
    EXPECT_THAT(row, HasSubstr("6m 30s left")) << columns;
  }
}

// The last line of a log is the job's last state, also where the line before came less than a
// period earlier, with the same count and another detail.
TEST(Progress, ShowsTheFinalStateAlsoWhereTheLastLineWasAnother) {
  const CapturedMessages captured(ProgressView::kLines);
  Watch watch;
  Progress progress({.label = "train", .total = 8, .clock = watch.clock()});
  watch.Wait(60);
  progress.Update(8, "validating 73%");
  EXPECT_THAT(captured.text(), EndsWith(", validating 73%\n"));
  watch.Wait(1);
  progress.Update(8, "ndcg@10 0.4073");
  EXPECT_THAT(captured.text(), EndsWith(", validating 73%\n"));
  progress.Finish();
  EXPECT_THAT(captured.text(), EndsWith(", ndcg@10 0.4073\n"));
  // Once it stands there, it does not come again.
  Progress again({.label = "again", .total = 8, .line_period_seconds = 0});
  again.Update(8, "loss 0.1");
  const std::string before = captured.text();
  again.Finish();
  EXPECT_EQ(captured.text(), before);
}

// A job that counts nothing but its share: no counts, and no rate of them.
TEST(Progress, ShowsTheShareAlone) {
  const CapturedMessages captured(ProgressView::kLines);
  Watch watch;
  Progress progress({.label = "train", .unit = "", .total = 1000, .clock = watch.clock()});
  watch.Wait(60);
  progress.Update(334, "loss 0.5");
  EXPECT_EQ(captured.text(), "train  33.4%, 2m 00s left, loss 0.5\n");
}

TEST(Progress, SaysNothingOfAJobThatNeverBegan) {
  const CapturedMessages captured(ProgressView::kLines);
  { Progress progress({.label = "encode"}); }
  EXPECT_EQ(captured.text(), "");
}

// The caller knows of other work than steps, also after the last one.
TEST(Progress, ShowsTheTimeLeftThatItIsTold) {
  const CapturedMessages captured(ProgressView::kLines);
  Watch watch;
  Progress progress(
      {.label = "train", .total = 8, .line_period_seconds = 0, .clock = watch.clock()});
  watch.Wait(4);
  progress.SetSecondsLeft(65);
  progress.Update(4);
  EXPECT_THAT(captured.text(), EndsWith("train  50% 4/8 texts, 1m 05s left, 1.00/s\n"));
  watch.Wait(4);
  progress.SetSecondsLeft(3);
  progress.Update(8, "validating 0%");
  EXPECT_THAT(captured.text(), EndsWith("train 100% 8/8 texts, 3s left, 1.00/s, validating 0%\n"));
  progress.SetSecondsLeft(std::nullopt);
  progress.Update(8);
  EXPECT_THAT(captured.text(), EndsWith("train 100% 8/8 texts, 8s, 1.00/s\n"));
}

TEST(Progress, RateAndTimeLeftLeavePreparationAndEarlierProcessesOut) {
  const Screen screen(200);
  Watch watch;
  Progress progress(
      {.label = "train", .unit = "steps", .total = 1000, .first = 900, .clock = watch.clock()});
  watch.Wait(5);
  progress.Update(900, "validating 99%");
  EXPECT_EQ(screen.row(), "train [#####################...]  90% 900/1000 steps, validating 99%");
  watch.Wait(60);
  progress.RestartClock();
  watch.Wait(25);
  progress.Update(950);
  EXPECT_EQ(screen.row(), "train [######################..]  95% 950/1000 steps, 25s left, 2.00/s");
  watch.Wait(25);
  progress.Update(1000);
  EXPECT_EQ(screen.row(), "train [########################] 100% 1000/1000 steps, 1m 55s, 2.00/s");
}

}  // namespace
}  // namespace tandem
