#include "objective/softmax.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "objective/log_sum.h"
#include "objective/rows.h"

namespace tandem::objective {
namespace {

struct RowResult {
  double loss = 0;
  double log_total = 0;        // log of the denominator
  double candidate_share = 0;  // the candidates' part of the denominator, in [0, 1]
  bool empty = true;
};

// -log of the positive's part of the denominator. A difference of two logarithms would lose the
// digits of a loss far below 1, so this computes log(1 + candidates / positive).
RowResult Finish(const LogSum& candidates, double positive, bool include_positive) {
  if (candidates.empty()) return {};
  const double lead = candidates.max() - positive;
  double loss = 0;
  if (!include_positive) {
    loss = lead + std::log(candidates.sum());
  } else if (lead <= 0) {
    loss = std::log1p(candidates.sum() * std::exp(lead));
  } else {
    loss = lead + std::log(candidates.sum() + std::exp(-lead));
  }
  const double log_total = positive + loss;
  return {loss, log_total, candidates.sum() * std::exp(candidates.max() - log_total), false};
}

void AddBlockRow(const CandidateBlock& block, int64_t row, double inverse_temperature,
                 LogSum& sum) {
  const double* scores = block.scores + row * block.columns;
  const bool* mask = block.mask + row * block.columns;
  for (int64_t j = 0; j < block.columns; ++j) {
    if (mask[j]) sum.Add(scores[j] * inverse_temperature);
  }
}

void AddBlockGradient(const CandidateBlock& block, int64_t row, const RowResult& result,
                      double inverse_temperature, double factor) {
  const double* scores = block.scores + row * block.columns;
  const bool* mask = block.mask + row * block.columns;
  double* gradient = block.gradient + row * block.columns;
  for (int64_t j = 0; j < block.columns; ++j) {
    if (mask[j]) {
      gradient[j] += factor * std::exp(scores[j] * inverse_temperature - result.log_total);
    }
  }
}

void AddPositiveGradient(const Batch& batch, int64_t row, const RowResult& result,
                         const SoftmaxOptions& options, double factor, double* gradient) {
  // Where the positive is not part of the denominator, its gradient has no softmax term.
  const double share = options.include_positive ? result.candidate_share : 1;
  gradient[row * batch.documents + batch.positive[row]] -= factor * share;
}

}  // namespace

double AddTerm(const Batch& batch, std::span<const double> values, const SoftmaxOptions& options,
               std::vector<double>& losses) {
  for (size_t i = 0; i < values.size(); ++i) losses[i] += options.share * values[i];
  return options.share / static_cast<double>(batch.queries) * WeightedSum(batch, values);
}

CandidateBlock Negatives(const Batch& batch, Gradient* gradient) {
  return {batch.query_document, batch.negative,
          gradient == nullptr ? nullptr : gradient->query_document, batch.documents};
}

CandidateBlock SameTowerQueries(const Batch& batch, Gradient* gradient) {
  return {batch.query_query, batch.query_negative,
          gradient == nullptr ? nullptr : gradient->query_query, batch.same_tower};
}

CandidateBlock SameTowerDocuments(const Batch& batch, Gradient* gradient) {
  return {batch.document_document, batch.document_negative,
          gradient == nullptr ? nullptr : gradient->document_document, batch.same_tower};
}

double RowSoftmax(const Batch& batch, std::span<const CandidateBlock> candidates,
                  const SoftmaxOptions& options, Gradient* gradient, std::vector<double>& losses) {
  const double inverse_temperature = 1 / options.temperature;
  const double share = options.share / static_cast<double>(batch.queries);
  const std::vector<double> rows = MapRows(batch, [&](int64_t row) {
    LogSum sum;
    for (const CandidateBlock& block : candidates) {
      AddBlockRow(block, row, inverse_temperature, sum);
    }
    const RowResult result =
        Finish(sum, batch.PositiveScore(row) * inverse_temperature, options.include_positive);
    if (gradient == nullptr || result.empty) return result.loss;
    const double factor = share * inverse_temperature * batch.Weight(row);
    for (const CandidateBlock& block : candidates) {
      AddBlockGradient(block, row, result, inverse_temperature, factor);
    }
    AddPositiveGradient(batch, row, result, options, factor, gradient->query_document);
    return result.loss;
  });
  return AddTerm(batch, rows, options, losses);
}

double ColumnSoftmax(const Batch& batch, const CandidateBlock& same_tower,
                     const SoftmaxOptions& options, Gradient* gradient,
                     std::vector<double>& losses) {
  const auto queries = static_cast<size_t>(batch.queries);
  const double inverse_temperature = 1 / options.temperature;
  const double factor = options.share / static_cast<double>(batch.queries) * inverse_temperature;
  const auto cell = [&](int64_t row, size_t own) {
    return row * batch.documents + batch.positive[own];
  };
  const std::vector<RowResult> results = MapRows(batch, [&](int64_t own) {
    const auto i = static_cast<size_t>(own);
    LogSum sum;
    for (int64_t row = 0; row < batch.queries; ++row) {
      const int64_t at = cell(row, i);
      if (batch.negative[at]) sum.Add(batch.query_document[at] * inverse_temperature);
    }
    AddBlockRow(same_tower, own, inverse_temperature, sum);
    return Finish(sum, batch.PositiveScore(own) * inverse_temperature, options.include_positive);
  });
  if (gradient != nullptr) {
    // A thread writes to whole rows of the gradient. Threads over paired documents instead would
    // write to the same cells where two rows have the same paired document.
    ForEachRow(batch, [&](int64_t row) {
      for (size_t i = 0; i < queries; ++i) {
        const int64_t at = cell(row, i);
        if (!batch.negative[at]) continue;
        gradient->query_document[at] +=
            factor * batch.Weight(static_cast<int64_t>(i)) *
            std::exp(batch.query_document[at] * inverse_temperature - results[i].log_total);
      }
      const RowResult& result = results[static_cast<size_t>(row)];
      if (result.empty) return;
      const double weighted = factor * batch.Weight(row);
      AddBlockGradient(same_tower, row, result, inverse_temperature, weighted);
      AddPositiveGradient(batch, row, result, options, weighted, gradient->query_document);
    });
  }
  std::vector<double> columns;
  columns.reserve(queries);
  for (const RowResult& result : results) columns.push_back(result.loss);
  return AddTerm(batch, columns, options, losses);
}

}  // namespace tandem::objective
