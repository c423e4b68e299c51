// That the kernels are compiled by NVIDIA's run-time compiler, which needs no GPU; skipped where
// its library is not found.
#include "libtorch/kernels/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::libtorch::kernels {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(FindFunction, TriesLibrariesInTheirOrder) {
  EXPECT_NE(FindFunction({"libnot-there.so", "libc.so.6"}, "strlen"), nullptr);
  EXPECT_EQ(FindFunction({"libnot-there.so"}, "strlen"), nullptr);
  EXPECT_EQ(FindFunction({"libc.so.6"}, "no_such_function"), nullptr);
}

class Nvrtc : public testing::Test {
 protected:
  void SetUp() override {
    const Source nothing = {"nothing.cu", ""};
    try {
      Compile(nothing, {}, 80);
    } catch (const KernelError& error) {
      GTEST_SKIP() << error.what();
    }
  }
};

TEST_F(Nvrtc, CompilesTheKernels) {
  for (const int capability : {80, 86, 90}) {
    EXPECT_FALSE(Compile(kElementsSource, {"-DIN=2"}, capability).empty());
    EXPECT_FALSE(Compile(kRowsSource,
                         {"-DIN=1", "-DOUT=1", "-DWIDTH=384", "-DRESIDUAL=1", "-DNORM=1",
                          "-DBETA=1", "-DDROP=1"},
                         capability)
                     .empty());
    for (const Source& source : {kAttentionForwardSource, kAttentionBackwardSource}) {
      EXPECT_FALSE(Compile(source, {"-DACTIVATION=1", "-DHEAD_WIDTH=64", "-DDROPOUT=1"}, capability)
                       .empty());
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
