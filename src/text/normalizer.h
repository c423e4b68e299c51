// The first stage of a tokenizer: rewrites the characters of a text.
#pragma once

#include <string>
#include <string_view>

namespace tandem::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // Appends the normal form of `text`, which is valid UTF-8, to `out`; so is the result.
  virtual void Normalize(std::string_view text, std::string* out) const = 0;

  // Whether a text may be cut before any U+0020 and its parts normalised one by one.
  virtual bool CutsAtSpaces() const = 0;
};

// For `"normalizer": null`.
class NoNormalizer final : public Normalizer {
 public:
  void Normalize(std::string_view text, std::string* out) const override { out->append(text); }
  bool CutsAtSpaces() const override { return true; }
};

}  // namespace tandem::text
