// Answers to questions: the documents of an index that score well enough, with probability, text
// and the passage that answers best. Shared by `tandem search` and `tandem serve`.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "index/document_index.h"
#include "index/query/filter.h"
#include "index/query/passages.h"
#include "weights/settings/calibration.h"

namespace tandem::index {

struct AnswerOptions {
  size_t k = 10;
  std::optional<double> min_score;
  std::optional<double> min_probability;  // needs a calibration
  Filter filter;
  bool highlight = false;  // the best passage of each document; encodes passages
  size_t effort = 0;
  int threads = 1;
  // Receives the best score of each query [count], whatever the least score and probability; NaN
  // where the filter lets no document through. Null: nobody asks. FindDocuments does not set it.
  std::vector<float>* best_scores = nullptr;
};

struct Answer {
  uint32_t document = 0;
  float score = 0;
  std::optional<double> probability;
  std::optional<Passage> highlight;
};

// Embeddings of texts as documents, float32 [texts, E] row after row.
using EmbedDocuments = std::function<std::vector<float>(std::span<const std::string_view> texts)>;

// answers[q] of queries [count, E]. `calibration` null: there are no probabilities (min_probability
// is then a UsageError). `embed` is used for highlights only, once for each query: of the passages
// of its answers (index/query/passages.h), in the first 16 KiB of each text. A document that is
// short enough to be one passage is highlighted whole, and one without a text not at all.
std::vector<std::vector<Answer>> FindAnswers(const DocumentIndex& index, const float* queries,
                                             size_t count, const AnswerOptions& options,
                                             const weights::Calibration* calibration,
                                             const EmbedDocuments& embed);

}  // namespace tandem::index
