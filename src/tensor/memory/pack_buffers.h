// Memory for packed copies of weights that are made where they are used, because copies of all
// layers would take too much.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>

#include "tensor/kernels/cpu/products/products.h"
#include "tensor/passes.h"

namespace tandem::tensor {

// One buffer for each thread that runs passes, slot, pass and shape. Several threads may use it.
class PackBuffers {
 public:
  // The content of a buffer: the weights of the map `owner` at `version`.
  struct Content {
    uint64_t owner = 0;
    uint64_t version = 0;
    bool operator==(const Content&) const = default;
  };
  struct Place {
    int slot = 0;
    Pass pass = Pass::kForward;
    int64_t depth = 0, columns = 0;
    cpu::Type type = cpu::Type::kFloat;
    cpu::Multiplier multiplier = cpu::Multiplier::kFastest;
  };

  // The calling thread's buffer at `place`, filled by `pack` unless it holds `content` already.
  const cpu::PackedMatrix& Get(const Place& place, const Content& content,
                               const std::function<void(cpu::PackedMatrix*)>& pack);

 private:
  struct Buffer {
    cpu::PackedMatrix matrix;
    Content content;
  };
  using Key = std::tuple<std::thread::id, int, Pass, int64_t, int64_t, cpu::Type, cpu::Multiplier>;
  std::mutex mutex_;  // of the map; a buffer is used by its thread alone
  std::map<Key, Buffer> buffers_;
};

}  // namespace tandem::tensor
