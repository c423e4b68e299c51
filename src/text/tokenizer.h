// Texts to token ids, as Hugging Face's `tokenizers` package makes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::text {

// Token ids of several texts, one after the other, nothing padded.
struct EncodedTexts {
  std::vector<int32_t> ids;           // [T]
  std::vector<int64_t> starts = {0};  // [B + 1]; text b has ids[starts[b] .. starts[b + 1])
  size_t truncated = 0;               // texts that were longer than the limit

  size_t size() const { return starts.size() - 1; }
  std::span<const int32_t> operator[](size_t b) const {
    return {ids.data() + starts[b], static_cast<size_t>(starts[b + 1] - starts[b])};
  }
};

// Pairs of texts, each as one input.
struct EncodedPairs {
  EncodedTexts texts;          // `truncated`: pairs that were longer than the limit
  std::vector<int32_t> types;  // [T]: the token type of each id
};

struct TextPair {
  std::string_view first, second;
};

// Immutable and safe to share between threads.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Ids of one text with the special tokens of the post-processor, cut so that there are at most
  // `max_length` of them (special tokens counted; 0: no limit): at its end, or where cuts_left() at
  // its beginning. Any bytes are taken: each maximal
  // invalid subpart of UTF-8 counts as one U+FFFD. Appends to `ids`; returns whether it was cut.
  // An empty text is its special tokens; a limit below their number cuts them, too. Throws
  // DataError for a text with an added token whose id is not below TokenizerOptions::rows.
  virtual bool Encode(std::string_view text, size_t max_length,
                      std::vector<int32_t>* ids) const = 0;

  // `texts[b]` in order, on up to `threads` threads.
  EncodedTexts EncodeAll(std::span<const std::string_view> texts, size_t max_length,
                         int threads) const;

  // Ids and token types of two texts as one input, as the post-processor joins them: [CLS] first
  // [SEP] second [SEP]. The longer text is cut first where there are more than `max_length`
  // (LongestFirst in text/post_processors/pair_template.h; 0: no limit); a limit below the number
  // of special tokens cuts the end. Appends to `ids` and `types`, which have the same size; returns
  // whether a text was cut. Throws ModelError where the tokenizer has no template for pairs.
  virtual bool EncodePair(const TextPair& pair, size_t max_length, std::vector<int32_t>* ids,
                          std::vector<int32_t>* types) const;

  // `pairs[b]` in order, on up to `threads` threads.
  EncodedPairs EncodeAllPairs(std::span<const TextPair> pairs, size_t max_length,
                              int threads) const;

  // Says how many special tokens the post-processor puts around a text.
  virtual size_t special_tokens() const = 0;

  // Number of ids: every id is in [0, vocabulary_size()).
  virtual size_t vocabulary_size() const = 0;
  // The token string of an id; empty for an id without token.
  virtual std::string_view token(int32_t id) const = 0;
  // A hash of the settings that decide the ids: tokenizers with the same one make the same ids of
  // the same text. It is the same on every machine.
  virtual uint64_t fingerprint() const = 0;
  // Says whether texts that are too long lose their beginning, not their end.
  virtual bool cuts_left() const { return false; }
  // transformers' class by whose rules the tokenizer's parts are made; empty where they are those
  // of tokenizer.json.
  virtual std::string_view class_name() const { return ""; }

 protected:
  // Encodes all `texts` on the calling thread, appending to `encoded`.
  virtual void EncodeBlock(std::span<const std::string_view> texts, size_t max_length,
                           EncodedTexts* encoded) const;
};

struct TokenizerOptions {
  // Lower-cases every text before the tokenizer's own normalizer, which then does the rest that its
  // files say. sentence-transformers does so where a model folder says `do_lower_case`.
  bool lower_case = false;
  // Rows of the word table of the model whose tokenizer it is; 0: not known. Tokens after them that
  // only the files beside tokenizer.json name do not count for vocabulary_size().
  size_t rows = 0;
};

// Reads `tokenizer.json`, or where it is absent `vocab.txt`, from a folder, and what the files
// beside it make of it in transformers 5: tokenizer_config.json, special_tokens_map.json,
// added_tokens.json and the class that config.json means (text/classes/tokenizer_class.h). Throws
// ModelError naming the file and, for a component that is not supported, the component and the
// supported ones.
std::unique_ptr<const Tokenizer> LoadTokenizer(const std::filesystem::path& folder,
                                               const TokenizerOptions& options = {});

}  // namespace tandem::text
