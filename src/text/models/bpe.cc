#include "text/models/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/unicode/byte_level.h"

namespace tandem::text {
namespace {

// Stands for a space in SentencePiece's vocabularies: nearly all merges stop at it.
constexpr char32_t kBoundary = 0x2581;
constexpr std::string_view kBoundaryBytes = "\u2581";

// `entries` are characters and their values; all others have `otherwise`.
template <typename T>
PagedTable<T> MakeTable(std::vector<std::pair<char32_t, T>> entries, T otherwise) {
  std::sort(entries.begin(), entries.end());
  PagedTable<T> table;
  const uint16_t empty = table.AddPage([&](uint32_t) { return otherwise; });
  auto entry = entries.begin();
  for (uint32_t page = 0; page < PagedTable<T>::kPages; ++page) {
    if (entry == entries.end() || entry->first >> 8 != page) {
      table.SetPage(page, empty);
      continue;
    }
    table.SetPage(page, table.AddPage([&](uint32_t i) {
      return entry != entries.end() && entry->first == (page << 8 | i) ? entry++->second
                                                                       : otherwise;
    }));
  }
  return table;
}

// The only character of `token`, or nothing.
std::optional<char32_t> OnlyCharacter(std::string_view token) {
  if (token.empty()) return {};
  const char* p = token.data();
  const char32_t character = NextCodePoint(p);
  if (p != token.data() + token.size()) return {};
  return character;
}

bool EndsWithByteToken(std::string_view token) {
  constexpr size_t kLength = std::string_view("<0x00>").size();
  return token.size() >= kLength && token.ends_with('>') &&
         token.substr(token.size() - kLength).starts_with("<0x");
}

// A unit of a word: a byte where words are bytes, else a character.
char32_t NextUnit(bool bytes, const char*& p) {
  return bytes ? static_cast<unsigned char>(*p++) : NextCodePoint(p);
}

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, std::span<const MergeNames> merges,
         const BpeOptions& options, const std::string& file)
    : options_(options),
      tokens_(vocabulary),
      merges_(merges, tokens_, options.continuing_subword_prefix, file),
      by_place_(!options.continuing_subword_prefix.empty() || !options.end_of_word_suffix.empty()) {
  FillSymbols(vocabulary);
  FillByteTokens();
  FillCuts(merges);
  FindUnknown(file);
  if (!options_.ignore_merges || !options_.words_are_bytes) return;
  byte_words_ = TokenTable(vocabulary.count());
  std::string bytes;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const auto value = static_cast<int32_t>(id);
    if (!ReadByteLevel(vocabulary.token(value), &bytes) || bytes.empty()) continue;
    byte_words_.Add(bytes, value);
  }
}

void Bpe::FillSymbols(const Vocabulary& vocabulary) {
  std::array<std::vector<std::pair<char32_t, int32_t>>, 4> entries;
  std::string bytes;
  for (size_t id = 0; id < vocabulary.size(); ++id) {
    const auto value = static_cast<int32_t>(id);
    for (const Place place : {kInside, kFirst, kLast, kOnly}) {
      if (place != kInside && !by_place_) break;
      std::string_view token = vocabulary.token(value);
      const std::string_view prefix =
          (place & kFirst) != 0 ? std::string_view() : options_.continuing_subword_prefix;
      const std::string_view suffix =
          (place & kLast) != 0 ? options_.end_of_word_suffix : std::string_view();
      if (token.size() <= prefix.size() + suffix.size()) continue;
      if (!token.starts_with(prefix) || !token.ends_with(suffix)) continue;
      token = token.substr(prefix.size(), token.size() - prefix.size() - suffix.size());
      const std::optional<char32_t> character = OnlyCharacter(token);
      if (!character) continue;
      if (!options_.words_are_bytes) {
        entries[place].emplace_back(*character, value);
      } else if (ReadByteLevel(token, &bytes)) {
        entries[place].emplace_back(static_cast<unsigned char>(bytes.front()), value);
      }
    }
  }
  for (const Place place : {kInside, kFirst, kLast, kOnly}) {
    symbols_[place] = MakeTable(std::move(entries[place]), kNone);
  }
}

// No token that a merge makes has a character x followed by U+2581, unless joins_boundary_ has x.
// So a word may be cut between the two, and its parts be encoded one by one.
void Bpe::FillCuts(std::span<const MergeNames> merges) {
  // A known boundary also ends a run of unknown characters.
  cuts_ = !options_.words_are_bytes && !options_.ignore_merges && !by_place_ &&
          symbols_[kInside][kBoundary] != kNone;
  if (!cuts_) return;
  std::vector<std::pair<char32_t, uint8_t>> joined;
  std::string token;
  for (const MergeNames& merge : merges) {
    token.assign(merge.left);
    token += merge.right;
    for (size_t at = token.find(kBoundaryBytes, 1); at != std::string::npos;
         at = token.find(kBoundaryBytes, at + 1)) {
      const std::string_view before = std::string_view(token).substr(0, at);
      joined.emplace_back(CodePointBefore(token.data() + at), 1);
      // These spell something else than the characters that they stand for.
      const bool unknown = !options_.unk_token.empty() && before.ends_with(options_.unk_token);
      if (unknown || (options_.byte_fallback && EndsWithByteToken(before))) cuts_ = false;
    }
  }
  std::sort(joined.begin(), joined.end());
  joined.erase(std::unique(joined.begin(), joined.end()), joined.end());
  joins_boundary_ = MakeTable(std::move(joined), uint8_t{0});
}

void Bpe::FillByteTokens() {
  for (size_t byte = 0; byte < byte_tokens_.size(); ++byte) {
    byte_tokens_[byte] =
        options_.byte_fallback ? tokens_.Find(fmt::format("<0x{:02X}>", byte)) : kNone;
  }
}

void Bpe::FindUnknown(const std::string& file) {
  if (options_.unk_token.empty()) return;
  unknown_id_ = tokens_.Find(options_.unk_token);
  if (unknown_id_ != kNone) return;
  bool needed = !options_.words_are_bytes;
  for (size_t byte = 0; byte < 256 && !needed; ++byte) {
    const size_t places = by_place_ ? symbols_.size() : 1;
    needed = std::any_of(symbols_.begin(), symbols_.begin() + static_cast<std::ptrdiff_t>(places),
                         [&](const PagedTable<int32_t>& table) {
                           return table[static_cast<char32_t>(byte)] == kNone;
                         });
  }
  const bool fallback =
      std::find(byte_tokens_.begin(), byte_tokens_.end(), kNone) == byte_tokens_.end();
  if (needed && !fallback) {
    throw ModelError(
        file, "",
        fmt::format("the unknown token \"{}\" is not in the vocabulary", options_.unk_token));
  }
}

bool Bpe::AppendFallback(char32_t unit, int place, std::vector<int32_t>* ids) const {
  std::string spelled = (place & kFirst) != 0 ? "" : options_.continuing_subword_prefix;
  AppendUtf8(options_.words_are_bytes ? ByteLevelCharacter(static_cast<uint8_t>(unit)) : unit,
             &spelled);
  if ((place & kLast) != 0) spelled += options_.end_of_word_suffix;
  const auto token_of = [&](char byte) { return byte_tokens_[static_cast<unsigned char>(byte)]; };
  const bool all = std::all_of(spelled.begin(), spelled.end(),
                               [&](char byte) { return token_of(byte) != kNone; });
  if (!all) return false;
  for (const char byte : spelled) ids->push_back(token_of(byte));
  return true;
}

void Bpe::AppendSymbols(std::string_view word, std::vector<int32_t>* ids) const {
  const char* p = word.data();
  const char* const end = p + word.size();
  bool pending = false;  // an unknown token that still has to be appended
  const auto flush = [&] {
    if (pending) ids->push_back(unknown_id_);
    pending = false;
  };
  while (p < end) {
    const bool first = p == word.data();
    const char32_t unit = NextUnit(options_.words_are_bytes, p);
    const int place = by_place_ ? (first ? kFirst : 0) | (p == end ? kLast : 0) : kInside;
    const int32_t id = symbols_[static_cast<size_t>(place)][unit];
    if (id != kNone) {
      flush();
      ids->push_back(id);
      continue;
    }
    // The package appends these before an unknown token that still waits.
    if (options_.byte_fallback && AppendFallback(unit, place, ids)) continue;
    if (unknown_id_ == kNone) continue;
    if (!options_.fuse_unk) flush();
    pending = true;
  }
  flush();
}

void Bpe::Encode(std::string_view word, std::vector<int32_t>* ids) const {
  if (options_.ignore_merges) {
    const TokenTable& words = options_.words_are_bytes ? byte_words_ : tokens_;
    if (const int32_t id = words.Find(word); id >= 0) {
      ids->push_back(id);
      return;
    }
  }
  const size_t first = ids->size();
  AppendSymbols(word, ids);
  merges_.Merge(ids, first);
}

size_t Bpe::FirstCut(std::string_view word) const {
  for (size_t at = word.find(kBoundaryBytes, 1); at != std::string_view::npos;
       at = word.find(kBoundaryBytes, at + kBoundaryBytes.size())) {
    if (joins_boundary_[CodePointBefore(word.data() + at)] == 0) return at;
  }
  return word.size();
}

void Bpe::TokenizeWord(std::string_view word, WordCache* cache, std::vector<int32_t>* ids) const {
  AppendCached(word, cache, ids,
               [this](std::string_view one, std::vector<int32_t>* to) { Encode(one, to); });
}

void Bpe::Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                   std::vector<int32_t>* ids) const {
  for (std::string_view word : words) {
    while (cuts_ && ids->size() <= max_ids) {
      const size_t cut = FirstCut(word);
      if (cut == word.size()) break;
      TokenizeWord(word.substr(0, cut), cache, ids);
      word.remove_prefix(cut);
    }
    if (ids->size() > max_ids) return;
    TokenizeWord(word, cache, ids);
  }
}

}  // namespace tandem::text
