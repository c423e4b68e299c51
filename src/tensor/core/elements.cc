// Reads and writes of tensors' elements.
#include "tensor/core/elements.h"

#include <fmt/format.h>

#include <cstring>
#include <stdexcept>

#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/device_memory.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/tensor.h"

namespace tandem::tensor {

using internal::Converted, internal::ForEach, internal::ForFloating, internal::Widened;

namespace {

// Elements of one type. Views of one storage may overlap.
void CopyBytes(const Tensor& from, const Tensor& to) {
  auto* target = static_cast<std::byte*>(to.data_ptr());
  const auto* source = static_cast<const std::byte*>(from.data_ptr());
  if (from.SharesStorage(to)) {
    std::memmove(target, source, to.nbytes());
    return;
  }
  constexpr int64_t kGrain = int64_t{1} << 20;
  ParallelFor(0, static_cast<int64_t>(to.nbytes()), kGrain, [&](int64_t first, int64_t past) {
    std::memcpy(target + first, source + first, static_cast<size_t>(past - first));
  });
}

void Convert(const Tensor& source, const Tensor& target) {
  ForElement(target.dtype(), [&](auto to_zero) {
    using To = decltype(to_zero);
    auto* to = target.data_ptr<To>();
    ForElement(source.dtype(), [&](auto from_zero) {
      const auto* from = source.data_ptr<decltype(from_zero)>();
      ForEach(target.numel(), [=](int64_t i) { to[i] = Converted<To>(from[i]); });
    });
  });
}

void CheckWrite(const char* function, const Tensor& to) {
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

}  // namespace

template <Element T>
T Tensor::item() const {
  if (numel() != 1) {
    throw std::logic_error(fmt::format("item: expected a tensor of one element, found {}", Text()));
  }
  const Tensor here = OnCpu(detach());
  return ForElement(dtype(),
                    [&](auto zero) { return Converted<T>(*here.data_ptr<decltype(zero)>()); });
}
template float Tensor::item<float>() const;
template double Tensor::item<double>() const;
template int64_t Tensor::item<int64_t>() const;
template int32_t Tensor::item<int32_t>() const;
template bool Tensor::item<bool>() const;

const Tensor& Tensor::copy_(const Tensor& from) const {
  CheckWrite("copy_", *this);
  if (from.sizes() != sizes()) {
    throw std::logic_error(
        fmt::format("copy_: expected {}, found {}", sizes().Text(), from.Text()));
  }
  if (!is_cpu() || !from.is_cpu()) {
    BackEndFunctions().Copy(from.detach(), detach());
  } else if (from.dtype() == dtype()) {
    CopyBytes(from, *this);
  } else {
    Convert(from, *this);
  }
  bump_version();
  return *this;
}

const Tensor& Tensor::fill_(double value) const {
  CheckWrite("fill_", *this);
  if (!is_cpu()) {
    BackEndFunctions().Fill(detach(), value);
  } else {
    ForElement(dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = data_ptr<T>();
      ForEach(numel(), [to, filler = Converted<T>(value)](int64_t i) { to[i] = filler; });
    });
  }
  bump_version();
  return *this;
}

const Tensor& Tensor::add_(const Tensor& other) const {
  CheckWrite("add_", *this);
  CheckFloating("add_", *this);
  if (other.sizes() != sizes() || other.dtype() != dtype() || other.device() != device()) {
    throw std::logic_error(fmt::format("add_: expected {}, found {}", Text(), other.Text()));
  }
  if (!is_cpu()) {
    BackEndFunctions().AddTo(detach(), other.detach());
  } else {
    ForFloating(dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = data_ptr<T>();
      const T* from = other.data_ptr<T>();
      ForEach(numel(),
              [to, from](int64_t i) { to[i] = Converted<T>(Widened(to[i]) + Widened(from[i])); });
    });
  }
  bump_version();
  return *this;
}

const Tensor& Tensor::mul_(double factor) const {
  CheckWrite("mul_", *this);
  CheckFloating("mul_", *this);
  if (!is_cpu()) {
    BackEndFunctions().Scale(detach(), factor);
  } else {
    ForFloating(dtype(), [&](auto zero) {
      using T = decltype(zero);
      T* to = data_ptr<T>();
      ForEach(numel(), [to, by = static_cast<internal::Wide<T>>(factor)](int64_t i) {
        to[i] = Converted<T>(Widened(to[i]) * by);
      });
    });
  }
  bump_version();
  return *this;
}

}  // namespace tandem::tensor
