// Chooses which code multiplies: oneDNN, or the kernels of panel_products.h, tiled_products.h and
// int8_products.h.
#include "tensor/kernels/cpu/products/products.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <cstddef>
#include <new>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/products/int8_products.h"
#include "tensor/kernels/cpu/products/onednn_products.h"
#include "tensor/kernels/cpu/products/panel_products.h"
#include "tensor/kernels/cpu/products/tiled_products.h"
#include "tensor/kernels/cpu/rows/rows.h"
#include "tensor/kernels/cpu/scratch.h"

namespace tandem::tensor::cpu {
namespace {

// Says whether panel_products.h multiplies by matrices [depth, columns], and whether
// tiled_products.h does.
bool UsesPanels(int64_t depth, int64_t columns, Type type) {
  return type == Type::kFloat && depth > 0 && columns > 0 && columns % 16 == 0 &&
         CurrentIsa() > Isa::kBaseline;
}

bool UsesTiles(int64_t depth, int64_t columns, Type type) {
  constexpr auto kUnit = static_cast<int64_t>(kTiledUnit);
  return type == Type::kBf16 && depth > 0 && columns > 0 && depth % kUnit == 0 &&
         columns % kUnit == 0 && CurrentIsa() >= Isa::kAmx;
}

}  // namespace

// Exactly one of the members is set.
struct PackedMatrix::Storage {
  std::optional<OneDnnMatrix> onednn;
  hwy::AlignedFreeUniquePtr<float[]> panels;
  hwy::AlignedFreeUniquePtr<Bf16[]> tiles;
  std::optional<Int8Matrix> int8;
};

PackedMatrix::PackedMatrix(int64_t depth, int64_t columns, Type type, Multiplier multiplier)
    : depth_(depth),
      columns_(columns),
      type_(type),
      multiplier_(multiplier),
      storage_(std::make_unique<Storage>()) {
  if (multiplier == Multiplier::kInt8) {
    storage_->int8.emplace(static_cast<size_t>(depth), static_cast<size_t>(columns),
                           FastestInt8Kernel());
    return;
  }
  if (multiplier == Multiplier::kFastest && UsesPanels(depth, columns, type)) {
    storage_->panels = hwy::AllocateAligned<float>(static_cast<size_t>(depth * columns));
    if (!storage_->panels) throw std::bad_alloc();
    return;
  }
  if (multiplier == Multiplier::kFastest && UsesTiles(depth, columns, type)) {
    storage_->tiles = hwy::AllocateAligned<Bf16>(static_cast<size_t>(depth * columns));
    if (!storage_->tiles) throw std::bad_alloc();
    return;
  }
  storage_->onednn.emplace(depth, columns, type);
}

PackedMatrix::PackedMatrix(PackedMatrix&&) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&&) noexcept = default;
PackedMatrix::~PackedMatrix() = default;

namespace {

void PackInt8(const FloatFactor& b, Int8Matrix* to) {
#pragma omp parallel for schedule(static)
  for (size_t n = 0; n < b.columns; n += Int8Matrix::kPartColumns) {
    FloatFactor part = b;
    part.source += n * b.column_stride;
    part.columns = std::min(Int8Matrix::kPartColumns, b.columns - n);
    to->Pack(part, n);
  }
}

}  // namespace

void PackedMatrix::Pack(const float* source, int64_t depth_stride, int64_t column_stride) {
  const FloatFactor b{source, static_cast<size_t>(depth_stride), static_cast<size_t>(column_stride),
                      static_cast<size_t>(depth_), static_cast<size_t>(columns_)};
  if (storage_->panels) {
    PackPanels(b, storage_->panels.get());
  } else if (storage_->tiles) {
    PackTiles(b, storage_->tiles.get());
  } else if (storage_->int8) {
    PackInt8(b, &*storage_->int8);
  } else {
    storage_->onednn->Pack(b);
  }
}

// Weights that are bf16 and stay bf16 are never floats.
void PackedMatrix::PackStoredByOneDnn(std::span<const StoredRows> parts, int64_t width,
                                      bool transposed) {
  FloatFactor b{nullptr, static_cast<size_t>(transposed ? 1 : width),
                static_cast<size_t>(transposed ? width : 1), static_cast<size_t>(depth_),
                static_cast<size_t>(columns_)};
  const bool bf16 = type_ == Type::kBf16 && std::all_of(parts.begin(), parts.end(), [](auto& part) {
                      return part.type == Type::kBf16;
                    });
  if (!bf16) {
    std::vector<float> all(static_cast<size_t>(depth_ * columns_));
    CopyToFloat({parts, width, false, 0, width}, all.data());
    b.source = all.data();
    storage_->onednn->Pack(b);
    return;
  }
  std::vector<Bf16> together;
  if (parts.size() > 1) {
    together.reserve(static_cast<size_t>(depth_ * columns_));
    for (const StoredRows& part : parts) {
      const auto* values = static_cast<const Bf16*>(part.data);
      together.insert(together.end(), values, values + part.rows * width);
    }
  }
  storage_->onednn->PackBf16(parts.size() > 1 ? together.data() : parts.front().data, b);
}

void PackedMatrix::PackStored(std::span<const StoredRows> parts, int64_t width, bool transposed) {
  if (storage_->onednn) {
    PackStoredByOneDnn(parts, width, transposed);
    return;
  }
  // A multiple of the width of panels and of that of tiles, so that a block is whole ones.
  constexpr int64_t kColumns = 96;
  static_assert(kColumns == Int8Matrix::kPartColumns);
#pragma omp parallel
  {
    std::vector<float> block(static_cast<size_t>(depth_ * std::min(kColumns, columns_)));
#pragma omp for schedule(static)
    for (int64_t n = 0; n < columns_; n += kColumns) {
      const int64_t end = std::min(n + kColumns, columns_), count = end - n;
      CopyToFloat({parts, width, transposed, n, end}, block.data());
      const FloatFactor b{block.data(), static_cast<size_t>(transposed ? 1 : count),
                          static_cast<size_t>(transposed ? depth_ : 1), static_cast<size_t>(depth_),
                          static_cast<size_t>(count)};
      if (storage_->panels) {
        PackPanels(b, storage_->panels.get() + n * depth_);
      } else if (storage_->int8) {
        storage_->int8->Pack(b, static_cast<size_t>(n));
      } else {
        PackTiles(b, storage_->tiles.get() + n * depth_);
      }
    }
  }
}

namespace {

TiledProduct TiledProductOf(ConstMatrix x, const PackedMatrix& b, const float* bias) {
  if (x.stride % 2 != 0) {
    throw std::logic_error("the rows of a bf16 factor must begin an even number of elements apart");
  }
  return {static_cast<const Bf16*>(x.data),
          static_cast<size_t>(x.stride),
          static_cast<size_t>(b.depth()),
          b.storage().tiles.get(),
          bias,
          static_cast<size_t>(b.columns())};
}

OneDnnProduct OneDnnProductOf(const PackedProduct& p, const Matrix& out, Type out_type) {
  return {p.x,    p.rows, p.b.depth(), p.b.columns(), p.b.type(), *p.b.storage().onednn,
          p.bias, out,    out_type};
}

// Adds the product in a pass of its own: oneDNN 2.6 multiplies bf16 at 0.6 of its rate where it
// adds to the destination itself.
void AddOneDnnProduct(const PackedProduct& p) {
  const auto rows = static_cast<size_t>(p.rows), stride = static_cast<size_t>(p.out.stride);
  const auto columns = static_cast<size_t>(p.b.columns());
  float* product = AllocateScratchArray<float, PackedProduct>(rows * columns);
  MultiplyByOneDnn(OneDnnProductOf(p, {product, p.b.columns()}, Type::kFloat));
  const auto add_to = [&](auto* out) {
    for (size_t r = 0; r < rows; ++r) {
      AddRows(product + r * columns, out + r * stride, out + r * stride, columns);
    }
  };
  if (p.out_type == Type::kFloat) {
    add_to(static_cast<float*>(p.out.data));
  } else {
    add_to(static_cast<Bf16*>(p.out.data));
  }
}

}  // namespace

void MultiplyPacked(const PackedProduct& p) {
  if (p.rows == 0) return;
  if (p.add && p.bias) throw std::logic_error("a product that is added to takes no bias");
  const PackedMatrix::Storage& storage = p.b.storage();
  const auto rows = static_cast<size_t>(p.rows), stride = static_cast<size_t>(p.out.stride);
  if (storage.panels) {
    MultiplyPanels(
        {static_cast<const float*>(p.x.data), static_cast<size_t>(p.x.stride),
         static_cast<size_t>(p.b.depth()), storage.panels.get(), p.bias,
         static_cast<float*>(p.out.data), stride, static_cast<size_t>(p.b.columns()), p.add},
        rows);
  } else if (storage.tiles) {
    const TiledProduct product = TiledProductOf(p.x, p.b, p.bias);
    if (p.out_type == Type::kFloat) {
      MultiplyTiled(product, rows, FloatResult{static_cast<float*>(p.out.data), stride, p.add});
    } else {
      MultiplyTiled(product, rows, Bf16Result{static_cast<Bf16*>(p.out.data), stride, p.add});
    }
  } else if (storage.int8) {
    MultiplyInt8({p.x.data, p.b.type(), static_cast<size_t>(p.x.stride), *storage.int8, p.bias,
                  p.out.data, p.out_type, stride, p.add},
                 rows);
  } else if (p.add) {
    AddOneDnnProduct(p);
  } else {
    MultiplyByOneDnn(OneDnnProductOf(p, p.out, p.out_type));
  }
}

template <typename A>
void MultiplyToGelu(const GeluProduct<A>& p) {
  const ConstMatrix x{p.x, p.b.depth()};
  if constexpr (std::is_same_v<A, Bf16>) {
    if (p.b.storage().tiles) {
      MultiplyTiled(TiledProductOf(x, p.b, p.bias), p.rows, GeluResult{p.before, p.activated});
      return;
    }
  }
  A* product = p.before ? p.before : p.activated;
  MultiplyPacked(
      {x, static_cast<int64_t>(p.rows), p.b, p.bias, {product, p.b.columns()}, p.b.type()});
  RunGeluForward(product, p.activated, p.rows * static_cast<size_t>(p.b.columns()));
}

template <typename A>
void MultiplyToGeluGradient(const GeluGradientProduct<A>& p) {
  const ConstMatrix x{p.x, p.b.depth()};
  if constexpr (std::is_same_v<A, Bf16>) {
    if (p.b.storage().tiles) {
      MultiplyTiled(TiledProductOf(x, p.b, nullptr), p.rows,
                    GeluGradientResult{p.before, p.grad, p.activated, p.column_sums});
      return;
    }
  }
  const auto columns = static_cast<size_t>(p.b.columns());
  MultiplyPacked(
      {x, static_cast<int64_t>(p.rows), p.b, nullptr, {p.grad, p.b.columns()}, p.b.type()});
  RunGeluBackward(p.before, p.grad, p.activated, p.rows * columns);
  if (p.column_sums) AddColumnSums(p.grad, p.column_sums, p.rows, columns);
}

template void MultiplyToGelu(const GeluProduct<float>&);
template void MultiplyToGelu(const GeluProduct<Bf16>&);
template void MultiplyToGeluGradient(const GeluGradientProduct<float>&);
template void MultiplyToGeluGradient(const GeluGradientProduct<Bf16>&);

void MultiplyTransposed(const WeightGradient& p) {
  if (p.depth == 0) {
    if (!p.add) std::fill_n(p.sum, p.m * p.n, 0.0F);
    return;
  }
  const auto a_stride = static_cast<size_t>(p.a.stride), b_stride = static_cast<size_t>(p.b.stride);
  const auto depth = static_cast<size_t>(p.depth);
  const auto m = static_cast<size_t>(p.m), n = static_cast<size_t>(p.n);
  if (UsesPanels(p.depth, p.n, p.type)) {
    MultiplyTransposedPanels({static_cast<const float*>(p.a.data), a_stride,
                              static_cast<const float*>(p.b.data), b_stride, depth, p.sum, m, n,
                              p.add});
  } else if (UsesTiles(p.m, p.n, p.type)) {  // they take any depth
    MultiplyTransposedTiled({static_cast<const Bf16*>(p.a.data), a_stride,
                             static_cast<const Bf16*>(p.b.data), b_stride, depth, p.sum, m, n,
                             p.add});
  } else {
    MultiplyTransposedByOneDnn(p);
  }
}

namespace {

// The whole panels of the product, and the last columns, fewer than 16, beside zeros. So copies of
// a row are multiplied in the same order wherever they stand; of oneDNN's kernels those with AVX2
// have another order for the columns beyond a multiple of 16.
void MultiplyRowsByPanels(const RowsByRows& p) {
  const auto m = static_cast<size_t>(p.m), n = static_cast<size_t>(p.n);
  const auto depth = static_cast<size_t>(p.depth);
  constexpr size_t kUnit = 16;
  const size_t rest = n % kUnit, whole = n - rest;
  struct Arrays {
    float* panels;
    float* rows;      // the last ones, and below them zeros
    float* products;  // [m, kUnit]
  };
  const Arrays arrays = AllocateScratch<RowsByRows>([&](Scratch& scratch) {
    return Arrays{scratch.Allocate<float>(std::max(whole, kUnit) * depth),
                  scratch.Allocate<float>(kUnit * depth), scratch.Allocate<float>(m * kUnit)};
  });
  if (whole > 0) {
    PackPanels({p.b, 1, depth, depth, whole}, arrays.panels);
    MultiplyPanels({p.a, depth, depth, arrays.panels, nullptr, p.out, n, whole}, m);
  }
  if (rest == 0) return;
  std::fill(std::copy_n(p.b + whole * depth, rest * depth, arrays.rows),
            arrays.rows + kUnit * depth, 0.0F);
  PackPanels({arrays.rows, 1, depth, depth, kUnit}, arrays.panels);
  MultiplyPanels({p.a, depth, depth, arrays.panels, nullptr, arrays.products, kUnit, kUnit}, m);
  for (size_t row = 0; row < m; ++row) {
    std::copy_n(arrays.products + row * kUnit, rest, p.out + row * n + whole);
  }
}

}  // namespace

void MultiplyRowsByRows(const RowsByRows& p) {
  if (p.m == 0 || p.n == 0) return;
  if (p.depth > 0 && CurrentIsa() > Isa::kBaseline) {
    MultiplyRowsByPanels(p);
  } else {
    MultiplyRowsByRowsByOneDnn(p);
  }
}

}  // namespace tandem::tensor::cpu
