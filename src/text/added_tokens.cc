#include "text/added_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace tandem::text {
namespace {

bool TouchesWord(std::string_view text, size_t start, size_t stop) {
  if (start > 0 && Has(CodePointBefore(text.data() + start), kWordCharacter)) return true;
  const char* behind = text.data() + stop;
  return stop < text.size() && Has(NextCodePoint(behind), kWordCharacter);
}

// The first byte of the white space that ends at `start`; `floor` where that is before it.
size_t StripLeft(std::string_view text, size_t start, size_t floor) {
  while (start > floor) {
    const char32_t c = CodePointBefore(text.data() + start);
    if (!Has(c, kRegexSpace)) break;
    do --start;
    while ((static_cast<unsigned char>(text[start]) & 0xC0) == 0x80);
  }
  return std::max(start, floor);
}

size_t StripRight(std::string_view text, size_t stop) {
  while (stop < text.size()) {
    const char* next = text.data() + stop;
    if (!Has(NextCodePoint(next), kRegexSpace)) break;
    stop = static_cast<size_t>(next - text.data());
  }
  return stop;
}

ByteTrie MakeTrie(std::span<const std::string> contents) {
  std::vector<ByteTrie::Entry> entries;
  for (size_t i = 0; i < contents.size(); ++i) {
    entries.push_back({contents[i], static_cast<int32_t>(i)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto same = [](const auto& a, const auto& b) { return a.key == b.key; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return ByteTrie(entries);
}

}  // namespace

AddedTokenMatcher::AddedTokenMatcher(std::span<const std::string> contents,
                                     std::span<const AddedToken> tokens, bool split_special)
    : tokens_(tokens.begin(), tokens.end()),
      trie_(MakeTrie(contents)),
      split_special_(split_special) {
  for (size_t i = 0; i < contents.size(); ++i) {
    first_bytes_[static_cast<unsigned char>(contents[i].front())] = true;
    const bool takes_space =
        tokens[i].lstrip || tokens[i].rstrip || contents[i].find(' ') != std::string::npos;
    cuts_at_spaces_ = cuts_at_spaces_ && !takes_space;
  }
  const auto first = std::find(first_bytes_.begin(), first_bytes_.end(), true);
  if (std::count(first_bytes_.begin(), first_bytes_.end(), true) == 1) {
    only_first_byte_ = static_cast<int>(first - first_bytes_.begin());
  }
}

size_t AddedTokenMatcher::NextCandidate(std::string_view text, size_t from) const {
  if (only_first_byte_ >= 0) {
    const void* found = std::memchr(text.data() + from, only_first_byte_, text.size() - from);
    return found == nullptr ? text.size()
                            : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }
  while (from < text.size() && !first_bytes_[static_cast<unsigned char>(text[from])]) ++from;
  return from;
}

void AddedTokenMatcher::Split(std::string_view text, std::vector<TextPiece>* pieces) const {
  size_t done = 0;  // everything before it is in `pieces`
  const auto add = [&](size_t start, size_t stop, int32_t id) {
    if (start < stop) pieces->push_back({text.substr(start, stop - start), id});
  };
  size_t search = 0;
  while (!empty() && search < text.size()) {
    const size_t found = NextCandidate(text, search);
    if (found == text.size()) break;
    const ByteTrie::Match match = trie_.Longest(ByteTrie::kRoot, text.substr(found));
    if (match.value == ByteTrie::kNone) {
      search = found + 1;
      continue;
    }
    // White space that a token strips on its right may itself be a token: the search goes on after
    // the token's own content, as in the package.
    search = found + match.length;
    const AddedToken& token = tokens_[static_cast<size_t>(match.value)];
    if (split_special_ && token.special) continue;
    if (token.single_word && TouchesWord(text, found, search)) continue;
    const size_t start = token.lstrip ? StripLeft(text, found, done) : found;
    const size_t stop = token.rstrip ? StripRight(text, search) : search;
    if (done < start) add(done, start, TextPiece::kText);
    add(start, stop, token.id);
    done = stop;
  }
  add(done, text.size(), TextPiece::kText);
}

AddedTokens AddedTokens::Make(std::span<const AddedToken> tokens, const Normalizer& normalizer,
                              std::string_view file, bool split_special) {
  // The package lists special tokens before the others; of equal normal forms the first counts.
  std::vector<AddedToken> ordered(tokens.begin(), tokens.end());
  std::stable_partition(ordered.begin(), ordered.end(),
                        [](const AddedToken& token) { return token.special; });
  std::vector<std::string> contents[2];
  std::vector<AddedToken> sorted[2];
  for (const AddedToken& token : ordered) {
    std::string content = token.content;
    if (token.normalized) {
      content.clear();
      normalizer.Normalize(token.content, &content);
    }
    if (content.empty()) {
      throw ModelError(file, "",
                       fmt::format("added token \"{}\" (id {}) is empty once it is normalised; "
                                   "nothing could match it",
                                   token.content, token.id));
    }
    contents[token.normalized].push_back(std::move(content));
    sorted[token.normalized].push_back(token);
  }
  return {AddedTokenMatcher(contents[0], sorted[0], split_special),
          AddedTokenMatcher(contents[1], sorted[1], split_special)};
}

}  // namespace tandem::text
