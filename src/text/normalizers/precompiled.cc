#include "text/normalizers/precompiled.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

#include "base/utf8.h"
#include "text/normalizers/character_map.h"
#include "text/unicode/graphemes.h"

namespace tandem::text {
namespace {

bool IsPrintableAscii(char32_t c) { return c >= 0x20 && c <= 0x7E; }

// The end of a run of printable ASCII.
const char* SkipPrintable(const char* p, const char* end) {
  constexpr size_t kBlock = 32;
  const auto plain = [](char c) {
    return static_cast<unsigned char>(static_cast<unsigned char>(c) - 0x20) <= 0x7E - 0x20;
  };
  while (static_cast<size_t>(end - p) >= kBlock) {
    bool all = true;
    for (size_t i = 0; i < kBlock; ++i) all &= plain(p[i]);
    if (!all) break;
    p += kBlock;
  }
  while (p < end && plain(*p)) ++p;
  return p;
}

}  // namespace

Precompiled::Precompiled(std::string_view map) : map_(map) {
  std::vector<std::pair<char32_t, uint32_t>> actions;  // ascending, as keys in UTF-8 are
  std::vector<ByteTrie::Entry> longer;
  const std::vector<CharacterMapEntry> entries = ReadCharacterMap(map_);
  if (entries.size() > static_cast<size_t>(ByteTrie::kMaxValue)) {
    throw std::invalid_argument(fmt::format("it has {} keys", entries.size()));
  }
  for (const CharacterMapEntry& entry : entries) {
    const char* p = entry.key.data();
    const char32_t first = NextCodePoint(p);
    const bool single = p == entry.key.data() + entry.key.size();
    const auto number = static_cast<uint32_t>(values_.size());
    values_.push_back({static_cast<size_t>(entry.value.data() - map_.data()), entry.value.size()});
    const uint32_t action = single ? number + 1 : kStartsLonger;
    if (actions.empty() || actions.back().first != first) actions.emplace_back(first, 0);
    actions.back().second |= action;
    if (!single) longer.push_back({entry.key, static_cast<int32_t>(number)});
    const bool changes_ascii = single && IsPrintableAscii(first);
    keeps_ascii_ = keeps_ascii_ && !changes_ascii;
    if (changes_ascii || first == ' ' || GraphemeClassOf(first) == GraphemeClass::kPrepend) {
      cuts_ = Cuts::kNowhere;
    }
  }
  longer_ = ByteTrie(longer);
  Fill(actions);
}

void Precompiled::Fill(const std::vector<std::pair<char32_t, uint32_t>>& actions) {
  const uint16_t none = actions_.AddPage([](uint32_t) { return 0U; });
  size_t next = 0;
  for (uint32_t page = 0; page < PagedTable<uint32_t>::kPages; ++page) {
    if (next == actions.size() || actions[next].first >> 8 != page) {
      actions_.SetPage(page, none);
      continue;
    }
    actions_.SetPage(page, actions_.AddPage([&](uint32_t i) {
      const bool here = next < actions.size() && actions[next].first == (page << 8 | i);
      return here ? actions[next++].second : 0U;
    }));
  }
}

void Precompiled::Append(uint32_t number, std::string* out) const {
  out->append(map_, values_[number].offset, values_[number].length);
}

bool Precompiled::AppendWhole(const char* p, const char* end, uint32_t action,
                              std::string* out) const {
  if ((action & ~kStartsLonger) != 0) {
    Append((action & ~kStartsLonger) - 1, out);
    return true;
  }
  if ((action & kStartsLonger) == 0) return false;
  uint32_t node = ByteTrie::kRoot;
  for (; p < end && longer_.Step(&node, static_cast<unsigned char>(*p)); ++p) {
    const int32_t number = longer_.Value(node);
    if (number == ByteTrie::kNone) continue;
    Append(static_cast<uint32_t>(number), out);
    return true;
  }
  return false;
}

void Precompiled::AppendCluster(const char* p, const char* end, std::string* out) const {
  const auto size = static_cast<size_t>(end - p);
  bool first = true;
  while (p < end) {
    const char* next = p;
    const uint32_t action = actions_[NextCodePoint(next)];
    if (first && size <= kMaxCharacterMapKey && AppendWhole(p, end, action, out)) return;
    first = false;
    if ((action & ~kStartsLonger) != 0) {
      Append((action & ~kStartsLonger) - 1, out);
    } else {
      out->append(p, next);
    }
    p = next;
  }
}

void Precompiled::Normalize(std::string_view text, std::string* out) const {
  const char* p = text.data();
  const char* const end = p + text.size();
  while (p < end) {
    if (keeps_ascii_) {
      const char* plain = SkipPrintable(p, end);
      // The last one may be joined by what comes after it.
      if (plain > p && plain < end) --plain;
      out->append(p, plain);
      p = plain;
      if (p == end) break;
    }
    const char* const next = ClusterEnd(p, end);
    AppendCluster(p, next, out);
    p = next;
  }
}

}  // namespace tandem::text
