#include "text/models/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "base/utf8.h"

namespace tandem::text {
namespace {

// Says how far an unknown character's score is below the smallest of the vocabulary
// (SentencePiece's kUnkPenalty).
constexpr double kUnknownPenalty = 10.0;

// Words up to this many bytes are cut in memory on the stack.
constexpr size_t kShortWordBytes = 255;

// Bytes of the character that starts with `lead`, of valid UTF-8.
uint32_t CharacterBytes(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

ByteTrie MakeTrie(std::span<const UnigramToken> vocabulary) {
  std::vector<ByteTrie::Entry> entries;
  entries.reserve(vocabulary.size());
  for (size_t id = vocabulary.size(); id-- > 0;) {
    if (vocabulary[id].token.empty()) continue;
    entries.push_back({vocabulary[id].token, static_cast<int32_t>(id)});
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.key < b.key; });
  const auto same = [](const auto& a, const auto& b) { return a.key == b.key; };
  entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
  return ByteTrie(entries);
}

}  // namespace

Unigram::Unigram(std::span<const UnigramToken> vocabulary, const UnigramOptions& options,
                 std::string_view file)
    : file_(file), trie_(MakeTrie(vocabulary)), unk_id_(options.unk_id.value_or(kNoUnknown)) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const UnigramToken& token : vocabulary) {
    scores_.push_back(token.score);
    smallest = std::min(smallest, token.score);
  }
  unknown_score_ = smallest - kUnknownPenalty;
  if (!options.byte_fallback) return;
  for (int byte = 0; byte < 256; ++byte) {
    byte_ids_.push_back(trie_.Find(fmt::format("<0x{:02X}>", byte)));
  }
}

void Unigram::FailUnknown(std::string_view rest) const {
  const char* p = rest.data();
  const char32_t c = NextCodePoint(p);
  throw ModelError(
      file_, "",
      fmt::format("a text has \"{}\" (U+{:04X}), which is not in the vocabulary, and "
                  "model.unk_id is null; set it to the id of the unknown token",
                  rest.substr(0, static_cast<size_t>(p - rest.data())), static_cast<uint32_t>(c)));
}

void Unigram::FindBest(std::string_view word, Best* best) const {
  const auto size = static_cast<uint32_t>(word.size());
  for (uint32_t start = 0; start < size;) {
    const double sum = best[start].sum;
    const auto offer = [&](uint32_t end, double score, int32_t id) {
      Best& other = best[end];
      if (other.start == kNoStart || sum + score > other.sum) other = {sum + score, start, id};
    };
    const uint32_t next = start + CharacterBytes(word[start]);
    bool is_token = false;
    uint32_t node = ByteTrie::kRoot;
    for (uint32_t end = start; end < size;) {
      if (!trie_.Step(&node, static_cast<unsigned char>(word[end]))) break;
      ++end;
      const int32_t id = trie_.Value(node);
      if (id == ByteTrie::kNone) continue;
      offer(end, scores_[static_cast<size_t>(id)], id);
      is_token |= end == next;
    }
    if (!is_token) {
      offer(next, unknown_score_, unk_id_);
      if (best[next].start == start && best[next].id == kNoUnknown) {
        FailUnknown(word.substr(start));
      }
    }
    start = next;
  }
}

void Unigram::AppendUnknown(std::string_view stretch, std::vector<int32_t>* ids) const {
  if (const int32_t id = trie_.Find(stretch); id != ByteTrie::kNone) {
    ids->push_back(id);
    return;
  }
  if (!byte_ids_.empty()) {
    const size_t old_size = ids->size();
    for (const char byte : stretch) ids->push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    if (std::find(ids->begin() + static_cast<std::ptrdiff_t>(old_size), ids->end(), -1) ==
        ids->end()) {
      return;
    }
    ids->resize(old_size);
  }
  ids->push_back(unk_id_);
}

void Unigram::AppendIds(std::string_view word, Best* best, std::vector<int32_t>* ids) const {
  // Turns the links around: the token that starts at `start` ends at best[start].start.
  auto end = static_cast<uint32_t>(word.size());
  int32_t id = best[end].id;
  for (uint32_t start = best[end].start; end > 0;) {
    const uint32_t before = best[start].start;
    const int32_t id_before = best[start].id;
    best[start].start = end;
    best[start].id = id;
    end = start;
    start = before;
    id = id_before;
  }
  for (uint32_t start = 0; start < word.size();) {
    uint32_t stop = best[start].start;
    const int32_t token = best[start].id;
    if (token == unk_id_) {
      while (stop < word.size() && best[stop].id == unk_id_) stop = best[stop].start;
      AppendUnknown(word.substr(start, stop - start), ids);
    } else {
      ids->push_back(token);
    }
    start = stop;
  }
}

void Unigram::Cut(std::string_view word, std::vector<int32_t>* ids) const {
  if (word.size() <= kShortWordBytes) {
    std::array<Best, kShortWordBytes + 1> best;
    std::fill_n(best.begin(), word.size() + 1, kNone);
    FindBest(word, best.data());
    AppendIds(word, best.data(), ids);
    return;
  }
  if (word.size() >= kNoStart) {
    throw ModelError(file_, "",
                     fmt::format("a word of {} bytes is too long; the longest has {}", word.size(),
                                 kNoStart - 1));
  }
  std::vector<Best> best(word.size() + 1, kNone);
  FindBest(word, best.data());
  AppendIds(word, best.data(), ids);
}

void Unigram::Tokenize(std::span<const std::string_view> words, size_t max_ids, WordCache* cache,
                       std::vector<int32_t>* ids) const {
  for (const std::string_view word : words) {
    if (ids->size() > max_ids) return;
    AppendCached(word, cache, ids,
                 [this](std::string_view one, std::vector<int32_t>* to) { Cut(one, to); });
  }
}

}  // namespace tandem::text
