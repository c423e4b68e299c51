#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/progress.h"
#include "support/captured_messages.h"

namespace tandem {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

void SayEverything() {
  Note("a note");
  Warn("a warning");
  Progress progress({.label = "count", .total = 2, .line_period_seconds = 0});
  progress.Update(1);
  progress.Update(2);
}

TEST(MessageSink, WithoutOneLibrariesWriteNothing) {
  MessageSink* const before = SetMessageSink(nullptr);
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  SayEverything();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  SetMessageSink(before);
}

TEST(MessageSink, TakesMessagesAndNoProgressUnlessItWantsThem) {
  const CapturedMessages captured;
  SayEverything();
  EXPECT_EQ(captured.text(), "a note\nwarning: a warning\n");
}

TEST(MessageSink, TheFormerOneComesBack) {
  const CapturedMessages outer;
  {
    const CapturedMessages inner;
    Note("inner");
  }
  Note("outer");
  EXPECT_EQ(outer.text(), "outer\n");
}

TEST(Progress, IsLinesOrABarAsTheSinkSays) {
  {
    const CapturedMessages lines(ProgressView::kLines);
    SayEverything();
    EXPECT_THAT(lines.text(), AllOf(HasSubstr("count  50% 1/2 texts"), EndsWith("\n"),
                                    testing::Not(HasSubstr("\r"))));
  }
  const CapturedMessages bar(ProgressView::kBar);
  SayEverything();
  EXPECT_THAT(bar.text(), AllOf(HasSubstr("\rcount [####"), HasSubstr("\033[K"), EndsWith("\n")));
}

}  // namespace
}  // namespace tandem
