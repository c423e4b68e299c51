// A model that is as small as a dual encoder can be and still learns: the mean of its words' rows
// of a table, times a matrix, plus a bias. Words are split at spaces; each has its own id.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hashes/text_hash.h"
#include "base/random.h"
#include "model/dual_encoder.h"
#include "tensor/core/functions/functions.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::model {

// One id for each word (a hash below the vocabulary's size), between a start (0) and an end (1).
class WordTokenizer final : public text::Tokenizer {
 public:
  explicit WordTokenizer(size_t vocabulary) : vocabulary_(vocabulary) {}

  bool Encode(std::string_view text, size_t max_length, std::vector<int32_t>* ids) const override {
    const size_t begin = ids->size();
    ids->push_back(0);
    bool cut = false;
    while (!text.empty() && !cut) {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      if (word.empty()) continue;
      cut = max_length > 0 && ids->size() - begin + 1 >= max_length;
      if (!cut) ids->push_back(Id(word));
    }
    ids->push_back(1);
    return cut;
  }
  size_t special_tokens() const override { return 2; }
  size_t vocabulary_size() const override { return vocabulary_; }
  std::string_view token(int32_t) const override { return "word"; }
  uint64_t fingerprint() const override { return vocabulary_; }
  int32_t Id(std::string_view word) const {
    return static_cast<int32_t>(2 + TextHash(word) % (vocabulary_ - 2));
  }

 private:
  size_t vocabulary_;
};

class BagEncoder final : public DualEncoder {
 public:
  explicit BagEncoder(size_t vocabulary = 997, int64_t width = 16) : tokenizer_(vocabulary) {
    RandomStream stream({1, "bag encoder"});
    table_ = Random(stream, {static_cast<int64_t>(vocabulary), width}, 1);
    weight_ = Random(stream, {width, width}, 1);
    bias_ = Random(stream, {width}, 0.1);
  }

  void Prepare(TextKind, tensor::Precision, tensor::Passes) override {}
  tensor::Tensor Encode(const tensor::PackedTokens& tokens, TextKind,
                        const ForwardOptions& options) const override {
    if (on_encode) on_encode();
    seen_options.push_back(options);
    seen_keys.push_back(tokens.text_keys);
    const tensor::Tensor bags =
        tensor::Product(Averages(tokens), tensor::TakeRows(table_, tokens.ids));
    return tensor::AddToRows(tensor::ProductTransposed(bags, weight_), bias_);
  }
  bool shared() const override { return true; }
  int64_t embedding_width() const override { return weight_.size(0); }
  std::vector<NamedParameter> Parameters() override {
    return {
        {"table", table_, true}, {"linear.weight", weight_, true}, {"linear.bias", bias_, false}};
  }
  const text::Tokenizer& tokenizer(TextKind) const override { return tokenizer_; }
  size_t max_tokens(TextKind kind) const override { return kind == TextKind::kQuery ? 8 : 16; }
  const std::string& prompt(TextKind kind) const override {
    return kind == TextKind::kQuery ? query_prompt : document_prompt;
  }
  std::string settings() const override { return "mean of words\n"; }
  double flops_per_token() const override { return 512; }
  void Save(const std::filesystem::path&, const weights::ModelCard&) const override {}

  std::string query_prompt, document_prompt;
  std::function<void()> on_encode;                   // called by every forward pass; null: nothing
  mutable std::vector<ForwardOptions> seen_options;  // of every call of Encode
  mutable std::vector<tensor::Tensor> seen_keys;     // text_keys of every call

 private:
  // The matrix [B, T] that takes the mean of each text's rows.
  static tensor::Tensor Averages(const tensor::PackedTokens& tokens) {
    const tensor::Tensor averages =
        tensor::Zeros({tokens.texts(), tokens.tokens()}, tensor::kFloat);
    const auto* start = tokens.sequence_starts.data_ptr<int32_t>();
    for (int64_t text = 0; text < tokens.texts(); ++text) {
      auto* row = averages.data_ptr<float>() + text * tokens.tokens();
      std::fill(row + start[text], row + start[text + 1],
                1.0F / static_cast<float>(start[text + 1] - start[text]));
    }
    return averages;
  }
  static tensor::Tensor Random(RandomStream& stream, const tensor::Shape& shape, double scale) {
    tensor::Tensor tensor = tensor::Empty(shape, tensor::kFloat);
    auto* values = tensor.data_ptr<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      values[i] = static_cast<float>(scale * (2 * stream.Uniform() - 1));
    }
    return tensor.set_requires_grad(true);
  }

  tensor::Tensor table_, weight_, bias_;
  WordTokenizer tokenizer_;
};

}  // namespace tandem::model
