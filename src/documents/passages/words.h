// Words of a text as they are counted and compared: runs of letters, marks and digits in lower
// case; a Chinese, Japanese or Korean ideograph is a word of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::documents {

// `text` must be valid UTF-8, as in all functions here.
size_t WordCount(std::string_view text);

// A hash of each word, in order. Equal words have equal hashes.
std::vector<uint64_t> WordHashes(std::string_view text);

// Whether the words `part` stand in `words` side by side; no words stand everywhere.
bool HasRun(const std::vector<uint64_t>& words, const std::vector<uint64_t>& part);

}  // namespace tandem::documents
