#include "train/step/encode_batch.h"

#include <vector>

#include "tensor/core/functions/functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"
#include "tensor/core/tensor.h"
#include "tensor/profile/profile.h"

namespace tandem::train {
namespace {

tensor::Tensor NoEmbeddings(const model::DualEncoder& model) {
  return tensor::Empty({0, model.embedding_width()}, tensor::kFloat, model.device());
}

}  // namespace

void Prepare(model::DualEncoder& model, tensor::Precision precision, tensor::Passes passes) {
  for (const model::TextKind kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
    model.Prepare(kind, precision, passes);
  }
}

tensor::Tensor EncodeRange(model::DualEncoder& model, const TrainingBatch& batch, int64_t begin,
                           int64_t end, const model::ForwardOptions& options) {
  const auto kind = begin < batch.queries ? model::TextKind::kQuery : model::TextKind::kDocument;
  return model.Encode(batch.Pack(begin, end), kind, options);
}

tensor::Tensor EncodeWhole(model::DualEncoder& model, const TrainingBatch& batch,
                           const model::ForwardOptions& options) {
  if (batch.texts() == 0) return NoEmbeddings(model);
  if (model.shared() || batch.queries == 0 || batch.documents == 0) {
    return EncodeRange(model, batch, 0, batch.texts(), options);
  }
  return tensor::Cat({EncodeRange(model, batch, 0, batch.queries, options),
                      EncodeRange(model, batch, batch.queries, batch.texts(), options)});
}

void ForEachChunk(const model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                  const std::function<void(int64_t begin, int64_t end)>& body) {
  for (int64_t begin = 0; begin < batch.texts();) {
    const bool stop_at_documents = !model.shared() && begin < batch.queries;
    const int64_t most = stop_at_documents ? batch.queries : batch.texts();
    int64_t end = begin + 1, tokens = batch.length(begin);
    while (end < most && tokens + batch.length(end) <= limit) tokens += batch.length(end++);
    body(begin, end);
    begin = end;
  }
}

tensor::Tensor EncodeInChunks(model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                              const model::ForwardOptions& options) {
  const tensor::NoGradGuard no_gradient;
  if (batch.texts() == 0) return NoEmbeddings(model);
  std::vector<tensor::Tensor> chunks;
  ForEachChunk(model, batch, limit, [&](int64_t begin, int64_t end) {
    chunks.push_back(EncodeRange(model, batch, begin, end, options));
  });
  return tensor::Cat(chunks);
}

// Each operation counts its own backward pass in a profile. This scope counts the rest: walking the
// graph, the backward pass of the scores, and accumulating gradients.
void BackPropagate(const tensor::Tensor& value, const tensor::Tensor& gradient) {
  const tensor::ProfileScope scope("backward of scores, graph");
  value.backward(gradient);
}

}  // namespace tandem::train
