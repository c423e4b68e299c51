#include "documents/passages/words.h"

#include <algorithm>

#include "base/hashes/text_hash.h"
#include "base/utf8.h"
#include "text/unicode/categories.h"
#include "text/unicode/unicode.h"

namespace tandem::documents {
namespace {

using text::Category;

// Letters, marks and numbers.
constexpr Category kOfWords[] = {Category::kLu, Category::kLl, Category::kLt, Category::kLm,
                                 Category::kLo, Category::kMn, Category::kMc, Category::kMe,
                                 Category::kNd, Category::kNl, Category::kNo};

bool IsOfWord(char32_t c) {
  return std::find(std::begin(kOfWords), std::end(kOfWords), text::CategoryOf(c).category()) !=
         std::end(kOfWords);
}

// Calls use(word) with each word in lower case.
template <typename Use>
void ForEachWord(std::string_view text, const Use& use) {
  std::string word;
  const auto end = [&] {
    if (!word.empty()) use(word);
    word.clear();
  };
  for (const char *p = text.data(), *const stop = p + text.size(); p < stop;) {
    const char32_t c = NextCodePoint(p);
    const bool ideograph = text::Has(c, text::kChinese);
    if (ideograph || !IsOfWord(c)) end();
    if (!ideograph && !IsOfWord(c)) continue;
    const text::MappedCharacter lower = text::Lower(c);
    for (size_t i = 0; i < lower.size; ++i) AppendUtf8(lower.code_points[i], &word);
    if (ideograph) end();
  }
  end();
}

}  // namespace

size_t WordCount(std::string_view text) {
  size_t count = 0;
  ForEachWord(text, [&](const std::string&) { ++count; });
  return count;
}

std::vector<uint64_t> WordHashes(std::string_view text) {
  std::vector<uint64_t> hashes;
  ForEachWord(text, [&](const std::string& word) { hashes.push_back(TextHash(word)); });
  return hashes;
}

bool HasRun(const std::vector<uint64_t>& words, const std::vector<uint64_t>& part) {
  return std::search(words.begin(), words.end(), part.begin(), part.end()) != words.end() ||
         part.empty();
}

}  // namespace tandem::documents
