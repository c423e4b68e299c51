// `ByteLevel` as a normalizer: each byte is written as one printable character.
#pragma once

#include <string>
#include <string_view>

#include "text/normalizers/normalizer.h"

namespace tandem::text {

// The characters of GPT-2 (Radford et al. 2019): printable ones of Latin-1 stand for themselves,
// the other 68 bytes are U+0100 and on; a space is U+0120.
class ByteLevelNormalizer final : public Normalizer {
 public:
  void Normalize(std::string_view text, std::string* out) const override;
  Cuts cuts() const override { return Cuts::kNowhere; }
};

}  // namespace tandem::text
