// Sets of code points, as the character classes of regular expressions describe them.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::text {

// Surrogates are in no set: no text holds one.
class CodePointSet {
 public:
  struct Range {
    char32_t first, last;
    bool operator==(const Range&) const = default;
  };

  CodePointSet() = default;
  // The code points from `first` to `last`, both included.
  CodePointSet(char32_t first, char32_t last);
  // The code points whose general category is in `categories` (CategoryEntry::mask).
  static CodePointSet OfCategories(uint32_t categories);
  // The code points that `\w` matches.
  static CodePointSet OfWordCharacters();

  void Add(const CodePointSet& other);
  CodePointSet Complement() const;
  CodePointSet Without(const CodePointSet& other) const;
  CodePointSet And(const CodePointSet& other) const { return Without(other.Complement()); }

  bool empty() const { return ranges_.empty(); }
  bool Contains(char32_t code_point) const;
  bool Contains(const CodePointSet& other) const;  // every member of it
  // Ascending; neighbours do not touch.
  const std::vector<Range>& ranges() const { return ranges_; }
  bool operator==(const CodePointSet&) const = default;

 private:
  std::vector<Range> ranges_;
};

}  // namespace tandem::text
