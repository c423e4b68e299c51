// Tensors of tests from numbers, and back.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {

template <typename T>
Tensor Of(const Shape& shape, const std::vector<T>& values) {
  const Tensor tensor = Empty(shape, kTypeOf<T>);
  EXPECT_EQ(tensor.numel(), static_cast<int64_t>(values.size()));
  std::copy(values.begin(), values.end(), tensor.data_ptr<T>());
  return tensor;
}

inline Tensor Doubles(const Shape& shape, const std::vector<double>& values) {
  return Of<double>(shape, values);
}

template <typename T>
std::vector<T> ValuesOf(const Tensor& tensor) {
  return {tensor.data_ptr<T>(), tensor.data_ptr<T>() + tensor.numel()};
}

inline std::vector<double> DoublesOf(const Tensor& tensor) {
  return ValuesOf<double>(tensor.detach().to(kDouble));
}

// The text of the logic_error that `body` throws.
inline std::string Mistake(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace tandem::tensor
