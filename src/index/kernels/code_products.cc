#include "index/kernels/code_products.h"

#include <algorithm>
#include <cstring>

#include "tensor/isa/isa.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "index/kernels/code_products.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::index::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using SumTag = hn::CappedTag<int32_t, 16>;
using SumVec = hn::Vec<SumTag>;

// A tile of scores has kTileRows rows of two vectors, so that sums, two vectors of the panel, a
// pair of codes and a product fill the registers.
inline constexpr size_t kPanelVectors = 2;
#if HWY_TARGET <= HWY_AVX3
inline constexpr size_t kTileRows = 12;
#else
inline constexpr size_t kTileRows = 6;
#endif

HWY_INLINE size_t PanelColumns() { return kPanelVectors * hn::Lanes(SumTag()); }

#if HWY_TARGET == HWY_SCALAR

// sum + a * b for words of two 16-bit numbers.
template <bool>
HWY_INLINE SumVec AddPairs(SumVec a, SumVec b, SumVec sum) {
  int16_t left[2], right[2];
  std::memcpy(left, &a.raw, sizeof left);
  std::memcpy(right, &b.raw, sizeof right);
  sum.raw += left[0] * right[0] + left[1] * right[1];
  return sum;
}

HWY_INLINE void WidenRow(const int8_t* codes, size_t width, int16_t* wide) {
  std::copy_n(codes, width, wide);
}

#else

using FactorTag = hn::Repartition<int16_t, SumTag>;

// sum + a * b for words of two 16-bit numbers. kVnni: by one instruction, which no target of
// Highway 1.0 stands for, so that it is written in assembly; the caller has asked the processor.
template <bool kVnni>
HWY_INLINE SumVec AddPairs(SumVec a, SumVec b, SumVec sum) {
#if HWY_TARGET <= HWY_AVX3
  if constexpr (kVnni) {
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sum.raw) : "v"(a.raw), "v"(b.raw));
    return sum;
  }
#endif
#if HWY_ARCH_X86
  const FactorTag d16;
  SumVec other = hn::Zero(SumTag());  // stays zero
  sum =
      hn::ReorderWidenMulAccumulate(SumTag(), hn::BitCast(d16, a), hn::BitCast(d16, b), sum, other);
  return hn::Add(sum, other);
#else
  // Elsewhere that function does not add neighbours.
  const auto low_halves = [](SumVec words)
                              HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(words)); };
  const auto of_low = hn::Mul(low_halves(a), low_halves(b));
  const auto of_high = hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(b));
  return hn::Add(sum, hn::Add(of_low, of_high));
#endif
}

HWY_INLINE void WidenRow(const int8_t* codes, size_t width, int16_t* wide) {
  const FactorTag d16;
  const hn::Rebind<int8_t, FactorTag> d8;
  for (size_t k = 0; k < width; k += hn::Lanes(d16)) {
    hn::StoreU(hn::PromoteTo(d16, hn::LoadU(d8, codes + k)), d16, wide + k);
  }
}

#endif

struct Tile {
  const int16_t* rows;  // [kRows, width]
  size_t width;
  const float* scales;   // of the rows
  const int32_t* panel;  // [width / 2, PanelColumns()]
  const float* offsets;  // of the panel's columns
  float* scores;
  size_t stride;
};

template <size_t kRows, bool kVnni>
HWY_INLINE void MultiplyTile(const Tile& t) {
  const SumTag d;
  const hn::Rebind<float, SumTag> df;
  const size_t lanes = hn::Lanes(d);
  SumVec sums[kRows][kPanelVectors];
  for (size_t r = 0; r < kRows; ++r) sums[r][0] = sums[r][1] = hn::Zero(d);
  const int32_t* panel = t.panel;
  for (size_t k = 0; k < t.width; k += 2, panel += kPanelVectors * lanes) {
    const auto first = hn::LoadU(d, panel), second = hn::LoadU(d, panel + lanes);
    for (size_t r = 0; r < kRows; ++r) {
      int32_t pair;
      std::memcpy(&pair, t.rows + r * t.width + k, sizeof pair);
      const auto codes = hn::Set(d, pair);
      sums[r][0] = AddPairs<kVnni>(codes, first, sums[r][0]);
      sums[r][1] = AddPairs<kVnni>(codes, second, sums[r][1]);
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    const auto scale = hn::Set(df, t.scales[r]);
    for (size_t v = 0; v < kPanelVectors; ++v) {
      const auto sum = hn::Add(hn::ConvertTo(df, sums[r][v]), hn::LoadU(df, t.offsets + v * lanes));
      hn::StoreU(hn::Mul(scale, sum), df, t.scores + r * t.stride + v * lanes);
    }
  }
}

// Multiplies the last rows of a block, at most kRows.
template <size_t kRows, bool kVnni>
HWY_INLINE void MultiplyRest(size_t rows, const Tile& tile) {
  if constexpr (kRows > 0) {
    if (rows == kRows) {
      MultiplyTile<kRows, kVnni>(tile);
    } else {
      MultiplyRest<kRows - 1, kVnni>(rows, tile);
    }
  }
}

// A block of rows, widened to 16 bits.
struct WideBlock {
  int16_t* rows;  // [count, width]
  float* scales;  // [count]
};

HWY_INLINE void Widen(const CodeRows& rows, const RowBlock& block, const WideBlock& to) {
  for (size_t i = 0; i < block.count; ++i) {
    const size_t row = block[i];
    to.scales[i] = rows.scales[row];
    WidenRow(rows.codes + row * rows.width, rows.width, to.rows + i * rows.width);
  }
}

template <bool kVnni>
HWY_INLINE void ScoreCodeBlockOf(const CodeRows& rows, const RowBlock& block,
                                 const PackedCodeQueries& queries, const float* offsets,
                                 float* scores) {
  const WideBlock wide =
      tensor::cpu::AllocateScratch<PackedCodeQueries>([&](tensor::cpu::Scratch& scratch) {
        return WideBlock{.rows = scratch.Allocate<int16_t>(block.count * rows.width),
                         .scales = scratch.Allocate<float>(block.count)};
      });
  Widen(rows, block, wide);
  const size_t width = rows.width, columns = queries.columns();
  // A panel stays in the first-level cache for all rows.
  for (size_t n = 0; n < columns; n += PanelColumns()) {
    Tile tile{wide.rows,   width,      wide.scales, queries.panels() + n * (width / 2),
              offsets + n, scores + n, columns};
    size_t row = 0;
    for (; row + kTileRows <= block.count; row += kTileRows) {
      MultiplyTile<kTileRows, kVnni>(tile);
      tile.rows += kTileRows * width;
      tile.scales += kTileRows;
      tile.scores += kTileRows * columns;
    }
    MultiplyRest<kTileRows - 1, kVnni>(block.count - row, tile);
  }
}

void ScoreCodeBlockT(const CodeRows& rows, const RowBlock& block, const PackedCodeQueries& queries,
                     const float* offsets, float* scores) {
  ScoreCodeBlockOf<false>(rows, block, queries, offsets, scores);
}
void ScoreCodeBlockVnni(const CodeRows& rows, const RowBlock& block,
                        const PackedCodeQueries& queries, const float* offsets, float* scores) {
  ScoreCodeBlockOf<HWY_TARGET <= HWY_AVX3>(rows, block, queries, offsets, scores);
}

// Pair k of query q goes to panels that lie one after the other, row after row of a panel.
void PackCodeQueriesT(const int16_t* queries, size_t count, size_t width, int32_t* panels) {
  const size_t columns = PanelColumns();
  for (size_t q = 0; q < count; ++q) {
    int32_t* to = panels + q / columns * columns * (width / 2) + q % columns;
    for (size_t k = 0; k < width; k += 2, to += columns) {
      std::memcpy(to, queries + q * width + k, sizeof *to);
    }
  }
}

}  // namespace tandem::index::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::index {
namespace {

HWY_EXPORT(ScoreCodeBlockT);
HWY_EXPORT(ScoreCodeBlockVnni);
HWY_EXPORT(PackCodeQueriesT);

// Columns of the widest panel, of which all others are divisors.
constexpr size_t kColumnUnit = 32;

bool HasVnni() {
#if defined(__x86_64__)
  static const bool has = tensor::CurrentIsa() >= tensor::Isa::kAvx512 &&
                          static_cast<bool>(__builtin_cpu_supports("avx512vnni"));
  return has;
#else
  return false;
#endif
}

}  // namespace

PackedCodeQueries::PackedCodeQueries(const int16_t* queries, size_t count, size_t width)
    : width_(width),
      columns_((count + kColumnUnit - 1) / kColumnUnit * kColumnUnit),
      panels_(std::make_unique<int32_t[]>(columns_ * (width / 2))) {
  HWY_DYNAMIC_DISPATCH(PackCodeQueriesT)(queries, count, width, panels_.get());
}

void ScoreCodeBlock(const CodeRows& rows, const RowBlock& block, const PackedCodeQueries& queries,
                    const float* offsets, float* scores) {
  if (HasVnni()) {
    HWY_DYNAMIC_DISPATCH(ScoreCodeBlockVnni)(rows, block, queries, offsets, scores);
  } else {
    HWY_DYNAMIC_DISPATCH(ScoreCodeBlockT)(rows, block, queries, offsets, scores);
  }
}

}  // namespace tandem::index
#endif  // HWY_ONCE
