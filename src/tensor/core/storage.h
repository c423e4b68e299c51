// The memory of tensors, shared by all tensors that are views of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "tensor/core/allocator.h"
#include "tensor/core/device.h"

namespace tandem::tensor {

// Bytes with a count of who holds them. They are allocated with the storage, so that both are one
// block; or they are someone else's (a mapped file, an array, a device's memory), with an owner
// that is held as long as they are.
class Storage {
 public:
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  std::byte* data() const { return data_; }
  size_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  // Counts the writes into this memory, so that copies in another form (packed weights) can be seen
  // to be old. Who writes through a pointer calls Bump.
  uint64_t version() const { return version_.load(std::memory_order_relaxed); }
  void Bump() { version_.fetch_add(1, std::memory_order_relaxed); }

 private:
  friend class StorageRef;

  Storage(std::byte* data, size_t bytes, Device device, Allocator* allocator,
          std::shared_ptr<const void> owner)
      : data_(data),
        bytes_(bytes),
        device_(device),
        allocator_(allocator),
        owner_(std::move(owner)) {}
  ~Storage() = default;
  static void Destroy(Storage* storage) noexcept;

  std::byte* data_;
  size_t bytes_;
  Device device_;
  Allocator* allocator_;               // null: the bytes are someone else's
  std::shared_ptr<const void> owner_;  // of such bytes; may be null
  std::atomic<uint64_t> version_ = 0;
  std::atomic<uint32_t> holders_ = 1;
};

// The storage itself lies before its bytes in the block that an allocator gives. A block of the
// page arena begins at a page, so that the bytes then begin 64 bytes after one, which costs at most
// one page.
inline constexpr size_t kStorageHeader = kAlignment;
static_assert(sizeof(Storage) <= kStorageHeader);

// Holds a storage, or none.
class StorageRef {
 public:
  // Uninitialised memory of CurrentAllocator. Throws MemoryError (base/error.h) with the number of
  // bytes where there is not so much. 0 bytes have an address too.
  static StorageRef Allocate(size_t bytes);
  // Memory of someone else, at any alignment, which lives while `owner` is held: until the last
  // holder of the storage lets go. A null owner means that the caller sees to it. On a device,
  // `data` is what its back end makes of it, and a deleter of the owner gives it back.
  static StorageRef Borrow(void* data, size_t bytes, Device device,
                           std::shared_ptr<const void> owner);

  StorageRef() = default;
  StorageRef(const StorageRef& other) : storage_(other.storage_) {
    if (storage_ != nullptr) storage_->holders_.fetch_add(1, std::memory_order_relaxed);
  }
  StorageRef(StorageRef&& other) noexcept : storage_(std::exchange(other.storage_, nullptr)) {}
  StorageRef& operator=(StorageRef other) noexcept {
    std::swap(storage_, other.storage_);
    return *this;
  }
  ~StorageRef() {
    if (storage_ != nullptr && storage_->holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      Storage::Destroy(storage_);
    }
  }

  Storage* operator->() const { return storage_; }
  Storage* get() const { return storage_; }
  // The number of its holders, this one among them.
  uint32_t holders() const { return storage_->holders_.load(std::memory_order_acquire); }
  bool unique() const { return holders() == 1; }

  friend bool operator==(const StorageRef&, const StorageRef&) = default;

 private:
  explicit StorageRef(Storage* storage) : storage_(storage) {}

  Storage* storage_ = nullptr;
};

}  // namespace tandem::tensor
