// `precompiled_charsmap`: SentencePiece's table of what to write for a character or a sequence of
// them, as bytes in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::text {

// A key that starts no other way than with itself: of all keys that a text may start with, the
// package takes the shortest, so that longer ones count for nothing.
struct CharacterMapEntry {
  std::string key;         // valid UTF-8, at most kMaxKey bytes
  std::string_view value;  // valid UTF-8, may be empty
};

// Longer keys are left out: the package looks clusters of up to five bytes up.
inline constexpr size_t kMaxCharacterMapKey = 5;

// The entries of a map, ascending by key. `bytes` holds, little-endian, the size of a double array
// (Darts, Yata), the array itself, and the values, each with a zero byte after it; the entries'
// values are views into it. Throws std::invalid_argument, which says what is broken, where a size,
// a place in the array or a value is out of bounds, the array has a loop, or a key or value is not
// UTF-8.
std::vector<CharacterMapEntry> ReadCharacterMap(std::string_view bytes);

}  // namespace tandem::text
