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
  // Stores a copy of `first` with that of `second` right after it. Throws std::bad_alloc.
  const char* CopyBoth(std::string_view first, std::string_view second);
  // Takes over the strings of another arena, to which views stay valid.
  void TakeOver(Arena other);

 private:
  char* Take(size_t bytes);

  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t held_ = 0;       // bytes of all blocks
  char* free_ = nullptr;  // into the last block
  size_t left_ = 0;
};

}  // namespace tandem::data
