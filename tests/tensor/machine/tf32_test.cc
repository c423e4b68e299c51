// The precision of products on devices as libtorch has it.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "tensor/machine/precision.h"

namespace tandem::tensor {
namespace {

TEST(Precision, LibtorchRoundsToTf32WhereAskedAlone) {
  ApplyPrecision(Precision::kTf32);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  ApplyPrecision(Precision::kFp32);
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

}  // namespace
}  // namespace tandem::tensor
