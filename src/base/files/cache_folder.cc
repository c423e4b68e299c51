#include "base/files/cache_folder.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/log.h"

namespace tandem {
namespace {

// The value of an environment variable that names an absolute path; else nothing. The XDG base
// directory specification says to ignore a relative one.
std::filesystem::path AbsolutePathIn(const char* variable) {
  const char* value = std::getenv(variable);
  const std::filesystem::path path = value == nullptr ? "" : value;
  return path.is_absolute() ? path : std::filesystem::path();
}

}  // namespace

std::filesystem::path CacheFolder() {
  if (CacheLimit() == 0) return {};
  if (const char* given = std::getenv("TANDEM_CACHE")) {
    const std::filesystem::path folder = given;
    if (folder.empty() || folder.is_absolute()) return folder;
    throw UsageError(fmt::format(
        "TANDEM_CACHE is \"{}\", which is no absolute path; set it to one, or to nothing so that "
        "nothing is kept",
        given));
  }
  if (const auto folder = AbsolutePathIn("XDG_CACHE_HOME"); !folder.empty()) {
    return folder / "tandem";
  }
  if (const auto home = AbsolutePathIn("HOME"); !home.empty()) return home / ".cache" / "tandem";
  Warn(
      "embeddings are not kept, since HOME is not set and so there is no folder for Tandem's "
      "cache; "
      "TANDEM_CACHE names one");
  return {};
}

uint64_t CacheLimit() {
  const char* value = std::getenv("TANDEM_CACHE_BYTES");
  if (value == nullptr || *value == '\0') return kDefaultCacheBytes;
  if (const std::optional<uint64_t> bytes = ParseByteSize(value)) return *bytes;
  throw UsageError(
      fmt::format("TANDEM_CACHE_BYTES is \"{}\"; expected how large the cache may become, as 5GiB "
                  "or 500MiB, or "
                  "0 so that nothing is kept",
                  value));
}

}  // namespace tandem
