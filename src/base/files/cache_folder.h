// Where Tandem keeps what it can make again.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tandem {

// $TANDEM_CACHE; where that is not set, $XDG_CACHE_HOME/tandem, else ~/.cache/tandem. It is empty
// where TANDEM_CACHE is set to nothing, and where CacheLimit() is 0: then nothing is kept. So it
// is, with a warning, where none of the variables says where a cache could be. The folder need not
// exist. Throws UsageError for a TANDEM_CACHE that is not absolute, since the cache would move with
// the working folder.
std::filesystem::path CacheFolder();

// The bytes that the files of the cache may have together: $TANDEM_CACHE_BYTES as ParseByteSize
// reads it ("5GiB"), else kDefaultCacheBytes. Throws UsageError, which names the variable, for
// another value.
uint64_t CacheLimit();

// 16 GiB: the embeddings of 8.8 million texts (MS MARCO's passages), 384 numbers each, have 12.6.
inline constexpr uint64_t kDefaultCacheBytes = uint64_t{16} << 30;

}  // namespace tandem
