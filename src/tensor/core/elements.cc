// Reads and writes of tensors' elements.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <type_traits>

#include "tensor/core/tape.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {
namespace {

template <typename T>
constexpr bool kIs16Bits = std::is_same_v<T, Half> || std::is_same_v<T, Bf16>;

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

template <typename To, typename From>
void Convert(const From* from, int64_t count, To* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = Converted<To>(from[i]);
}

void CheckWrite(const char* function, const Tensor& to) {
  if (!to.is_cpu()) {
    throw std::logic_error(fmt::format("{}: expected the processor's memory, found {} on {}",
                                       function, to.Text(), to.device().str()));
  }
  if (GradEnabled() && to.requires_grad()) {
    throw std::logic_error(
        fmt::format("{}: {} has a part in a graph, which would not see the write: write to its "
                    "detach()",
                    function, to.Text()));
  }
}

void CheckFloating(const char* function, const Tensor& tensor) {
  if (IsFloating(tensor.dtype())) return;
  throw std::logic_error(
      fmt::format("{}: expected a floating type, found {}", function, tensor.Text()));
}

// ForElement for floating types.
template <typename Body>
void ForFloating(DType type, const Body& body) {
  ForElement(type, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) body(zero);
  });
}

}  // namespace

template <Element T>
T Tensor::item() const {
  if (numel() != 1 || !is_cpu()) {
    throw std::logic_error(
        fmt::format("item: expected a tensor of one element on the processor, found {}", Text()));
  }
  return ForElement(dtype(), [&](auto zero) { return Converted<T>(*data_ptr<decltype(zero)>()); });
}
template float Tensor::item<float>() const;
template double Tensor::item<double>() const;
template int64_t Tensor::item<int64_t>() const;
template int32_t Tensor::item<int32_t>() const;
template bool Tensor::item<bool>() const;

const Tensor& Tensor::copy_(const Tensor& from) const {
  CheckWrite("copy_", *this);
  if (from.sizes() != sizes() || !from.is_cpu()) {
    throw std::logic_error(
        fmt::format("copy_: expected {} on the processor, found {}", sizes().Text(), from.Text()));
  }
  if (from.dtype() == dtype()) {
    std::memmove(body_->data, from.data_ptr(), nbytes());
  } else {
    ForElement(dtype(), [&](auto to_zero) {
      auto* to = data_ptr<decltype(to_zero)>();
      ForElement(from.dtype(), [&](auto from_zero) {
        Convert(from.data_ptr<decltype(from_zero)>(), numel(), to);
      });
    });
  }
  bump_version();
  return *this;
}

const Tensor& Tensor::fill_(double value) const {
  CheckWrite("fill_", *this);
  ForElement(dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(data_ptr<T>(), numel(), Converted<T>(value));
  });
  bump_version();
  return *this;
}

const Tensor& Tensor::add_(const Tensor& other) const {
  CheckWrite("add_", *this);
  CheckFloating("add_", *this);
  if (other.sizes() != sizes() || other.dtype() != dtype()) {
    throw std::logic_error(fmt::format("add_: expected {}, found {}", Text(), other.Text()));
  }
  ForFloating(dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* to = data_ptr<T>();
    const T* from = other.data_ptr<T>();
    for (int64_t i = 0; i < numel(); ++i) to[i] = Converted<T>(Widened(to[i]) + Widened(from[i]));
  });
  bump_version();
  return *this;
}

const Tensor& Tensor::mul_(double factor) const {
  CheckWrite("mul_", *this);
  CheckFloating("mul_", *this);
  ForFloating(dtype(), [&](auto zero) {
    using T = decltype(zero);
    const auto by = static_cast<Wide<T>>(factor);
    T* to = data_ptr<T>();
    for (int64_t i = 0; i < numel(); ++i) to[i] = Converted<T>(Widened(to[i]) * by);
  });
  bump_version();
  return *this;
}

}  // namespace tandem::tensor
