// The types of a tensor's elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tensor/core/half.h"
#include "tensor/kernels/cpu/bf16.h"

namespace tandem::tensor {

// bfloat16, as the kernels see it. Half: core/half.h.
using Bf16 = cpu::Bf16;

enum class DType : uint8_t { kFloat, kDouble, kBFloat16, kHalf, kLong, kInt, kByte, kBool };

inline constexpr DType kFloat = DType::kFloat;        // float
inline constexpr DType kDouble = DType::kDouble;      // double
inline constexpr DType kBFloat16 = DType::kBFloat16;  // Bf16
inline constexpr DType kHalf = DType::kHalf;          // Half
inline constexpr DType kLong = DType::kLong;          // int64_t
inline constexpr DType kInt = DType::kInt;            // int32_t
inline constexpr DType kByte = DType::kByte;          // uint8_t
inline constexpr DType kBool = DType::kBool;          // bool

// Bytes of one element.
size_t ElementSize(DType type);
// "float32", "float64", "bfloat16", "float16", "int64", "int32", "uint8" or "bool".
std::string_view Name(DType type);
// Says whether its numbers have fractions. Only such tensors have gradients.
bool IsFloating(DType type);

namespace internal {

template <typename T>
constexpr DType TypeOf() {
  if constexpr (std::is_same_v<T, float>) return DType::kFloat;
  if constexpr (std::is_same_v<T, double>) return DType::kDouble;
  if constexpr (std::is_same_v<T, Bf16>) return DType::kBFloat16;
  if constexpr (std::is_same_v<T, Half>) return DType::kHalf;
  if constexpr (std::is_same_v<T, int64_t>) return DType::kLong;
  if constexpr (std::is_same_v<T, int32_t>) return DType::kInt;
  if constexpr (std::is_same_v<T, uint8_t>) return DType::kByte;
  if constexpr (std::is_same_v<T, bool>) return DType::kBool;
}

}  // namespace internal

// A C++ type that is the type of some tensors' elements.
template <typename T>
concept Element = std::is_same_v<T, float> || std::is_same_v<T, double> ||
    std::is_same_v<T, Bf16> || std::is_same_v<T, Half> || std::is_same_v<T, int64_t> ||
    std::is_same_v<T, int32_t> || std::is_same_v<T, uint8_t> || std::is_same_v<T, bool>;

// The DType of a C++ type.
template <Element T>
inline constexpr DType kTypeOf = internal::TypeOf<T>();

// Calls body with a zero of the C++ type of `type`, and returns what it returns.
template <typename Body>
decltype(auto) ForElement(DType type, Body&& body) {
  switch (type) {
    case DType::kFloat:
      return body(float{});
    case DType::kDouble:
      return body(double{});
    case DType::kBFloat16:
      return body(Bf16{});
    case DType::kHalf:
      return body(Half{});
    case DType::kLong:
      return body(int64_t{});
    case DType::kInt:
      return body(int32_t{});
    case DType::kByte:
      return body(uint8_t{});
    case DType::kBool:
      break;
  }
  return body(bool{});
}

}  // namespace tandem::tensor
