#include "text/normalizers/bert_normalizer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace tandem::text {
namespace {

constexpr uint32_t kKindBits = 3;
constexpr uint32_t kLengthBits = 6;

// Printable ASCII is copied or lower-cased in blocks of this size, which compilers vectorise.
constexpr size_t kBlock = 32;

bool IsPlainBlock(const char* p) {
  unsigned char bad = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    bad |= static_cast<unsigned char>(static_cast<unsigned char>(byte - 0x20) > 0x7E - 0x20);
  }
  return bad == 0;
}

void LowerBlock(const char* p, char* out) {
  for (size_t i = 0; i < kBlock; ++i) {
    const auto byte = static_cast<unsigned char>(p[i]);
    const bool upper = static_cast<unsigned char>(byte - 'A') <= 'Z' - 'A';
    out[i] = static_cast<char>(byte | (upper ? 0x20 : 0));
  }
}

}  // namespace

BertNormalizer::BertNormalizer(const BertNormalizerOptions& options) : options_(options) {
  FillActions();
}

void BertNormalizer::FillActions() {
  std::array<int, 256> shared;
  shared.fill(-1);
  int hangul_page = -1;
  for (uint32_t page = 0; page < PagedTable<uint32_t>::kPages; ++page) {
    const char32_t first = page << 8;
    const auto action_at = [&](uint32_t i) { return MakeAction(first + i); };
    const int property = UniformProperty(page);
    const bool hangul = IsHangulSyllable(first) && IsHangulSyllable(first + 255);
    const bool own_mapping = property >= 0 && (Properties()[static_cast<size_t>(property)].flags &
                                               (kDecomposes | kLowers)) != 0;
    if (property < 0 || own_mapping || (!hangul && IsHangulSyllable(first))) {
      actions_.SetPage(page, actions_.AddPage(action_at));
      continue;
    }
    int& number = hangul ? hangul_page : shared[static_cast<size_t>(property)];
    if (number < 0) number = actions_.AddPage(action_at);
    actions_.SetPage(page, static_cast<uint16_t>(number));
  }
}

uint32_t BertNormalizer::MakeAction(char32_t code_point) {
  const Property property = PropertyOf(code_point);
  if (options_.clean_text && (property.flags & kRemoved) != 0) return kDrop;
  if (options_.clean_text && (property.flags & kBlank) != 0) return kToSpace;
  const bool spaced = options_.handle_chinese_chars && (property.flags & kChinese) != 0;
  std::string result;
  if (options_.strip_accents) {
    if (IsHangulSyllable(code_point)) return kHangul;
    const MappedCharacter parts = Decompose(code_point);
    for (const char32_t part : std::span(parts.code_points).first(parts.size)) {
      const Property own = PropertyOf(part);
      if ((own.flags & kNonspacing) != 0) continue;
      if (own.combining != 0) return kOrdered;
      AppendLowered(part, &result);
    }
  } else {
    AppendLowered(code_point, &result);
  }
  std::string same;
  AppendUtf8(code_point, &same);
  if (result == same) return spaced ? kSpaced : kCopy;
  if (spaced) result = " " + result + " ";
  if (result.empty()) return kDrop;
  const auto offset = static_cast<uint32_t>(pool_.size());
  pool_ += result;
  return kMapped | (offset << kLengthBits | static_cast<uint32_t>(result.size())) << kKindBits;
}

void BertNormalizer::AppendLowered(char32_t code_point, std::string* out) const {
  if (!options_.lowercase) {
    AppendUtf8(code_point, out);
    return;
  }
  const MappedCharacter lower = Lower(code_point);
  for (size_t i = 0; i < lower.size; ++i) AppendUtf8(lower.code_points[i], out);
}

const char* BertNormalizer::NormalizePlain(const char* p, const char* end, std::string* out) const {
  const char* const first = p;
  while (static_cast<size_t>(end - p) >= kBlock && IsPlainBlock(p)) p += kBlock;
  if (p == first) return p;
  const size_t old_size = out->size();
  out->append(first, p);
  if (options_.lowercase) {
    char* written = out->data() + old_size;
    for (const char* q = first; q < p; q += kBlock, written += kBlock) LowerBlock(q, written);
  }
  return p;
}

void BertNormalizer::Normalize(std::string_view text, std::string* out) const {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    p = NormalizePlain(p, end, out);
    // The next block holds more than printable ASCII. Handle it character by character, then try
    // whole blocks again.
    const char* const stop = p + std::min<size_t>(kBlock, static_cast<size_t>(end - p));
    while (p < stop) {
      const char* const begin = p;
      const uint32_t action = actions_[NextCodePoint(p)];
      if (action == kOrdered) {
        p = NormalizeMarks(begin, end, out);
      } else {
        Apply(action, begin, p, out);
      }
    }
  }
}

void BertNormalizer::Apply(uint32_t action, const char* begin, const char* end,
                           std::string* out) const {
  const uint32_t payload = action >> kKindBits;
  switch (static_cast<Action>(action & ((1U << kKindBits) - 1))) {
    case kCopy:
      out->append(begin, end);
      break;
    case kToSpace:
      out->push_back(' ');
      break;
    case kSpaced:
      out->push_back(' ');
      out->append(begin, end);
      out->push_back(' ');
      break;
    case kMapped:
      out->append(pool_, payload >> kLengthBits, payload & ((1U << kLengthBits) - 1));
      break;
    case kHangul: {
      const MappedCharacter parts = Decompose(NextCodePoint(begin));
      for (size_t i = 0; i < parts.size; ++i) AppendUtf8(parts.code_points[i], out);
      break;
    }
    case kDrop:
    case kOrdered:  // Normalize has NormalizeMarks do these
      break;
  }
}

// Says whether the character goes on with the run of marks before it: cleaned away, or decomposed
// into something that starts with a mark.
bool BertNormalizer::ContinuesMarks(char32_t code_point) const {
  const Property property = PropertyOf(code_point);
  if (options_.clean_text && (property.flags & kRemoved) != 0) return true;
  if (options_.clean_text && (property.flags & kBlank) != 0) return false;
  if (options_.handle_chinese_chars && (property.flags & kChinese) != 0) return false;
  return PropertyOf(Decompose(code_point).code_points[0]).combining != 0;
}

// Normalises the character at `p` and the marks after it in canonical order; returns where it
// stopped. A nonspacing mark with a combining class is dropped without ending the run. Starters
// come first: no decomposition has one after a mark (the generator of the tables checks that).
const char* BertNormalizer::NormalizeMarks(const char* p, const char* end, std::string* out) const {
  std::vector<std::pair<uint8_t, char32_t>> marks;
  const auto take = [&](char32_t code_point) {
    const MappedCharacter parts = Decompose(code_point);
    for (const char32_t part : std::span(parts.code_points).first(parts.size)) {
      const Property property = PropertyOf(part);
      if ((property.flags & kNonspacing) != 0) continue;
      if (property.combining == 0) {
        AppendLowered(part, out);
      } else {
        marks.emplace_back(property.combining, part);
      }
    }
  };
  take(NextCodePoint(p));
  while (p < end) {
    const char* next = p;
    const char32_t code_point = NextCodePoint(next);
    if (!ContinuesMarks(code_point)) break;
    if (!options_.clean_text || !Has(code_point, kRemoved)) take(code_point);
    p = next;
  }
  std::stable_sort(marks.begin(), marks.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, mark] : marks) AppendLowered(mark, out);
  return p;
}

}  // namespace tandem::text
