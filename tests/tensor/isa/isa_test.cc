#include "tensor/isa/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace tandem::tensor {
namespace {

using testing::Contains;
using testing::ElementsAre;

TEST(Isa, Bf16IsByTilesOnAmxAloneAndNotOfferedBelowAvx512Bf16) {
  EXPECT_EQ(Bf16Instructions(Isa::kAmx), "AMX-BF16");
  EXPECT_EQ(Bf16Instructions(Isa::kAvx512Bf16), "AVX512-BF16");
  EXPECT_EQ(Bf16Instructions(Isa::kAvx512), "");
  EXPECT_EQ(Bf16Instructions(Isa::kNeon), "");
  EXPECT_EQ(Bf16Instructions(Isa::kBaseline), "");
}

// TANDEM_ISA lowers the level of a machine that has more.
TEST(Isa, Int8IsByWhatTheLevelAndTheMachineHave) {
  constexpr Int8Features kAll{.avx_vnni = true, .avx512_vnni = true, .amx_int8 = true};
  EXPECT_EQ(Int8Instructions(Isa::kAmx, kAll), "AMX-INT8");
  EXPECT_EQ(Int8Instructions(Isa::kAvx512Bf16, kAll), "VNNI");
  EXPECT_EQ(Int8Instructions(Isa::kAvx2, kAll), "VNNI");
  EXPECT_EQ(Int8Instructions(Isa::kNeon, {}), "16-bit products");
  EXPECT_EQ(Int8Instructions(Isa::kBaseline, kAll), "16-bit products");
  EXPECT_EQ(Int8Instructions(Isa::kAvx2, {.avx512_vnni = true}), "16-bit products");
  EXPECT_EQ(Int8Instructions(Isa::kAvx512, {.avx_vnni = true}), "16-bit products");
  EXPECT_EQ(Int8Instructions(Isa::kAmx, {.avx512_vnni = true}), "VNNI");
}

// A level is a name for features that the machine lists.
TEST(Isa, TheLevelIsOneOfWhatTheMachineHas) {
  const auto expect_from = [](Isa level, const char* feature) {
    if (CurrentIsa() < level) return;
    EXPECT_THAT(MachineFeatures(), Contains(feature)) << NameOf(CurrentIsa());
  };
  expect_from(Isa::kAvx2, "avx2");
  expect_from(Isa::kAvx512, "avx512f");
  expect_from(Isa::kAvx512Bf16, "avx512_bf16");
  expect_from(Isa::kAmx, "amx_bf16");
  if (CurrentIsa() == Isa::kNeon) {
    EXPECT_THAT(MachineFeatures(), ElementsAre("asimd"));
  }
}

}  // namespace
}  // namespace tandem::tensor
