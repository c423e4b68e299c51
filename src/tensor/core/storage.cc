#include "tensor/core/storage.h"

#include <limits>
#include <new>

#include "base/error.h"

namespace tandem::tensor {

StorageRef StorageRef::Allocate(size_t bytes) {
  Allocator& allocator = CurrentAllocator();
  void* block = nullptr;
  if (bytes <= std::numeric_limits<size_t>::max() - kStorageHeader) {
    block = allocator.Allocate(kStorageHeader + bytes);
  }
  if (block == nullptr) throw MemoryError(bytes);
  auto* data = static_cast<std::byte*>(block) + kStorageHeader;
  return StorageRef(new (block) Storage(data, bytes, kCpuDevice, &allocator, {}));
}

StorageRef StorageRef::Borrow(void* data, size_t bytes, Device device,
                              std::shared_ptr<const void> owner) {
  return StorageRef(
      new Storage(static_cast<std::byte*>(data), bytes, device, nullptr, std::move(owner)));
}

void Storage::Destroy(Storage* storage) noexcept {
  Allocator* allocator = storage->allocator_;
  if (allocator == nullptr) {
    delete storage;
    return;
  }
  const size_t bytes = kStorageHeader + storage->bytes_;
  storage->~Storage();
  allocator->Free(storage, bytes);
}

}  // namespace tandem::tensor
