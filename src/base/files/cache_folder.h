// Where Tandem keeps what it can make again.
#pragma once

#include <filesystem>

namespace tandem {

// $TANDEM_CACHE; where that is not set, $XDG_CACHE_HOME/tandem, else ~/.cache/tandem. It is empty
// where TANDEM_CACHE is set to nothing: then nothing is kept. The folder need not exist. Throws
// UsageError for a TANDEM_CACHE that is not absolute (the cache would move with the working
// folder), and where none of the variables says where a cache could be.
std::filesystem::path CacheFolder();

}  // namespace tandem
