// Finds the texts that occur more than once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "search/encode.h"

namespace tandem::search {

// The distinct texts among `count` texts, numbered in the order in which they first occur.
struct DistinctTexts {
  std::vector<uint32_t> row_of;  // [count]: the number of each text
  std::vector<uint32_t> first;   // [distinct]: the first text with this number
  uint64_t hash = 0;             // of the distinct texts and their prompts, in their order

  size_t size() const { return first.size(); }
};

// Texts are equal where their bytes are, and those of their prompts, where `prompt` is given.
// `text` must keep the views that it returned valid. Throws UsageError for 2^32 - 1 texts or more.
DistinctTexts FindDistinct(size_t count, const TextSource& text, const PromptSource& prompt = {});

// The hash that FindDistinct would find if all texts are distinct. Memory does not grow with
// `count`.
uint64_t HashOfDistinct(size_t count, const TextSource& text, const PromptSource& prompt = {});

}  // namespace tandem::search
