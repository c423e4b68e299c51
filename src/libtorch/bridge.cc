#include "libtorch/bridge.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <utility>

#include "tensor/core/storage.h"

namespace tandem::libtorch {
namespace {

using tensor::StorageRef;

// The context of a libtorch storage whose memory is a storage of Tandem's, which it holds.
void Release(void* held) { delete static_cast<StorageRef*>(held); }

at::DataPtr Holding(const StorageRef& storage, void* data) {
  return {data, new StorageRef(storage), &Release, TorchDevice(storage->device())};
}

// The storage of Tandem's that has the memory of `storage`: the one that it holds already, or a new
// one that owns the memory in its place.
StorageRef Shared(const at::Storage& storage) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const at::DataPtr& known = storage.data_ptr();
  if (known.get_deleter() == &Release) return *static_cast<const StorageRef*>(known.get_context());
  const tensor::Device device = DeviceOf(known.device());
  void* const data = known.get();
  auto owner = std::make_shared<at::DataPtr>();
  const StorageRef shared = StorageRef::Borrow(data, storage.nbytes(), device, owner);
  *owner = storage.set_data_ptr(Holding(shared, data));
  return shared;
}

size_t OffsetIn(const StorageRef& storage, const at::Tensor& x) {
  if (x.numel() == 0) return 0;
  return static_cast<size_t>(static_cast<const std::byte*>(x.data_ptr()) - storage->data());
}

}  // namespace

at::Tensor AsTorch(const tensor::Tensor& x) {
  if (!x.defined()) return {};
  const tensor::Shape& sizes = x.sizes();
  const at::Device device = TorchDevice(x.device());
  return at::for_blob(x.data_ptr(), at::IntArrayRef(sizes.begin(), sizes.end()))
      .context(new StorageRef(x.storage()), &Release)
      .target_device(device)
      .options(at::TensorOptions(TorchType(x.dtype())).device(device))
      .make_tensor();
}

tensor::Tensor FromTorch(const at::Tensor& x) {
  if (!x.defined()) return {};
  if (x.layout() != at::kStrided) {
    throw std::logic_error("FromTorch: expected a dense tensor, found a sparse one");
  }
  const tensor::DType type = TypeOf(x.scalar_type());
  DeviceOf(x.device());  // before anything is copied
  const at::Tensor dense = x.detach().contiguous();
  const StorageRef storage = Shared(dense.storage());
  const at::IntArrayRef sizes = dense.sizes();
  return {storage, OffsetIn(storage, dense), std::span(sizes.data(), sizes.size()), type};
}

std::vector<at::Tensor> AsTorch(const std::vector<tensor::Tensor>& tensors) {
  std::vector<at::Tensor> all;
  all.reserve(tensors.size());
  for (const tensor::Tensor& x : tensors) all.push_back(AsTorch(x));
  return all;
}

at::Tensor TorchMovedTo(const at::Tensor& x, at::Device device) {
  return x.to(device, x.scalar_type(), /*non_blocking=*/!device.is_cpu());
}

at::ScalarType TorchType(tensor::DType type) {
  switch (type) {
    case tensor::DType::kFloat:
      return at::kFloat;
    case tensor::DType::kDouble:
      return at::kDouble;
    case tensor::DType::kBFloat16:
      return at::kBFloat16;
    case tensor::DType::kHalf:
      return at::kHalf;
    case tensor::DType::kLong:
      return at::kLong;
    case tensor::DType::kInt:
      return at::kInt;
    case tensor::DType::kByte:
      return at::kByte;
    case tensor::DType::kBool:
      return at::kBool;
  }
  throw std::logic_error("a type without a name");
}

tensor::DType TypeOf(at::ScalarType type) {
  for (const tensor::DType known :
       {tensor::kFloat, tensor::kDouble, tensor::kBFloat16, tensor::kHalf, tensor::kLong,
        tensor::kInt, tensor::kByte, tensor::kBool}) {
    if (TorchType(known) == type) return known;
  }
  throw std::logic_error(fmt::format("Tandem has no tensors of {}", at::toString(type)));
}

at::Device TorchDevice(tensor::Device device) {
  switch (device.kind) {
    case tensor::Device::Kind::kCpu:
      return at::kCPU;
    case tensor::Device::Kind::kCuda:
      return {at::kCUDA, static_cast<at::DeviceIndex>(device.index)};
  }
  throw std::logic_error("a device without a name");
}

tensor::Device DeviceOf(at::Device device) {
  if (device.is_cpu()) return tensor::kCpuDevice;
  if (!device.is_cuda()) {
    throw std::logic_error(fmt::format("Tandem has no tensors on {}", device.str()));
  }
  return {tensor::Device::Kind::kCuda, device.has_index() ? device.index() : 0};
}

}  // namespace tandem::libtorch
