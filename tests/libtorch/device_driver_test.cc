#include "libtorch/device_driver.h"

#include <ATen/Context.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>

namespace tandem::libtorch {
namespace {

TEST(DeviceDriver, NamesItsLibrary) {
  EXPECT_THAT(Driver().Library(), testing::StartsWith("libtorch "));
}

TEST(DeviceDriver, ProductsRoundToTf32WhereAskedAlone) {
  Driver().AllowTf32(true);
  EXPECT_TRUE(at::globalContext().allowTF32CuBLAS());
  Driver().AllowTf32(false);
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

#if !TANDEM_WITH_CUDA
TEST(DeviceDriver, ABuildWithoutCudaHasNoDevices) {
  const tensor::CudaState state = Driver().FindCuda();
  EXPECT_FALSE(state.built);
  EXPECT_EQ(state.devices, 0);
  EXPECT_THROW(Driver().ComputeCapability({tensor::Device::Kind::kCuda, 0}), std::logic_error);
}
#endif

}  // namespace
}  // namespace tandem::libtorch
