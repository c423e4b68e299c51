// A tokenizer that runs a text through stages, as tokenizer.json describes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/models/subword_model.h"
#include "text/models/vocabulary.h"
#include "text/normalizers/normalizer.h"
#include "text/post_processors/post_processor.h"
#include "text/pre_tokenizers/pre_tokenizer.h"
#include "text/tokenizer.h"

namespace tandem::text {

// text -> added tokens | normalizer -> added tokens | pre-tokenizer -> model -> special tokens
struct TokenizerStages {
  std::unique_ptr<const Normalizer> normalizer;
  std::unique_ptr<const PreTokenizer> pre_tokenizer;
  std::unique_ptr<const SubwordModel> model;
  AddedTokens added_tokens;
  SpecialTokens special_tokens;
  Vocabulary vocabulary;   // of model and added tokens
  bool cuts_left = false;  // a text that is too long loses its beginning
  // Ids are below it; a text with an added token whose id is not is an error.
  size_t usable_ids = 0;
  std::string class_name;  // transformers' class that makes these stages; empty: they are a file's
  std::string settings;    // what of them is not in the tokenizer's own file, for its hash
  uint64_t fingerprint = 0;  // of the files that the stages were read from
};

class PipelineTokenizer final : public Tokenizer {
 public:
  explicit PipelineTokenizer(TokenizerStages stages);
  ~PipelineTokenizer() override;

  bool Encode(std::string_view text, size_t max_length, std::vector<int32_t>* ids) const override;
  bool EncodePair(const TextPair& pair, size_t max_length, std::vector<int32_t>* ids,
                  std::vector<int32_t>* types) const override;
  size_t special_tokens() const override { return stages_.special_tokens.size(); }
  size_t vocabulary_size() const override { return stages_.usable_ids; }
  std::string_view token(int32_t id) const override { return stages_.vocabulary.token(id); }
  uint64_t fingerprint() const override { return stages_.fingerprint; }
  bool cuts_left() const override { return stages_.cuts_left; }
  std::string_view class_name() const override { return stages_.class_name; }

 protected:
  void EncodeBlock(std::span<const std::string_view> texts, size_t max_length,
                   EncodedTexts* encoded) const override;

 private:
  // Buffers and caches of one thread while it encodes. Kept for the next thread, so that the caches
  // stay filled.
  struct Scratch;
  class ScratchLease;

  bool EncodeWith(Scratch* scratch, std::string_view text, size_t max_length,
                  std::vector<int32_t>* ids) const;
  // Appends the ids of a text without special tokens, at least until `ids` has more than `max_ids`.
  void EncodePlain(Scratch* scratch, std::string_view text, size_t max_ids,
                   std::vector<int32_t>* ids) const;
  // Keeps at most `most` of the ids, from the end that stays.
  std::span<const int32_t> Kept(std::span<const int32_t> ids, size_t most) const;
  // Appends the id of an added token. Throws DataError where the model has no row for it.
  void AddId(int32_t id, std::vector<int32_t>* ids) const;
  struct Piece {
    std::string_view text;
    bool starts;  // whether it is the beginning of the text that the user gave
  };
  // Both append ids of a piece without special tokens; they may stop once `ids` has more than
  // `max_ids`.
  void EncodePiece(Scratch* scratch, Piece piece, size_t max_ids, std::vector<int32_t>* ids) const;
  void EncodeNormalized(Scratch* scratch, bool starts, size_t max_ids,
                        std::vector<int32_t>* ids) const;

  TokenizerStages stages_;
  Cuts cuts_;
  mutable std::mutex pool_mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> pool_;
};

}  // namespace tandem::text
