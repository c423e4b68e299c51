#include "tensor/memory/pack_buffers.h"

#include <utility>

namespace tandem::tensor {

const cpu::PackedMatrix& PackBuffers::Get(const Place& place, const Content& content,
                                          const std::function<void(cpu::PackedMatrix*)>& pack) {
  Buffer* buffer = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const Key key{std::this_thread::get_id(),
                  place.slot,
                  place.pass,
                  place.depth,
                  place.columns,
                  place.type,
                  place.multiplier};
    auto found = buffers_.find(key);
    if (found == buffers_.end()) {
      found = buffers_
                  .emplace(key, Buffer{cpu::PackedMatrix(place.depth, place.columns, place.type,
                                                         place.multiplier),
                                       {}})
                  .first;
    }
    buffer = &found->second;
  }
  if (buffer->content != content) {
    buffer->content = {};  // of nobody while it is filled
    pack(&buffer->matrix);
    buffer->content = content;
  }
  return buffer->matrix;
}

}  // namespace tandem::tensor
