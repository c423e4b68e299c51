// Hashes as in golden/hashes.tsv; tools/golden/make_tokenizer_golden.py says which bytes they
// cover.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace tandem::text {

class Crc {
 public:
  // Ids of one text. Little-endian machines only, as all that Tandem is built for.
  void AddIds(std::span<const int32_t> ids) {
    Add(ids.data(), ids.size_bytes());
    constexpr int32_t kEnd = -1;
    Add(&kEnd, sizeof kEnd);
  }
  void AddString(std::string_view string) {
    Add(string.data(), string.size());
    Add("", 1);
  }
  uint32_t value() const { return static_cast<uint32_t>(crc_); }

 private:
  void Add(const void* bytes, size_t size) {
    crc_ = ::crc32_z(crc_, static_cast<const unsigned char*>(bytes), size);
  }
  uLong crc_ = 0;
};

}  // namespace tandem::text
