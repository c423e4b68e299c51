#include "tensor/core/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <stdexcept>

namespace tandem::tensor {
namespace {

std::string TextOf(std::span<const int64_t> sizes) {
  return fmt::format("[{}]", fmt::join(sizes, ", "));
}

}  // namespace

Shape::Shape(std::span<const int64_t> sizes) {
  if (static_cast<int64_t>(sizes.size()) > kMostDimensions) {
    throw std::logic_error(
        fmt::format("a tensor has at most 4 dimensions, found the sizes {}", TextOf(sizes)));
  }
  for (const int64_t size : sizes) {
    if (size >= 0) continue;
    throw std::logic_error(fmt::format("sizes of a tensor are 0 or more, found {}", TextOf(sizes)));
  }
  std::ranges::copy(sizes, sizes_.begin());
  dimensions_ = static_cast<int64_t>(sizes.size());
  bool fits = true;
  for (size_t i = 1; i < sizes.size(); ++i) {
    fits = fits && !__builtin_mul_overflow(row_elements_, sizes[i], &row_elements_);
  }
  const int64_t rows = sizes.empty() ? 1 : sizes[0];
  fits = fits && !__builtin_mul_overflow(row_elements_, rows, &elements_);
  if (!fits) {
    throw std::logic_error(fmt::format(
        "a tensor of the sizes {} has more elements than can be counted", TextOf(sizes)));
  }
}

Shape Shape::WithRows(int64_t rows) const {
  if (dimensions_ == 0) ThrowNoDimension(0);
  auto sizes = sizes_;
  sizes[0] = rows;
  return Shape(std::span<const int64_t>(sizes.data(), size()));
}

Shape Shape::WithoutFirst() const {
  if (dimensions_ == 0) ThrowNoDimension(0);
  return Shape(std::span<const int64_t>(begin() + 1, size() - 1));
}

std::string Shape::Text() const { return TextOf({begin(), end()}); }

void Shape::ThrowNoDimension(int64_t dimension) const {
  throw std::logic_error(
      fmt::format("a tensor {} has no dimension {}", TextOf({begin(), end()}), dimension));
}

}  // namespace tandem::tensor
