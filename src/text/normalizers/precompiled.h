// `Precompiled`: writes characters as a map of SentencePiece says (precompiled_charsmap).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/models/byte_trie.h"
#include "text/normalizers/normalizer.h"
#include "text/unicode/unicode.h"

namespace tandem::text {

// Normalises as the package does, which is not what SentencePiece does: a text is cut into grapheme
// clusters. One of up to five bytes that starts with a key becomes that key's value, whatever else
// is in it ("\u2460\u0301" becomes "1"); in any other each character is looked up for itself.
class Precompiled final : public Normalizer {
 public:
  // `map` is the content of precompiled_charsmap, decoded. Throws std::invalid_argument as
  // ReadCharacterMap, and for more keys than a ByteTrie has values.
  explicit Precompiled(std::string_view map);

  void Normalize(std::string_view text, std::string* out) const override;
  // It is nowhere only for a map that changes U+0020 to U+007E, or has keys that start with a space
  // or with what joins what comes after it.
  Cuts cuts() const override { return cuts_; }

 private:
  // The facts about a character: the number of its value plus 1, or 0; and kStartsLonger.
  static constexpr uint32_t kStartsLonger = 1U << 31;  // a key of several characters starts with it

  struct Value {
    size_t offset, length;  // in map_
  };
  void Fill(const std::vector<std::pair<char32_t, uint32_t>>& actions);
  void Append(uint32_t number, std::string* out) const;
  // Appends what the cluster [p, end) becomes.
  void AppendCluster(const char* p, const char* end, std::string* out) const;
  bool AppendWhole(const char* p, const char* end, uint32_t action, std::string* out) const;

  std::string map_;
  PagedTable<uint32_t> actions_;
  ByteTrie longer_;  // keys of several characters -> numbers of values
  std::vector<Value> values_;
  Cuts cuts_ = Cuts::kAfterAscii;
  bool keeps_ascii_ = true;  // U+0020 to U+007E are in no key's beginning alone
};

}  // namespace tandem::text
