#include "search/encoding/distinct_texts.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "base/hashes/running_hash.h"
#include "base/hashes/text_hash.h"
#include "data/texts/slot_table.h"

namespace tandem::search {
namespace {

uint64_t Combined(uint64_t one, uint64_t other) {
  RunningHash both;
  both.Add(one);
  both.Add(other);
  return both.value();
}

uint64_t HashOf(size_t i, std::string_view text, const PromptSource& prompt) {
  const uint64_t hash = TextHash(text);
  return prompt ? Combined(TextHash(prompt(i)), hash) : hash;
}

}  // namespace

DistinctTexts FindDistinct(size_t count, const TextSource& text, const PromptSource& prompt) {
  if (count >= UINT32_MAX) {
    throw UsageError(fmt::format("{} texts are more than the {} that can be encoded at once", count,
                                 UINT32_MAX - 1));
  }
  DistinctTexts distinct;
  distinct.row_of.reserve(count);
  data::SlotTable table;
  RunningHash all;
  for (size_t i = 0; i < count; ++i) {
    const std::string_view one = text(i);
    const uint64_t hash = HashOf(i, one, prompt);
    const auto same = [&](uint32_t row) {
      const uint32_t other = distinct.first[row];
      return text(other) == one && (!prompt || prompt(other) == prompt(i));
    };
    if (const auto row = table.Find(hash, same)) {
      distinct.row_of.push_back(*row);
      continue;
    }
    const auto row = static_cast<uint32_t>(distinct.size());
    table.Insert(hash, row);
    distinct.row_of.push_back(row);
    distinct.first.push_back(static_cast<uint32_t>(i));
    all.Add(hash);
  }
  distinct.hash = all.value();
  return distinct;
}

uint64_t HashOfDistinct(size_t count, const TextSource& text, const PromptSource& prompt) {
  RunningHash all;
  for (size_t i = 0; i < count; ++i) all.Add(HashOf(i, text(i), prompt));
  return all.value();
}

}  // namespace tandem::search
