#include "train/step/encode_batch.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <vector>

#include "tensor/profile/profile.h"

namespace tandem::train {
namespace {

at::Tensor NoEmbeddings(const model::DualEncoder& model) {
  return at::empty({0, model.embedding_width()},
                   at::TensorOptions().dtype(at::kFloat).device(model.device()));
}

}  // namespace

void Prepare(model::DualEncoder& model, tensor::Precision precision, tensor::Passes passes) {
  for (const model::TextKind kind : {model::TextKind::kQuery, model::TextKind::kDocument}) {
    model.Prepare(kind, precision, passes);
  }
}

at::Tensor EncodeRange(model::DualEncoder& model, const TrainingBatch& batch, int64_t begin,
                       int64_t end, const model::ForwardOptions& options) {
  const auto kind = begin < batch.queries ? model::TextKind::kQuery : model::TextKind::kDocument;
  return model.Encode(batch.Pack(begin, end), kind, options);
}

at::Tensor EncodeWhole(model::DualEncoder& model, const TrainingBatch& batch,
                       const model::ForwardOptions& options) {
  if (batch.texts() == 0) return NoEmbeddings(model);
  if (model.shared() || batch.queries == 0 || batch.documents == 0) {
    return EncodeRange(model, batch, 0, batch.texts(), options);
  }
  return at::cat({EncodeRange(model, batch, 0, batch.queries, options),
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

at::Tensor EncodeInChunks(model::DualEncoder& model, const TrainingBatch& batch, int64_t limit,
                          const model::ForwardOptions& options) {
  const at::NoGradGuard no_gradient;
  if (batch.texts() == 0) return NoEmbeddings(model);
  std::vector<at::Tensor> chunks;
  ForEachChunk(model, batch, limit, [&](int64_t begin, int64_t end) {
    chunks.push_back(EncodeRange(model, batch, begin, end, options));
  });
  return at::cat(chunks);
}

// Each operation counts its own backward pass in a profile. This scope counts the rest: walking the
// graph, the backward pass of the scores, and accumulating gradients.
void BackPropagate(const at::Tensor& value, const at::Tensor& gradient) {
  const tensor::ProfileScope scope("backward of scores, graph");
  value.backward(gradient);
}

}  // namespace tandem::train
