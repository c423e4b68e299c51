// Many strings in few allocations.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

namespace tandem::data {

// Copies of byte strings that live as long as the arena. Moving the arena keeps the views valid;
// it cannot be copied.
class Arena {
 public:
  // The copy. Throws std::bad_alloc.
  std::string_view Copy(std::string_view bytes);

 private:
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* free_ = nullptr;  // into the last block
  size_t left_ = 0;
};

}  // namespace tandem::data
