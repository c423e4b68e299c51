// The sizes of a tensor's dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

namespace tandem::tensor {

// At most four dimensions, each of 0 or more elements, kept in place. Without a dimension it is the
// shape of one number.
class Shape {
 public:
  static constexpr int64_t kMostDimensions = 4;

  Shape() = default;
  // Throws std::logic_error for more than four sizes, a negative one, or more elements than int64
  // counts.
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  Shape(std::span<const int64_t> sizes);
  Shape(const std::vector<int64_t>& sizes) : Shape(std::span(sizes)) {}

  int64_t dim() const { return dimensions_; }
  // 1 for the shape of one number.
  int64_t numel() const { return elements_; }
  // The size of a dimension; -1 is the last one. Throws std::logic_error for one that there is not.
  int64_t operator[](int64_t dimension) const {
    const int64_t at = dimension < 0 ? dimension + dimensions_ : dimension;
    if (at < 0 || at >= dimensions_) ThrowNoDimension(dimension);
    return sizes_[static_cast<size_t>(at)];
  }
  // The elements of one index of the first dimension: numel() / (*this)[0], and what that would be
  // where the first size is 0.
  int64_t row_elements() const { return row_elements_; }
  // The shape with another first size. Throws std::logic_error where it has no dimension.
  Shape WithRows(int64_t rows) const;
  // The shape without its first dimension. Throws std::logic_error where it has none.
  Shape WithoutFirst() const;

  const int64_t* begin() const { return sizes_.data(); }
  const int64_t* end() const { return sizes_.data() + dimensions_; }
  size_t size() const { return static_cast<size_t>(dimensions_); }
  std::vector<int64_t> vec() const { return {begin(), end()}; }
  // As in "[2, 3]".
  std::string Text() const;

  friend bool operator==(const Shape& a, const Shape& b) {
    return a.dimensions_ == b.dimensions_ && a.sizes_ == b.sizes_;
  }

 private:
  [[noreturn]] void ThrowNoDimension(int64_t dimension) const;

  std::array<int64_t, kMostDimensions> sizes_ = {};
  int64_t elements_ = 1;
  int64_t row_elements_ = 1;
  int64_t dimensions_ = 0;
};

}  // namespace tandem::tensor
