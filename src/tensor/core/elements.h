// Arithmetic of elements of any type: for this library's own sources.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "tensor/core/dtype.h"
#include "tensor/core/half.h"
#include "tensor/core/parallel.h"

namespace tandem::tensor::internal {

template <typename T>
inline constexpr bool kIs16Bits = std::is_same_v<T, Half> || std::is_same_v<T, Bf16>;

// The type that a T computes in.
template <typename T>
using Wide = std::conditional_t<kIs16Bits<T>, float, T>;

template <typename T>
Wide<T> Widened(T value) {
  if constexpr (kIs16Bits<T>) {
    return FloatOf(value);
  } else {
    return value;
  }
}

// Tensor::to says what becomes of a number.
template <typename To, typename From>
To Converted(From value) {
  if constexpr (kIs16Bits<From>) {
    return Converted<To>(FloatOf(value));
  } else if constexpr (std::is_same_v<To, Half>) {
    return HalfOf(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, Bf16>) {
    return Bf16Of(static_cast<float>(value));
  } else if constexpr (std::is_same_v<To, bool>) {
    return value != 0;
  } else {
    return static_cast<To>(value);
  }
}

// to[i] += from[i] for `count` numbers.
template <typename T>
void AddElements(const T* from, int64_t count, T* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Converted<T>(Widened(to[i]) + Widened(from[i]));
}

// ForElement for floating types.
template <typename Body>
void ForFloating(DType type, const Body& body) {
  ForElement(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) body(zero);
  });
}

// Elements that a thread has at least where threads share them, as libtorch's threads do.
inline constexpr int64_t kElementsOfThread = 32768;

// Calls body(i) for each i below `count`, on several threads where there is enough to do: elements
// do not depend on one another.
template <typename Body>
void ForEach(int64_t count, const Body& body) {
  ParallelFor(0, count, kElementsOfThread, [&](int64_t first, int64_t past) {
    for (int64_t i = first; i < past; ++i) body(i);
  });
}

// Calls body(first, past) for ranges of `rows` rows of `width` elements, on several threads where
// there is enough to do.
template <typename Body>
void ForRows(int64_t rows, int64_t width, const Body& body) {
  const int64_t grain = std::max<int64_t>(1, kElementsOfThread / std::max<int64_t>(1, width));
  ParallelFor(0, rows, grain, body);
}

}  // namespace tandem::tensor::internal
