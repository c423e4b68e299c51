#include "libtorch/objective/device_softmax.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/where.h>

#include <limits>
#include <utility>

#include "libtorch/objective/device_math.h"

namespace tandem::libtorch {
namespace {

// The candidates of n paired documents: their scores over the temperature, -inf where the mask
// one.
struct Logits {
  at::Tensor values;
  int64_t along = 1;  // the candidates of one paired document lie along this dimension

  // Puts numbers [n] beside the values of their own paired document.
  at::Tensor Beside(const at::Tensor& numbers) const { return numbers.unsqueeze(along); }
};

Logits MakeLogits(const at::Tensor& scores, const at::Tensor& mask, double inverse_temperature,
                  int64_t along) {
  return {scores.mul(inverse_temperature)
              .masked_fill_(mask.logical_not(), -std::numeric_limits<double>::infinity()),
          along};
}

struct Results {
  at::Tensor losses;          // [n]
  at::Tensor log_total;       // log of the denominator
  at::Tensor positive_share;  // of the factor, that the own score's gradient loses
};

// -log of the positive's part of the denominator, as in softmax.cc: log(1 + candidates / positive).
Results Finish(const std::vector<Logits>& candidates, const at::Tensor& positive,
               bool include_positive) {
  at::Tensor max;
  for (const Logits& logits : candidates) {
    const at::Tensor here = logits.values.amax(logits.along);
    max = max.defined() ? at::maximum(max, here) : here;
  }
  const at::Tensor empty = max.eq(-std::numeric_limits<double>::infinity());
  const at::Tensor shift = at::where(empty, positive, max);
  at::Tensor sum;
  for (const Logits& logits : candidates) {
    const at::Tensor here = logits.values.sub(logits.Beside(shift)).exp_().sum(logits.along);
    sum = sum.defined() ? sum.add_(here) : here;
  }
  const at::Tensor lead = shift.sub(positive);
  at::Tensor loss;
  if (include_positive) {
    // Both branches are finite wherever the other one is taken. Without candidates sum = lead = 0.
    loss = at::where(lead.le(0), sum.mul(lead.clamp_max(0).exp()).log1p(),
                     lead.add(sum.add(lead.clamp_min(0).neg().exp()).log()));
  } else {
    loss = lead.add(sum.log()).masked_fill(empty, 0);
  }
  const at::Tensor log_total = positive.add(loss);
  const at::Tensor share =
      include_positive ? sum.mul(shift.sub(log_total).exp()) : empty.logical_not().to(at::kDouble);
  return {loss, log_total, share};
}

// Computes the gradients of the candidates, in the memory of `logits`. factors [n].
at::Tensor CandidateGradient(const Logits& logits, const Results& results,
                             const at::Tensor& factors) {
  return logits.values.sub_(logits.Beside(results.log_total)).exp_().mul_(logits.Beside(factors));
}

void AddPositiveGradient(const DeviceBatch& batch, int64_t begin, int64_t count,
                         const Results& results, const at::Tensor& factors,
                         BatchGradient& gradient) {
  AddToCells(gradient.query_document, batch.own_cells.narrow(0, begin, count),
             results.positive_share.mul(factors).neg_());
}

int64_t WidthOf(std::span<const TensorBlock> blocks) {
  int64_t width = 0;
  for (const TensorBlock& block : blocks) width += block.scores.size(1);
  return width;
}

}  // namespace

TensorBlock Negatives(const DeviceBatch& batch, BatchGradient* gradient) {
  return {batch.query_document, batch.negative,
          gradient == nullptr ? at::Tensor() : gradient->query_document};
}

TensorBlock SameTowerQueries(const DeviceBatch& batch, BatchGradient* gradient) {
  return {batch.query_query, batch.query_negative,
          gradient == nullptr ? at::Tensor() : gradient->query_query};
}

TensorBlock SameTowerDocuments(const DeviceBatch& batch, BatchGradient* gradient) {
  return {batch.document_document, batch.document_negative,
          gradient == nullptr ? at::Tensor() : gradient->document_document};
}

double RowSoftmax(const DeviceBatch& batch, std::span<const TensorBlock> candidates,
                  const objective::SoftmaxOptions& options, BatchGradient* gradient,
                  std::vector<double>& losses) {
  const double inverse_temperature = 1 / options.temperature;
  const double factor =
      options.share / static_cast<double>(batch.host.queries) * inverse_temperature;
  std::vector<at::Tensor> parts;
  const auto add = [&](int64_t begin, int64_t count) {
    std::vector<Logits> logits;
    for (const TensorBlock& block : candidates) {
      logits.push_back(MakeLogits(block.scores.narrow(0, begin, count),
                                  block.mask.narrow(0, begin, count), inverse_temperature, 1));
    }
    const at::Tensor positive = batch.own_scores.narrow(0, begin, count).mul(inverse_temperature);
    const Results results = Finish(logits, positive, options.include_positive);
    parts.push_back(results.losses);
    if (gradient == nullptr) return;
    const at::Tensor factors = batch.weights.narrow(0, begin, count).mul(factor);
    for (size_t b = 0; b < candidates.size(); ++b) {
      candidates[b]
          .gradient.narrow(0, begin, count)
          .add_(CandidateGradient(logits[b], results, factors));
    }
    AddPositiveGradient(batch, begin, count, results, factors, *gradient);
  };
  ForEachPart(batch, batch.host.queries, WidthOf(candidates), add);
  return objective::AddTerm(batch.host, ToVector(at::cat(parts)), options, losses);
}

double ColumnSoftmax(const DeviceBatch& batch, const TensorBlock& same_tower,
                     const objective::SoftmaxOptions& options, BatchGradient* gradient,
                     std::vector<double>& losses) {
  const double inverse_temperature = 1 / options.temperature;
  const int64_t queries = batch.host.queries;
  const double factor = options.share / static_cast<double>(queries) * inverse_temperature;
  const bool towers = same_tower.scores.defined();
  std::vector<at::Tensor> parts;
  const auto add = [&](int64_t begin, int64_t count) {
    const at::Tensor columns = batch.positive.narrow(0, begin, count);
    std::vector<Logits> logits;
    logits.push_back(MakeLogits(batch.query_document.index_select(1, columns),
                                batch.negative.index_select(1, columns), inverse_temperature, 0));
    if (towers) {
      logits.push_back(MakeLogits(same_tower.scores.narrow(0, begin, count),
                                  same_tower.mask.narrow(0, begin, count), inverse_temperature, 1));
    }
    const at::Tensor positive = batch.own_scores.narrow(0, begin, count).mul(inverse_temperature);
    const Results results = Finish(logits, positive, options.include_positive);
    parts.push_back(results.losses);
    if (gradient == nullptr) return;
    const at::Tensor factors = batch.weights.narrow(0, begin, count).mul(factor);
    gradient->query_document.index_add_(1, columns, CandidateGradient(logits[0], results, factors));
    if (towers) {
      same_tower.gradient.narrow(0, begin, count)
          .add_(CandidateGradient(logits[1], results, factors));
    }
    AddPositiveGradient(batch, begin, count, results, factors, *gradient);
  };
  ForEachPart(batch, queries, queries + (towers ? same_tower.scores.size(1) : 0), add);
  return objective::AddTerm(batch.host, ToVector(at::cat(parts)), options, losses);
}

}  // namespace tandem::libtorch
