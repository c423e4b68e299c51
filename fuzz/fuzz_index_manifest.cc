// index.json of any bytes, as they are and with the checksum that belongs to them, so that what is
// behind the check of the checksum is reached too.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/hashes/checksum.h"
#include "index/folder/manifest.h"

namespace {

void Parse(std::string_view text) {
  try {
    const tandem::index::Manifest manifest = tandem::index::ParseManifest(text, "index.json");
    // What was read can be written and read again.
    const std::string written = tandem::index::FormatManifest(manifest);
    if (tandem::index::FormatManifest(tandem::index::ParseManifest(written, "again")) != written) {
      __builtin_trap();
    }
  } catch (const tandem::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Parse(text);
  Parse(std::string(text) + ",\n \"checksum\": \"" + tandem::ToHex(tandem::ChecksumOf(text)) +
        "\"\n}\n");
  return 0;
}
