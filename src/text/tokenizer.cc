#include "text/tokenizer.h"

#include "base/error.h"
#include "base/process/threads.h"

namespace tandem::text {
namespace {

// Texts a thread takes at once: enough to hide the hand-over, few enough to spread long texts.
constexpr size_t kBlockTexts = 64;

// Concatenates the blocks.
EncodedTexts Join(std::span<const EncodedTexts> blocks, size_t texts) {
  size_t ids = 0;
  for (const EncodedTexts& block : blocks) ids += block.ids.size();
  EncodedTexts joined;
  joined.ids.reserve(ids);
  joined.starts.reserve(texts + 1);
  for (const EncodedTexts& block : blocks) {
    const auto offset = static_cast<int64_t>(joined.ids.size());
    joined.ids.insert(joined.ids.end(), block.ids.begin(), block.ids.end());
    for (size_t i = 1; i < block.starts.size(); ++i) {
      joined.starts.push_back(offset + block.starts[i]);
    }
    joined.truncated += block.truncated;
  }
  return joined;
}

// Concatenates blocks of pairs.
EncodedPairs Join(std::span<const EncodedPairs> blocks, size_t pairs) {
  std::vector<EncodedTexts> texts;
  EncodedPairs joined;
  for (const EncodedPairs& block : blocks) {
    texts.push_back(block.texts);
    joined.types.insert(joined.types.end(), block.types.begin(), block.types.end());
  }
  joined.texts = Join(texts, pairs);
  return joined;
}

}  // namespace

bool Tokenizer::EncodePair(const TextPair&, size_t, std::vector<int32_t>*,
                           std::vector<int32_t>*) const {
  throw ModelError("", "", "the tokenizer has no template for pairs of texts");
}

EncodedPairs Tokenizer::EncodeAllPairs(std::span<const TextPair> pairs, size_t max_length,
                                       int threads) const {
  std::vector<EncodedPairs> blocks((pairs.size() + kBlockTexts - 1) / kBlockTexts);
  ParallelFor(pairs.size(), kBlockTexts, threads, [&](size_t begin, size_t end) {
    EncodedPairs& block = blocks[begin / kBlockTexts];
    for (const TextPair& pair : pairs.subspan(begin, end - begin)) {
      block.texts.truncated += EncodePair(pair, max_length, &block.texts.ids, &block.types);
      block.texts.starts.push_back(static_cast<int64_t>(block.texts.ids.size()));
    }
  });
  return Join(blocks, pairs.size());
}

void Tokenizer::EncodeBlock(std::span<const std::string_view> texts, size_t max_length,
                            EncodedTexts* encoded) const {
  for (const std::string_view text : texts) {
    if (Encode(text, max_length, &encoded->ids)) ++encoded->truncated;
    encoded->starts.push_back(static_cast<int64_t>(encoded->ids.size()));
  }
}

EncodedTexts Tokenizer::EncodeAll(std::span<const std::string_view> texts, size_t max_length,
                                  int threads) const {
  if (threads <= 1 || texts.size() <= kBlockTexts) {
    EncodedTexts encoded;
    encoded.starts.reserve(texts.size() + 1);
    EncodeBlock(texts, max_length, &encoded);
    return encoded;
  }
  std::vector<EncodedTexts> blocks((texts.size() + kBlockTexts - 1) / kBlockTexts);
  ParallelFor(texts.size(), kBlockTexts, threads, [&](size_t begin, size_t end) {
    EncodeBlock(texts.subspan(begin, end - begin), max_length, &blocks[begin / kBlockTexts]);
  });
  return Join(blocks, texts.size());
}

}  // namespace tandem::text
