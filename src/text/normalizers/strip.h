// `Strip`, `StripAccents` and `Nmt`: normalizers that take characters away.
#pragma once

#include <string>
#include <string_view>

#include "text/normalizers/normalizer.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json.
struct StripOptions {
  bool strip_left;   // white space at the beginning of a text
  bool strip_right;  // and at its end
};

class Strip final : public Normalizer {
 public:
  explicit Strip(const StripOptions& options) : options_(options) {}

  void Normalize(std::string_view text, std::string* out) const override;
  Cuts cuts() const override { return Cuts::kNowhere; }

 private:
  StripOptions options_;
};

// Drops marks (general category M). Decomposed characters (NFD, NFKD) lose their accents.
class StripAccents final : public Normalizer {
 public:
  void Normalize(std::string_view text, std::string* out) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

// Drops control characters and writes some characters as U+0020, as SentencePiece's `nmt` rules do.
class Nmt final : public Normalizer {
 public:
  void Normalize(std::string_view text, std::string* out) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }
};

}  // namespace tandem::text
