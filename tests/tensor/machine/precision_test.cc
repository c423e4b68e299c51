#include "tensor/machine/precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "base/error.h"
#include "tensor/isa/isa.h"
#include "tensor/machine/device.h"
#include "tensor/machine/fake_driver.h"

namespace tandem::tensor {
namespace {

using testing::HasSubstr;

std::string MessageOf(std::string_view name) {
  try {
    ResolvePrecision(name);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no UsageError";
}

TEST(Precision, EveryNameNamesItself) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kBf16, Precision::kInt8, Precision::kFp16, Precision::kTf32}) {
    EXPECT_FALSE(PrecisionName(precision).empty());
  }
  EXPECT_EQ(PrecisionName(ResolvePrecision("fp32")), "fp32");
  EXPECT_EQ(PrecisionName(ResolvePrecision("int8")), "int8");
  EXPECT_EQ(PrecisionName(Precision::kFp16), "fp16");
  EXPECT_EQ(PrecisionName(Precision::kTf32), "tf32");
}

TEST(Precision, HalfPrecisionAndTf32AreForCudaDevices) {
  if (DeviceFormsForced()) GTEST_SKIP() << "TANDEM_FORMS lets the processor take fp16";
  EXPECT_THAT(MessageOf("fp16"), HasSubstr("precision fp16 is for CUDA devices"));
  EXPECT_THAT(MessageOf("tf32"), HasSubstr("precision tf32 is for CUDA devices"));
  EXPECT_THROW(ResolveTrainingPrecision("fp16"), UsageError);
}

// Where the forms that a device takes run on the processor, for tests, fp16 and bf16 do too.
TEST(Precision, PortableFormsTakeHalfPrecisionOnTheProcessor) {
  ::setenv("TANDEM_FORMS", "portable", 1);
  EXPECT_EQ(ResolveTrainingPrecision("fp16"), Precision::kFp16);
  EXPECT_EQ(ResolveTrainingPrecision("bf16"), Precision::kBf16);
  EXPECT_THAT(MessageOf("tf32"), HasSubstr("is for CUDA devices"));
  ::unsetenv("TANDEM_FORMS");
}

TEST(Precision, AutoSaysWhichOneItIsAndWhy) {
  const std::string text = AutoPrecisionText();
  const std::string chosen(PrecisionName(ResolvePrecision("auto")));
  EXPECT_THAT(text, testing::StartsWith("precision " + chosen + ": "));
  EXPECT_THAT(text, HasSubstr(chosen == "bf16" ? Bf16Instructions(CurrentIsa()) : "AVX512-BF16"));
}

TEST(Precision, OtherNamesAreRefused) {
  EXPECT_THAT(MessageOf("fp8"), HasSubstr("precision is auto, fp32, bf16, int8, fp16 or tf32"));
}

TEST(Precision, OnlyBytesAreNotTheTypeOfActivations) {
  EXPECT_EQ(ActivationPrecision(Precision::kTf32), Precision::kFp32);
  EXPECT_EQ(ActivationPrecision(Precision::kFp16), Precision::kFp16);
  EXPECT_EQ(ActivationPrecision(Precision::kInt8), ResolvePrecision("auto"));
}

// A search multiplies on the host: in bf16 where it can, never in a device's formats.
TEST(Precision, ASearchHasAPrecisionOfTheHost) {
  for (const Precision precision :
       {Precision::kFp32, Precision::kInt8, Precision::kFp16, Precision::kTf32}) {
    EXPECT_EQ(HostPrecision(precision), Precision::kFp32);
  }
  EXPECT_EQ(HostPrecision(Precision::kBf16),
            CurrentIsa() >= Isa::kAvx512Bf16 ? Precision::kBf16 : Precision::kFp32);
}

TEST(Precision, ProductsOfDevicesRoundToTf32WhereAskedAlone) {
  const FakeDriver& driver = FakeDriver::Set();
  ApplyPrecision(Precision::kTf32);
  EXPECT_TRUE(driver.tf32);
  ApplyPrecision(Precision::kFp32);
  EXPECT_FALSE(driver.tf32);
}

TEST(Precision, OfADeviceIsWhatItComputesFast) {
  FakeDriver::Set();
  const Device before_ampere = {Device::Kind::kCuda, 0}, since = {Device::Kind::kCuda, 1};
  EXPECT_EQ(ResolvePrecision("auto", before_ampere), Precision::kFp32);
  EXPECT_EQ(ResolvePrecision("auto", since), Precision::kBf16);
  EXPECT_EQ(AutoPrecisionText(before_ampere),
            "precision fp32: cuda:0 has compute capability 7.x, and from 8.0 on bf16 is fast");
  EXPECT_THAT(AutoPrecisionText(since), testing::StartsWith("precision bf16: cuda:1 has "));
  EXPECT_EQ(ResolvePrecision("fp16", before_ampere), Precision::kFp16);
  EXPECT_EQ(ResolvePrecision("tf32", since), Precision::kTf32);
  EXPECT_THROW(ResolvePrecision("bf16", before_ampere), UsageError);
  EXPECT_THROW(ResolvePrecision("tf32", before_ampere), UsageError);
  EXPECT_THROW(ResolvePrecision("int8", since), UsageError);
}

}  // namespace
}  // namespace tandem::tensor
