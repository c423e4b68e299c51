// That the kernels are compiled by NVIDIA's run-time compiler, which needs no GPU; skipped where
// its library is not found.
#include "libtorch/kernels/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "libtorch/kernels/launch.h"

namespace tandem::libtorch::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(FindFunction, TriesLibrariesInTheirOrder) {
  EXPECT_NE(FindFunction({"libnot-there.so", "libc.so.6"}, "strlen"), nullptr);
  EXPECT_EQ(FindFunction({"libnot-there.so"}, "strlen"), nullptr);
  EXPECT_EQ(FindFunction({"libc.so.6"}, "no_such_function"), nullptr);
  EXPECT_EQ(RequireFunction({"libc.so.6"}, "strlen"), FindFunction({"libc.so.6"}, "strlen"));
  try {
    RequireFunction({"libnot-there.so", "libc.so.6"}, "no_such_function");
    FAIL() << "expected an error";
  } catch (const KernelError& error) {
    EXPECT_STREQ(error.what(), "no_such_function is not found in libnot-there.so or libc.so.6");
  }
}

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    const Source nothing = {"nothing.cu", ""};
    try {
      Compile(nothing, {}, 80);
    } catch (const KernelError& error) {
      if (std::string_view(error.what()).find("is not found in") == std::string_view::npos) throw;
      GTEST_SKIP() << error.what();
    }
  }
};

// All kinds of steps and of heads, for one capability; a few of them for others.
TEST_F(Nvrtc, CompilesTheKernels) {
  const auto expect = [](const Source& source, const std::vector<std::string>& options,
                         int capability = 80) {
    EXPECT_FALSE(Compile(source, options, capability).empty()) << source.name;
  };
  for (int in = 0; in < 3; ++in) expect(kElementsSource, {Option("IN", in)});
  for (int norm = 1; norm <= 3; ++norm) {
    for (int drop = 0; drop <= 2; ++drop) {
      expect(kRowsSource, {"-DIN=1", "-DOUT=2", "-DWIDTH=384", "-DRESIDUAL=1", Option("NORM", norm),
                           Option("BETA", norm == 1), Option("DROP", drop)});
    }
  }
  for (const Source& source : {kAttentionForwardSource, kAttentionBackwardSource}) {
    for (const int width : {16, 64, 80, 128}) {
      expect(source, {Option("ACTIVATION", 1 + width / 16 % 2), Option("HEAD_WIDTH", width),
                      Option("DROPOUT", width == 64)});
    }
    for (const int capability : {86, 89, 90, 120}) {
      expect(source, {"-DACTIVATION=1", "-DHEAD_WIDTH=64", "-DDROPOUT=1"}, capability);
    }
  }
}

TEST_F(Nvrtc, SaysWhatIsWrongWithASource) {
  const Source wrong = {"wrong.cu", "__global__ void Run() { unknown(); }\n"};
  try {
    Compile(wrong, {}, 80);
    FAIL() << "expected an error";
  } catch (const KernelError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("wrong.cu is not compiled for sm_80"),
                                    HasSubstr("\"unknown\" is undefined")));
  }
}

}  // namespace
}  // namespace tandem::libtorch::kernels
