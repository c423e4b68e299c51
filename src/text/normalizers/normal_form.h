// `NFC`, `NFD`, `NFKC`, `NFKD`: Unicode's normalization forms (UAX 15), with the package's tables.
#pragma once

#include <string>
#include <string_view>

#include "text/normalizers/normalizer.h"

namespace tandem::text {

struct NormalFormOptions {
  bool compatible;  // NFKC, NFKD: also what only looks like another character
  bool compose;     // NFC, NFKC: join what can be joined
};

class NormalForm final : public Normalizer {
 public:
  explicit NormalForm(const NormalFormOptions& options) : options_(options) {}

  void Normalize(std::string_view text, std::string* out) const override;
  // U+0020 takes part in no composition and is in no other order than before.
  Cuts cuts() const override { return Cuts::kAtSpaces; }

 private:
  // Says whether the character may change together with what is before it.
  bool Joins(char32_t code_point) const;
  bool IsUnchanged(char32_t code_point) const;

  NormalFormOptions options_;
};

}  // namespace tandem::text
