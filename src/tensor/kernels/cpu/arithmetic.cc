#include "tensor/kernels/cpu/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/arithmetic.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include <cstdint>
#include <type_traits>

#include "tensor/dropout.h"
#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"
#include "tensor/kernels/cpu/products/tile_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Independent sums: more than the latency of an instruction in cycles times the instructions that a
// core starts in a cycle, so that none waits for another.
inline constexpr size_t kSums = 12;

// Multiplies and adds registers in `steps` steps and returns how many FLOPs that was.
template <typename Element>
HWY_INLINE double Multiply(Element factor, size_t steps) {
  const FloatTag d;
  HWY_ALIGN Element factors[16];
  for (Element& f : factors) f = factor;
  const auto a = LoadElements(factors), b = a;
  FloatVec sums[kSums];
  TANDEM_UNROLL(16)
  for (size_t i = 0; i < kSums; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  for (size_t step = 0; step < steps; ++step) {
    TANDEM_UNROLL(16)
    for (size_t i = 0; i < kSums; ++i) {
      auto left = a;
#if HWY_TARGET > HWY_AVX2
      __asm__("" : "+x"(left.raw));  // keeps GCC from taking the multiplication out of the loop
#endif
      sums[i] = AddProducts(left, b, sums[i]);
    }
  }
  float total[16] = {};
  for (size_t i = 0; i < kSums; ++i) {
    hn::StoreU(sums[i], d, total);
    __asm__ volatile("" : : "r"(total) : "memory");  // keeps GCC from removing the sums
  }
  // A multiplication and an addition for each value; a word holds two values.
  constexpr double kFlopsOfElement = std::is_same_v<Element, float> ? 2 : 4;
  return kFlopsOfElement * static_cast<double>(steps * kSums * hn::Lanes(d));
}

double MultiplyFloats(size_t steps) { return Multiply(1.0F, steps); }
#if HWY_TARGET <= HWY_AVX3
double MultiplyPairs(size_t steps) { return Multiply(uint32_t{0x3F803F80}, steps); }

double MultiplyTiles(size_t steps) {
  // Values of both signs from 1/2 to 2. Equal values would take less power than real products do.
  constexpr size_t kWords = kTileSide * kTileSide;
  HWY_ALIGN uint32_t factors[4 * kWords];
  for (size_t i = 0; i < 4 * kWords; ++i) {
    factors[i] = (static_cast<uint32_t>(MixBits(i + 1)) & 0x80FF80FF) | 0x3F003F00;
  }
  AmxTiles tiles;
  tiles.Load<4>(factors, kTileSide);
  tiles.Load<5>(factors + kWords, kTileSide);
  tiles.Load<6>(factors + 2 * kWords, kTileSide);
  tiles.Load<7>(factors + 3 * kWords, kTileSide);
  for (size_t step = 0; step < steps; ++step) {
    tiles.AddProduct<TileWords::kBf16Pairs, 0, 4, 6>();
    tiles.AddProduct<TileWords::kBf16Pairs, 1, 4, 7>();
    tiles.AddProduct<TileWords::kBf16Pairs, 2, 5, 6>();
    tiles.AddProduct<TileWords::kBf16Pairs, 3, 5, 7>();
  }
  constexpr double kFlopsOfTile = 4.0 * kTileSide * kTileSide * kTileSide;
  return 4 * kFlopsOfTile * static_cast<double>(steps);
}
#else
double MultiplyPairs(size_t /*steps*/) { return 0; }  // never called
double MultiplyTiles(size_t /*steps*/) { return 0; }  // never called
#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {
namespace {

HWY_EXPORT(MultiplyFloats);
HWY_EXPORT(MultiplyPairs);
HWY_EXPORT(MultiplyTiles);

}  // namespace

double MultiplyRegisters(Type type, size_t steps) {
  if (type == Type::kFloat) return HWY_DYNAMIC_DISPATCH(MultiplyFloats)(steps);
  if (CurrentIsa() >= Isa::kAmx) return HWY_DYNAMIC_DISPATCH(MultiplyTiles)(steps);
  if (CurrentIsa() != Isa::kAvx512Bf16) return 0;
  return HWY_DYNAMIC_DISPATCH(MultiplyPairs)(steps);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE
