// A backend without a model: a token for each word, and an embedding that is a function of the
// ids, so that a test can tell whose embedding it got.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/error.h"
#include "serve/backend.h"

namespace tandem::serve {

class FakeBackend : public Backend {
 public:
  static constexpr size_t kWidth = 8;
  static constexpr size_t kMaxTokens = 16;

  explicit FakeBackend(bool with_index = false, std::string model = "fake") {
    info_.model = std::move(model);
    info_.width = kWidth;
    info_.similarity = "cosine";
    info_.precision = "fp32";
    info_.max_query_tokens = kMaxTokens;
    info_.max_document_tokens = kMaxTokens;
    info_.calibrated = true;
    if (with_index) {
      info_.index = IndexDescription{.kind = "flat",
                                     .documents = documents_.size(),
                                     .fields = {{"lang", "string"}, {"year", "number"}}};
    }
  }

  const BackendInfo& info() const override { return info_; }

  void Tokenize(std::string_view text, TextKind kind, text::EncodedTexts* texts) const override {
    std::vector<int32_t> ids = {kind == TextKind::kQuery ? 1 : 2};
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      if (end > at) ids.push_back(IdOf(text.substr(at, end - at)));
      at = end + 1;
    }
    if (ids.size() > kMaxTokens) {
      ids.resize(kMaxTokens);
      ++texts->truncated;
    }
    texts->ids.insert(texts->ids.end(), ids.begin(), ids.end());
    texts->starts.push_back(static_cast<int64_t>(texts->ids.size()));
  }

  void Encode(std::span<const EncodeItem> batch) override {
    if (before_batch) before_batch(batch);
    size_t tokens = 0;
    for (const EncodeItem& item : batch) {
      tokens += item.ids.size();
      EmbeddingOf(item.ids, item.row);
    }
    if (nanoseconds_per_token > 0) {
      std::this_thread::sleep_for(std::chrono::nanoseconds(nanoseconds_per_token * tokens));
    }
    texts_encoded += batch.size();
  }

  std::optional<double> Probability(double score) const override { return (1 + score) / 2; }

  void CheckSearch(const SearchOptions& options) const override {
    if (options.filter.find("no_such_field") != std::string::npos) {
      throw UsageError("there is no field no_such_field");
    }
  }

  // Every document scores 1, 0.9, …; a filter that is there lets none through.
  std::vector<std::vector<Found>> Search(const float*, size_t count, const SearchOptions& options,
                                         const EmbedTexts& embed) const override {
    std::vector<std::vector<Found>> results(count);
    for (std::vector<Found>& found : results) {
      for (size_t d = 0; d < std::min(options.k, documents_.size()); ++d) {
        Found hit{.id = ids_[d], .score = 1 - static_cast<float>(d) / 10, .text = documents_[d]};
        hit.probability = Probability(hit.score);
        if (options.highlight) hit.highlight = FoundHighlight{0, documents_[d].size()};
        if (options.min_score && hit.score < *options.min_score) continue;
        if (options.min_probability && hit.probability < *options.min_probability) continue;
        found.push_back(hit);
      }
    }
    if (options.highlight) {
      embed(passages > 0 ? std::vector<std::string_view>(passages, "a b c d") : documents_);
    }
    return results;
  }

  static int32_t IdOf(std::string_view word) {
    uint32_t hash = 2166136261;
    for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619;
    return static_cast<int32_t>(hash % 30000) + 10;
  }

  // [kWidth], of length 1.
  static void EmbeddingOf(std::span<const int32_t> ids, float* row) {
    std::fill_n(row, kWidth, 0.0F);
    for (size_t i = 0; i < ids.size(); ++i) {
      row[static_cast<size_t>(ids[i]) % kWidth] += 1 + static_cast<float>(ids[i] % 97) / 97;
    }
    double sum = 0;
    for (size_t i = 0; i < kWidth; ++i) sum += row[i] * row[i];
    for (size_t i = 0; i < kWidth; ++i) row[i] /= static_cast<float>(std::sqrt(sum));
  }

  // Called before each batch, by the thread that encodes; may wait or throw.
  std::function<void(std::span<const EncodeItem>)> before_batch;
  uint64_t nanoseconds_per_token = 0;
  size_t passages = 0;  // that a search with highlights encodes; 0: the documents
  std::atomic<size_t> texts_encoded = 0;

 private:
  BackendInfo info_;
  std::vector<std::string_view> ids_ = {"d1", "d2", "d3"};
  std::vector<std::string_view> documents_ = {"Alpha is \"first\".", "Beta — the second.",
                                              "Gamma closes."};
};

}  // namespace tandem::serve
