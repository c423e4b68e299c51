// The raw character tables that tools/tables/make_unicode_tables.py generates; `unicode.h` makes
// them quick to look up.
#pragma once

#include <cstdint>
#include <span>

namespace tandem::text {

// Bits of Property::flags, in the order of the script's FLAGS. All mean "as the `tokenizers`
// package does it", which is not always what the newest Unicode says.
enum CharacterFlag : uint16_t {
  kRemoved = 1 << 0,         // clean_text drops it (control, unassigned, U+FFFD)
  kBlank = 1 << 1,           // clean_text turns it into a space
  kChinese = 1 << 2,         // handle_chinese_chars puts spaces around it
  kNonspacing = 1 << 3,      // strip_accents drops it
  kSpace = 1 << 4,           // BertPreTokenizer ends a word there and drops it
  kPunctuation = 1 << 5,     // BertPreTokenizer makes it a word of its own
  kWordCharacter = 1 << 6,   // an added token with `single_word` may not touch it
  kRegexSpace = 1 << 7,      // a match of an added token with `lstrip` or `rstrip` includes it
  kDecomposes = 1 << 8,      // has an entry in DecompositionTable()
  kLowers = 1 << 9,          // has an entry in LowerTable()
  kCombiningMark = 1 << 10,  // StripAccents drops it
  kCompatible = 1 << 11,     // has an entry in CompatibilityTable()
  kComposite = 1 << 12,      // what it decomposes into composes to it again
  kSecond = 1 << 13,         // may compose with a character before it
};

// The classes of UAX 29 that decide where a grapheme cluster ends, in the order of
// tools/tables/probe_graphemes.py's CLASSES. CR and LF are kControl, regional indicators kOther.
enum class GraphemeClass : uint8_t {
  kOther,
  kControl,
  kExtend,  // joined to what is before it, and none of the next ones
  kZwj,
  kPrepend,
  kLeading,   // Hangul jamo: L,
  kVowel,     // V
  kTrailing,  // and T
  kPictograph,
  kConsonant,    // Indic_Conjunct_Break of consonants,
  kLinker,       // of what links them,
  kIndicExtend,  // and of other extending characters
  kSpacing,      // SpacingMark
  kLv,           // Hangul syllables
  kLvt,
};

struct Property {
  uint16_t flags;
  // Rank of the canonical combining class among all classes; 0: a starter.
  uint8_t combining;
  uint8_t grapheme;  // GraphemeClass, without the Hangul syllables
};

// The code points that `code_point` becomes are pool[offset .. offset + length).
struct Mapping {
  char32_t code_point;
  uint16_t offset;
  uint8_t length;
};

struct MappingTable {
  std::span<const Mapping> entries;  // ascending by code_point
  std::span<const char32_t> pool;

  // Returns empty for a code point without entry.
  std::span<const char32_t> Find(char32_t code_point) const;
};

std::span<const Property> Properties();
// Ascending `first code point << 8 | index into Properties()`; the first run starts at U+0000.
std::span<const uint32_t> PropertyRuns();
// Full canonical decompositions in canonical order, without the Hangul syllables.
MappingTable DecompositionTable();
MappingTable LowerTable();
// Full compatibility decompositions where they differ from the canonical ones.
MappingTable CompatibilityTable();

}  // namespace tandem::text
