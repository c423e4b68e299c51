// Scores of judged pairs by a cross-encoder, which reads query and document together.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "data/judgements/judged_pairs.h"
#include "model/encoders/cross_encoder.h"
#include "search/length_batches.h"
#include "tensor/machine/precision.h"

namespace tandem::search {

struct CrossEncoderOptions {
  tensor::Precision precision = tensor::Precision::kFp32;
  int threads = 1;  // of the tokenizer; tensor operations use tensor::ThreadCount()
  BatchTokens batch_tokens;
  size_t window_pairs = 16384;  // whose ids are in memory at a time
  std::string label;            // of the progress bar; empty: none
  // Called between batches by the thread that made one, by one thread at a time. It may throw, to
  // stop.
  std::function<void()> between_batches;
};

struct CrossEncoderLogits {
  size_t labels = 0;
  std::vector<float> logits;  // [P, labels], before any activation, in the order of the pairs
  size_t pairs = 0;
  size_t tokens = 0;
  size_t truncated = 0;  // pairs longer than the model's limit
};

// Scores every query with each of its documents; the model's prompt stands before queries. Needs
// memory for one window besides the logits. A pair's logits do not depend on the other pairs but
// for rounding. Throws NumericError for logits that are not finite, ModelError for a tokenizer that
// cannot encode pairs.
CrossEncoderLogits ScoreByCrossEncoder(model::CrossEncoder& model, const data::Dataset& dataset,
                                       const data::JudgedPairs& pairs,
                                       const CrossEncoderOptions& options);

// How the score of a pair is computed from its logits [labels].
struct LabelScore {
  std::function<double(std::span<const float>)> score;
  std::string text;  // for people: "Sigmoid(logit)"
};

// Raw scores, for a teacher: the logit of `label`.
LabelScore LogitOf(const model::CrossEncoder& model, size_t label);

// Grades in [0, 1]. One label: the logistic function of the logit, which is what
// CrossEncoder.predict gives by default; a folder whose activation is Identity (scores of any size,
// as those trained on MS MARCO) gets it too, so that its grades are in [0, 1]. More labels: the
// softmax of all logits (apply_softmax), or the logistic function where the folder's activation is
// Sigmoid. Throws UsageError for a folder with another activation.
LabelScore GradeOf(const model::CrossEncoder& model, size_t label);

// The number of the label that `given` names, by name or number. Empty: the only one there is.
// Throws UsageError, naming the labels, where there are several and none is given, or there is none
// of that name.
size_t FindLabel(const model::CrossEncoder& model, const std::string& given);

}  // namespace tandem::search
