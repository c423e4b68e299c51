#include "tensor/kernels/cpu/products/int8_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/products/int8_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/dispatch.h"
#include "tensor/kernels/cpu/products/int8_panels-inl.h"
#include "tensor/kernels/cpu/products/int8_rows-inl.h"
#include "tensor/kernels/cpu/products/int8_tiles-inl.h"
#include "tensor/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Rows that are rounded and multiplied at once: their bytes and a panel of B stay in the caches.
inline constexpr size_t kInt8Rows = 128;

// Calls body(Words(), multiply) for the words and the multiplication of a kernel.
template <typename Body>
HWY_INLINE void ForInt8Kernel([[maybe_unused]] Int8Kernel kernel, const Body& body) {
#if HWY_TARGET <= HWY_AVX2
  if (kernel == Int8Kernel::kVnni) {
    return body(VnniQuads(),
                [](auto&&... args) HWY_ATTR { MultiplyInt8Panels<VnniQuads>(args...); });
  }
  if (kernel == Int8Kernel::kTiles) {
    return body(VnniQuads(), [](auto&&... args) HWY_ATTR { MultiplyInt8OnTiles(args...); });
  }
#endif
  body(WidenedPairs(), [](auto&&... args) HWY_ATTR { MultiplyInt8Panels<WidenedPairs>(args...); });
}

void MultiplyInt8T(const Int8Product& p, size_t rows) {
  const size_t padded = p.b.padded_depth();
  const bool out_is_bf16 = p.out_type == Type::kBf16;
  struct Arrays {
    std::byte* values;  // of x, rounded
    float* scales;
    int32_t* zeros;
  };
  ForInt8Kernel(p.b.kernel(), [&](auto words, const auto& multiply) HWY_ATTR {
    using Values = typename decltype(words)::RowValues;
    using Value = typename Values::Value;
    constexpr bool kKeepsZero = std::is_same_v<Values, UnsignedBytes>;
    const size_t most = std::min(rows, kInt8Rows);
    const Arrays m = AllocateScratch<Int8Product>([&](Scratch& scratch) {
      return Arrays{.values = scratch.Allocate<std::byte>(most * padded * sizeof(Value)),
                    .scales = scratch.Allocate<float>(most),
                    .zeros = scratch.Allocate<int32_t>(most)};
    });
    auto* values = reinterpret_cast<Value*>(m.values);
    const Int8Output out{static_cast<std::byte*>(p.out),
                         p.out_stride * (out_is_bf16 ? sizeof(Bf16) : sizeof(float)),
                         out_is_bf16,
                         RoundsNatively(),
                         p.add,
                         p.bias,
                         p.b.scales(),
                         p.b.column_sums(),
                         m.scales,
                         m.zeros};
    for (size_t first = 0; first < rows; first += kInt8Rows) {
      const size_t count = std::min(kInt8Rows, rows - first);
      for (size_t r = 0; r < count; ++r) {
        const size_t at = (first + r) * p.x_stride;
        const RowGrid grid = p.x_type == Type::kFloat
                                 ? RoundRow<Values>(static_cast<const float*>(p.x) + at,
                                                    p.b.depth(), padded, values + r * padded)
                                 : RoundRow<Values>(static_cast<const Bf16*>(p.x) + at, p.b.depth(),
                                                    padded, values + r * padded);
        m.scales[r] = grid.scale;
        m.zeros[r] = kKeepsZero ? grid.zero : 0;
      }
      Int8Output block = out;
      block.data += first * out.stride;
      multiply(RowMajor<uint32_t>{reinterpret_cast<const uint32_t*>(m.values),
                                  padded * sizeof(Value) / sizeof(uint32_t)},
               count, p.b, block);
    }
  });
}

void PackInt8T(const FloatFactor& b, const Int8Part& to) {
  struct Arrays {
    float* column;
    int8_t* rounded;
  };
  const Arrays m = AllocateScratch<Int8Part>([&](Scratch& scratch) {
    return Arrays{.column = scratch.Allocate<float>(b.depth),
                  .rounded = scratch.Allocate<int8_t>(to.padded_depth)};
  });
  std::fill_n(m.rounded, to.padded_depth, int8_t{0});
  for (size_t n = 0; n < b.columns; ++n) {
    const float* column = b.source + n * b.column_stride;
    if (b.depth_stride != 1) {
      for (size_t k = 0; k < b.depth; ++k) m.column[k] = column[k * b.depth_stride];
      column = m.column;
    }
    to.scales[n] = RoundColumn(column, b.depth, m.rounded);
    to.sums[n] = 0;
    for (size_t k = 0; k < to.padded_depth; ++k) to.sums[n] += m.rounded[k];
    const auto place = [&](const auto& place_of) HWY_ATTR {
      for (size_t k = 0; k < to.padded_depth; ++k) to.values[place_of(k)] = m.rounded[k];
    };
#if HWY_TARGET <= HWY_AVX2
    if (to.kernel == Int8Kernel::kTiles) {
      place([&](size_t k) HWY_ATTR { return PlaceInInt8Tiles(k, n, to.padded_depth); });
      continue;
    }
    if (to.kernel == Int8Kernel::kVnni) {
      place([&](size_t k)
                HWY_ATTR { return PlaceInPanels<VnniQuads>(k, n, b.columns, to.padded_depth); });
      continue;
    }
#endif
    place([&](size_t k)
              HWY_ATTR { return PlaceInPanels<WidenedPairs>(k, n, b.columns, to.padded_depth); });
  }
}

// Says whether vectors are wide enough for the instructions of VNNI that the processor has.
bool HasTargetOf(bool avx512_vnni, bool avx_vnni) {
#if HWY_TARGET <= HWY_AVX3
  (void)avx_vnni;
  return avx512_vnni;
#elif HWY_TARGET <= HWY_AVX2
  (void)avx512_vnni;
  return avx_vnni;
#else
  return (void)avx512_vnni, (void)avx_vnni, false;
#endif
}

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {

HWY_EXPORT(MultiplyInt8T);
HWY_EXPORT(PackInt8T);
HWY_EXPORT(HasTargetOf);

const char* NameOf(Int8Kernel kernel) {
  switch (kernel) {
    case Int8Kernel::kWiden:
      return "16-bit products";
    case Int8Kernel::kVnni:
      return "VNNI";
    case Int8Kernel::kTiles:
      return "AMX-INT8";
  }
  return "";
}

bool IsAvailable(Int8Kernel kernel) {
  if (kernel == Int8Kernel::kWiden) return true;
  static const Int8Features features = MachineInt8Features();
  if (kernel == Int8Kernel::kTiles) return features.amx_int8;
  return HWY_DYNAMIC_DISPATCH(HasTargetOf)(features.avx512_vnni, features.avx_vnni);
}

Int8Kernel FastestInt8Kernel() {
  if (CurrentIsa() >= Isa::kAmx && IsAvailable(Int8Kernel::kTiles)) return Int8Kernel::kTiles;
  return IsAvailable(Int8Kernel::kVnni) ? Int8Kernel::kVnni : Int8Kernel::kWiden;
}

Int8Matrix::Int8Matrix(size_t depth, size_t columns, Int8Kernel kernel)
    : depth_(depth), columns_(columns), kernel_(kernel) {
  if (depth == 0 || columns == 0 || depth % kInt8Unit != 0 || columns % kInt8Unit != 0 ||
      depth > kMostInt8Depth) {
    throw std::logic_error(
        fmt::format("a factor of {} x {} cannot be rounded to eight bits", depth, columns));
  }
  constexpr size_t kTileColumns = 32, kTileDepth = 64;
  if (kernel_ == Int8Kernel::kTiles && columns % kTileColumns != 0) {
    kernel_ = IsAvailable(Int8Kernel::kVnni) ? Int8Kernel::kVnni : Int8Kernel::kWiden;
  }
  padded_depth_ =
      kernel_ == Int8Kernel::kTiles ? (depth + kTileDepth - 1) / kTileDepth * kTileDepth : depth;
  values_ = hwy::AllocateAligned<int8_t>(padded_depth_ * columns);
  scales_ = hwy::AllocateAligned<float>(columns);
  sums_ = hwy::AllocateAligned<int32_t>(columns);
  if (!values_ || !scales_ || !sums_) throw std::bad_alloc();
}

void Int8Matrix::Pack(const FloatFactor& b, size_t first) {
  if (b.depth != depth_ || first + b.columns > columns_ || first % kPartColumns != 0) {
    throw std::logic_error("no part of this matrix");
  }
  HWY_DYNAMIC_DISPATCH(PackInt8T)
  (b, {padded_depth_, kernel_, values_.get() + first * padded_depth_, scales_.get() + first,
       sums_.get() + first});
}

void MultiplyInt8(const Int8Product& product, size_t rows) {
  if (rows > 0) HWY_DYNAMIC_DISPATCH(MultiplyInt8T)(product, rows);
}

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE
