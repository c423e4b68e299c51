// The first stage of a tokenizer: rewrites the characters of a text.
#pragma once

#include <string>
#include <string_view>

#include "text/pre_tokenizers/cuts.h"

namespace tandem::text {

class Normalizer {
 public:
  virtual ~Normalizer() = default;

  // Appends the normal form of `text`, which is valid UTF-8, to `out`; so is the result.
  virtual void Normalize(std::string_view text, std::string* out) const = 0;

  virtual Cuts cuts() const = 0;
};

// Serves `"normalizer": null`.
class NoNormalizer final : public Normalizer {
 public:
  void Normalize(std::string_view text, std::string* out) const override { out->append(text); }
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

}  // namespace tandem::text
