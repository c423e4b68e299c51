#include "cli/output_style.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace tandem::app {
namespace {

// What OutputStyle says while standard output is `descriptor`.
report::TextStyle StyleOn(int descriptor) {
  const int kept = ::dup(STDOUT_FILENO);
  ::dup2(descriptor, STDOUT_FILENO);
  const report::TextStyle style = OutputStyle();
  ::dup2(kept, STDOUT_FILENO);
  ::close(kept);
  return style;
}

TEST(OutputStyle, FollowsTheTerminalAndItsUser) {
  ::unsetenv("NO_COLOR");
  const int controller = ::posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0) GTEST_SKIP() << "this system has no pseudo terminals (devpts)";
  ASSERT_EQ(::grantpt(controller), 0);
  ASSERT_EQ(::unlockpt(controller), 0);
  const int terminal = ::open(::ptsname(controller), O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  winsize size{.ws_row = 24, .ws_col = 57};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(StyleOn(terminal).columns, 57U);
  EXPECT_TRUE(StyleOn(terminal).bold);
  ::setenv("NO_COLOR", "", 1);  // as if it were not set (no-color.org)
  EXPECT_TRUE(StyleOn(terminal).bold);
  ::setenv("NO_COLOR", "1", 1);
  EXPECT_EQ(StyleOn(terminal).columns, 57U);
  EXPECT_FALSE(StyleOn(terminal).bold);
  ::unsetenv("NO_COLOR");
  size.ws_col = 0;  // a terminal that does not know
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(StyleOn(terminal).columns, 80U);
  ::close(terminal);
  ::close(controller);
}

TEST(OutputStyle, AFileIsNoTerminal) {
  ::unsetenv("NO_COLOR");
  const int file = ::open("/dev/null", O_WRONLY);
  EXPECT_EQ(StyleOn(file).columns, 80U);
  EXPECT_FALSE(StyleOn(file).bold);
  ::close(file);
}

}  // namespace
}  // namespace tandem::app
