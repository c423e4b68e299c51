#include "train/inputs/token_store.h"

#include <algorithm>
#include <deque>
#include <string>

#include "base/hashes/running_hash.h"

namespace tandem::train {
namespace {

constexpr size_t kWindow = 65536;       // texts whose 32-bit ids are in memory at the same time
constexpr size_t kNarrowLimit = 65536;  // ids below it fit 16 bits

// A hash of everything that decides the ids, and what else a store knows.
uint64_t KeyOf(const text::Tokenizer& tokenizer, const TokenStoreInput& input) {
  RunningHash key;
  key.Add(tokenizer.fingerprint());
  key.Add(static_cast<uint64_t>(input.max_length));
  key.Add(static_cast<uint64_t>(input.prompt_tokens ? 1 : 0));
  key.Add(static_cast<uint64_t>(input.count));
  for (size_t i = 0; i < input.count; ++i) {
    key.Add(static_cast<uint64_t>(input.wanted(i) ? 1 : 0));
    if (!input.wanted(i)) continue;
    key.Add(input.text(i));
    key.Add(input.prompt ? input.prompt(i) : std::string_view());
  }
  return key.value();
}

}  // namespace

TokenStore::TokenStore(const text::Tokenizer& tokenizer, const TokenStoreInput& input)
    : narrow_(tokenizer.vocabulary_size() <= kNarrowLimit) {
  ids_->starts.reserve(input.count + 1);
  if (input.prompt_tokens) ids_->prompts.resize(input.count);
  for (size_t begin = 0; begin < input.count; begin += kWindow) {
    const size_t end = std::min(input.count, begin + kWindow);
    std::vector<size_t> indexes;
    std::deque<std::string> prompted;  // a deque, so that the strings do not move
    std::vector<std::string_view> texts;
    for (size_t i = begin; i < end; ++i) {
      if (!input.wanted(i)) continue;
      indexes.push_back(i);
      const std::string_view text = input.text(i);
      const std::string_view prompt = input.prompt ? input.prompt(i) : std::string_view();
      if (input.prompt_tokens) ids_->prompts[i] = input.prompt_tokens(prompt);
      texts.push_back(prompt.empty() ? text : prompted.emplace_back(prompt).append(text));
    }
    AppendWindow(tokenizer.EncodeAll(texts, input.max_length, input.threads), indexes);
    ids_->starts.resize(end + 1, tokens());
  }
}

void TokenStore::AppendWindow(const text::EncodedTexts& encoded,
                              const std::vector<size_t>& indexes) {
  for (size_t b = 0; b < indexes.size(); ++b) {
    ids_->starts.resize(indexes[b] + 1, tokens());  // texts before it without ids
    const auto ids = encoded[b];
    if (narrow_) {
      ids_->narrow.insert(ids_->narrow.end(), ids.begin(), ids.end());
    } else {
      ids_->wide.insert(ids_->wide.end(), ids.begin(), ids.end());
    }
    ids_->starts.push_back(ids_->starts.back() + ids.size());
    const bool cut = ids.size() <= static_cast<size_t>(prompt_tokens(indexes[b]));
    tokenless_ += ids.empty() ? 1 : 0;
    only_prompt_ += has_prompts() && cut && !ids.empty() ? 1 : 0;
  }
  wanted_ += indexes.size();
  truncated_ += encoded.truncated;
}

void TokenStore::Append(size_t index, std::vector<int32_t>* ids) const {
  const auto begin = static_cast<ptrdiff_t>(ids_->starts[index]);
  const auto end = static_cast<ptrdiff_t>(ids_->starts[index + 1]);
  if (narrow_) {
    ids->insert(ids->end(), ids_->narrow.begin() + begin, ids_->narrow.begin() + end);
  } else {
    ids->insert(ids->end(), ids_->wide.begin() + begin, ids_->wide.begin() + end);
  }
}

uint64_t TokenStore::hash() const {
  RunningHash fingerprint;
  fingerprint.AddBytes(ids_->narrow.data(), ids_->narrow.size() * sizeof(uint16_t));
  fingerprint.AddBytes(ids_->wide.data(), ids_->wide.size() * sizeof(int32_t));
  fingerprint.AddBytes(ids_->starts.data(), ids_->starts.size() * sizeof(size_t));
  if (has_prompts()) {
    fingerprint.AddBytes(ids_->prompts.data(), ids_->prompts.size() * sizeof(int32_t));
  }
  return fingerprint.value();
}

size_t TokenStore::bytes() const {
  return ids_->narrow.capacity() * sizeof(uint16_t) + ids_->wide.capacity() * sizeof(int32_t) +
         ids_->starts.capacity() * sizeof(size_t) + ids_->prompts.capacity() * sizeof(int32_t);
}

TokenStore SharedTokens::Of(int kind, const text::Tokenizer& tokenizer,
                            const TokenStoreInput& input) {
  const uint64_t key = KeyOf(tokenizer, input);
  const auto found = last_.find(kind);
  if (found != last_.end() && found->second.key == key) return found->second.store;
  ++made_;
  return last_.insert_or_assign(kind, Entry{key, TokenStore(tokenizer, input)}).first->second.store;
}

}  // namespace tandem::train
