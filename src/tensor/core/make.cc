#include "tensor/core/make.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "tensor/core/back_end/device_functions.h"

namespace tandem::tensor {
namespace {

size_t BytesOf(const Shape& shape, DType type) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(static_cast<size_t>(shape.numel()), ElementSize(type), &bytes)) {
    throw std::logic_error(fmt::format("a tensor {} of {} has more bytes than can be counted",
                                       shape.Text(), Name(type)));
  }
  return bytes;
}

}  // namespace

Tensor Empty(const Shape& shape, DType type, Device device) {
  if (!device.is_cpu()) return BackEndFunctions().Empty(shape, type, device);
  return {StorageRef::Allocate(BytesOf(shape, type)), 0, shape, type};
}

Tensor Zeros(const Shape& shape, DType type, Device device) { return Full(shape, 0, type, device); }

Tensor Full(const Shape& shape, double value, DType type, Device device) {
  Tensor full = Empty(shape, type, device);
  full.fill_(value);
  return full;
}

Tensor Arange(int64_t count, DType type) {
  if (type == kBool) throw std::logic_error("Arange: expected a type of numbers, found bool");
  const Tensor whole = Empty({count}, kLong);
  auto* to = whole.data_ptr<int64_t>();
  for (int64_t i = 0; i < count; ++i) to[i] = i;
  return whole.to(type);
}

Tensor EmptyLike(const Tensor& like) { return Empty(like.sizes(), like.dtype(), like.device()); }
Tensor ZerosLike(const Tensor& like) { return Zeros(like.sizes(), like.dtype(), like.device()); }

Tensor FromBlob(void* data, const Shape& shape, DType type, std::shared_ptr<const void> owner) {
  const size_t element = ElementSize(type);
  if (reinterpret_cast<uintptr_t>(data) % element != 0) {
    throw std::logic_error(
        fmt::format("FromBlob: expected {} at a multiple of {} bytes", Name(type), element));
  }
  return FromDevice(data, shape, type, kCpuDevice, std::move(owner));
}

Tensor FromDevice(void* data, const Shape& shape, DType type, Device device,
                  std::shared_ptr<const void> owner) {
  const size_t bytes = BytesOf(shape, type);
  return {StorageRef::Borrow(data, bytes, device, std::move(owner)), 0, shape, type};
}

}  // namespace tandem::tensor
