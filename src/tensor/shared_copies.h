// The packed copies of frozen weights that several linear maps share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "tensor/kernels/cpu/products/products.h"
#include "tensor/passes.h"

namespace tandem::tensor {

// Knows the copies by the memory of the weights and their version. Whoever has one keeps the
// weights too, so that the memory is not another's meanwhile.
class SharedCopies {
 public:
  using Key = std::tuple<std::vector<const void*>, uint64_t, Pass, cpu::Type, cpu::Multiplier>;

  // The copy of that key, made where nobody has one. Thread-safe; one thread at a time makes one.
  static std::shared_ptr<cpu::PackedMatrix> Get(
      const Key& key, const std::function<std::shared_ptr<cpu::PackedMatrix>()>& make) {
    static SharedCopies copies;
    const std::lock_guard lock(copies.mutex_);
    std::weak_ptr<cpu::PackedMatrix>& known = copies.by_weights_[key];
    std::shared_ptr<cpu::PackedMatrix> copy = known.lock();
    if (copy) return copy;
    known = copy = make();
    std::erase_if(copies.by_weights_, [](const auto& entry) { return entry.second.expired(); });
    return copy;
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::weak_ptr<cpu::PackedMatrix>> by_weights_;
};

}  // namespace tandem::tensor
