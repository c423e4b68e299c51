#include "import/splits/near_copies.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/hashes/mix_words.h"
#include "base/hashes/text_hash.h"
#include "base/utf8.h"
#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::import_data {
namespace {

using Rules = NearCopyRules;
constexpr size_t kMinima = Rules::kBands * Rules::kRowsOfBand;

// Hashes of the groups of characters of a normalised text, ascending, each once. A text that is
// shorter than a group is one group.
void GramsOf(std::string_view text, std::vector<uint64_t>& grams) {
  grams.clear();
  std::array<const char*, Rules::kGram> starts{};  // of the last characters
  size_t characters = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    starts[characters % Rules::kGram] = at;
    NextCodePoint(at);
    ++characters;
    if (characters < Rules::kGram) continue;
    const char* const first = starts[characters % Rules::kGram];
    grams.push_back(TextHash({first, static_cast<size_t>(at - first)}));
  }
  if (grams.empty()) grams.push_back(TextHash(text));
  std::sort(grams.begin(), grams.end());
  grams.erase(std::unique(grams.begin(), grams.end()), grams.end());
}

// The numbers of kMinima hash functions of 32 bits, (x ^ add) * factor: of x, which is a hash
// itself, they make another order each. 32 bits, so that the compiler computes several at once.
struct MinHashFunctions {
  MinHashFunctions() {
    for (size_t i = 0; i < kMinima; ++i) {
      const uint64_t bits = MixWords(kHashStart + i, kHashWord);
      add[i] = static_cast<uint32_t>(bits);
      factor[i] = static_cast<uint32_t>(bits >> 32) | 1;
    }
  }
  std::array<uint32_t, kMinima> add;
  std::array<uint32_t, kMinima> factor;
};

// One hash for each band.
std::array<uint64_t, Rules::kBands> BandsOf(std::span<const uint64_t> grams) {
  static const MinHashFunctions functions;
  std::array<uint32_t, kMinima> minima;
  minima.fill(~uint32_t{0});
  for (const uint64_t gram : grams) {
    const auto x = static_cast<uint32_t>(gram ^ (gram >> 32));
    for (size_t i = 0; i < kMinima; ++i) {
      minima[i] = std::min(minima[i], (x ^ functions.add[i]) * functions.factor[i]);
    }
  }
  std::array<uint64_t, Rules::kBands> bands{};
  for (size_t band = 0; band < Rules::kBands; ++band) {
    uint64_t hash = band + 1;
    for (size_t row = 0; row < Rules::kRowsOfBand; ++row) {
      hash = MixWords(hash ^ minima[band * Rules::kRowsOfBand + row], kHashEnd);
    }
    bands[band] = hash;
  }
  return bands;
}

double Similarity(std::span<const uint64_t> a, std::span<const uint64_t> b) {
  size_t common = 0;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] == b[j]) {
      ++common;
      ++i;
      ++j;
    } else if (a[i] < b[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return static_cast<double>(common) / static_cast<double>(a.size() + b.size() - common);
}

// Texts that share a band, in the order of their numbers.
void JoinBucket(std::span<const uint32_t> texts,
                const std::function<std::string_view(size_t)>& text,
                const std::function<void(size_t, size_t)>& join) {
  std::vector<std::vector<uint64_t>> grams(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    GramsOf(NormalText(text(texts[i])), grams[i]);
    for (size_t j = i - std::min(i, Rules::kMostCompared); j < i; ++j) {
      if (Similarity(grams[i], grams[j]) >= Rules::kLeast) join(texts[j], texts[i]);
    }
    if (i >= Rules::kMostCompared) {
      grams[i - Rules::kMostCompared] = std::vector<uint64_t>();
    }
  }
}

}  // namespace

std::string NormalText(std::string_view text) {
  std::string normal;
  std::string repaired;
  if (!IsUtf8(text)) text = repaired = RepairUtf8(text);
  bool is_gap = false;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    const char32_t c = NextCodePoint(at);
    if (!text::CategoryOf(c).word() || c == '_') {
      is_gap = !normal.empty();
      continue;
    }
    if (is_gap) normal += ' ';
    is_gap = false;
    const text::MappedCharacter lower = text::Lower(c);
    for (size_t i = 0; i < lower.size; ++i) AppendUtf8(lower.code_points[i], &normal);
  }
  // A text of signs alone is itself.
  return normal.empty() ? std::string(text) : normal;
}

double GramSimilarity(std::string_view a, std::string_view b) {
  if (a == b) return 1;
  std::vector<uint64_t> first, second;
  GramsOf(a, first);
  GramsOf(b, second);
  return Similarity(first, second);
}

void JoinNearCopies(size_t count, const std::function<std::string_view(size_t)>& text,
                    const std::function<void(size_t, size_t)>& join) {
  std::vector<std::array<uint64_t, Rules::kBands>> bands(count);
  std::vector<uint64_t> grams;
  for (size_t i = 0; i < count; ++i) {
    GramsOf(NormalText(text(i)), grams);
    bands[i] = BandsOf(grams);
  }
  std::vector<uint32_t> order(count);
  for (size_t band = 0; band < Rules::kBands; ++band) {
    for (size_t i = 0; i < count; ++i) order[i] = static_cast<uint32_t>(i);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return bands[a][band] != bands[b][band] ? bands[a][band] < bands[b][band] : a < b;
    });
    for (size_t begin = 0; begin < count;) {
      size_t end = begin + 1;
      while (end < count && bands[order[end]][band] == bands[order[begin]][band]) ++end;
      if (end - begin > 1) {
        JoinBucket(std::span(order).subspan(begin, end - begin), text, join);
      }
      begin = end;
    }
  }
}

}  // namespace tandem::import_data
