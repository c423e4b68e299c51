// `BertNormalizer`: cleans, spaces Chinese characters out, strips accents and lower-cases.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/normalizers/normalizer.h"
#include "text/unicode/unicode.h"

namespace tandem::text {

// The fields of the same names in tokenizer.json.
struct BertNormalizerOptions {
  bool clean_text = true;            // drop control characters, turn white space into spaces
  bool handle_chinese_chars = true;  // a space on either side of each
  bool strip_accents = true;         // decompose (NFD), drop nonspacing marks
  bool lowercase = true;
};

// The steps run in the order above. Everything but canonical reordering works on one character
// alone, so each character's result is tabulated once; where a mark that may be reordered survives
// (a spacing mark with a combining class, or a nonspacing one unknown to the package), the run of
// marks is ordered as NFD demands.
class BertNormalizer final : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options);

  void Normalize(std::string_view text, std::string* out) const override;
  Cuts cuts() const override { return Cuts::kAtSpaces; }

 private:
  // The treatment of a character: kind | payload << 3.
  enum Action : uint32_t {
    kCopy,     // stays
    kDrop,     // vanishes
    kToSpace,  // U+0020
    kSpaced,   // itself between two spaces
    kMapped,   // pool_[payload >> 6 ..], payload & 63 bytes of UTF-8
    kHangul,   // arithmetic decomposition
    kOrdered,  // may need canonical reordering
  };
  uint32_t MakeAction(char32_t code_point);
  void FillActions();
  void Apply(uint32_t action, const char* begin, const char* end, std::string* out) const;
  const char* NormalizeMarks(const char* p, const char* end, std::string* out) const;
  bool ContinuesMarks(char32_t code_point) const;
  void AppendLowered(char32_t code_point, std::string* out) const;
  // Handles whole blocks of printable ASCII; returns the first byte that is left to do.
  const char* NormalizePlain(const char* p, const char* end, std::string* out) const;

  BertNormalizerOptions options_;
  std::string pool_;
  PagedTable<uint32_t> actions_;
};

}  // namespace tandem::text
