#include "text/unicode/unicode.h"

#include <algorithm>

namespace tandem::text {
namespace {

struct PropertyIndex {
  PagedTable<uint8_t> table;
  std::array<int16_t, PagedTable<uint8_t>::kPages> uniform;
};

uint32_t RunStart(uint32_t run) { return run >> 8; }
uint8_t RunProperty(uint32_t run) { return static_cast<uint8_t>(run & 0xFF); }

PropertyIndex MakeIndex() {
  PropertyIndex index;
  std::array<int, 256> shared;
  shared.fill(-1);
  const std::span<const uint32_t> runs = PropertyRuns();
  size_t run = 0;
  const auto end_of = [&](size_t r) {
    return r + 1 < runs.size() ? RunStart(runs[r + 1]) : kLastCodePoint + 1;
  };
  for (uint32_t page = 0; page < PagedTable<uint8_t>::kPages; ++page) {
    const uint32_t first = page << 8;
    while (end_of(run) <= first) ++run;
    const uint8_t property = RunProperty(runs[run]);
    if (end_of(run) >= first + 256) {
      if (shared[property] < 0) {
        shared[property] = index.table.AddPage([&](uint32_t) { return property; });
      }
      index.table.SetPage(page, static_cast<uint16_t>(shared[property]));
      index.uniform[page] = property;
      continue;
    }
    size_t at = run;
    index.table.SetPage(page, index.table.AddPage([&](uint32_t i) {
      while (end_of(at) <= first + i) ++at;
      return RunProperty(runs[at]);
    }));
    index.uniform[page] = -1;
  }
  return index;
}

const PropertyIndex& Index() {
  static const PropertyIndex index = MakeIndex();
  return index;
}

MappedCharacter Copy(std::span<const char32_t> mapped, char32_t otherwise) {
  MappedCharacter result;
  if (mapped.empty()) {
    result.code_points[result.size++] = otherwise;
  }
  for (const char32_t c : mapped) result.code_points[result.size++] = c;
  return result;
}

MappedCharacter DecomposeHangul(char32_t c) {
  const char32_t index = c - kFirstHangulSyllable;
  const char32_t trailing = index % kHangulTrailing;
  MappedCharacter result;
  result.code_points[result.size++] = kFirstLeading + index / (kHangulVowels * kHangulTrailing);
  result.code_points[result.size++] = kFirstVowel + index / kHangulTrailing % kHangulVowels;
  if (trailing != 0) result.code_points[result.size++] = kBeforeTrailing + trailing;
  return result;
}

}  // namespace

std::span<const char32_t> MappingTable::Find(char32_t code_point) const {
  const auto entry =
      std::lower_bound(entries.begin(), entries.end(), code_point,
                       [](const Mapping& mapping, char32_t c) { return mapping.code_point < c; });
  if (entry == entries.end() || entry->code_point != code_point) return {};
  return pool.subspan(entry->offset, entry->length);
}

Property PropertyOf(char32_t code_point) { return Properties()[Index().table[code_point]]; }

GraphemeClass GraphemeClassOf(char32_t code_point) {
  if (IsHangulSyllable(code_point)) {
    return (code_point - kFirstHangulSyllable) % kHangulTrailing == 0 ? GraphemeClass::kLv
                                                                      : GraphemeClass::kLvt;
  }
  return static_cast<GraphemeClass>(PropertyOf(code_point).grapheme);
}

int UniformProperty(uint32_t page) { return Index().uniform[page]; }

MappedCharacter Decompose(char32_t code_point) {
  if (IsHangulSyllable(code_point)) return DecomposeHangul(code_point);
  return Copy(DecompositionTable().Find(code_point), code_point);
}

MappedCharacter Lower(char32_t code_point) {
  return Copy(LowerTable().Find(code_point), code_point);
}

}  // namespace tandem::text
