#include "train/batch.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <cstring>
#include <numeric>

namespace tandem::train {
namespace {

at::Tensor MaskTensor(const std::vector<uint8_t>& mask, size_t rows) {
  const auto columns = static_cast<int64_t>(mask.size() / rows);
  at::Tensor tensor = at::empty({static_cast<int64_t>(rows), columns}, at::kBool);
  std::memcpy(tensor.data_ptr(), mask.data(), mask.size());
  return tensor;
}

objective::Labels LabelsOf(const sampling::Masks& masks, size_t rows) {
  objective::Labels labels;
  labels.positive = at::arange(static_cast<int64_t>(rows), at::kLong);
  labels.labelled = MaskTensor(masks.labelled, rows);
  labels.negative = MaskTensor(masks.negative, rows);
  labels.query_negative = MaskTensor(masks.query_negative, rows);
  labels.document_negative = MaskTensor(masks.document_negative, rows);
  return labels;
}

// A matrix by rows with `value(judgement)` in the cells of each row's own and further documents, 0
// elsewhere. A document that nobody judged for its row has none of the two: the cell stays 0.
template <typename Value>
at::Tensor LabelTensor(const sampling::Examples& examples, const sampling::Batch& batch,
                       const Value& value) {
  const auto columns = static_cast<int64_t>(batch.columns());
  at::Tensor tensor = at::zeros({static_cast<int64_t>(batch.rows()), columns}, at::kDouble);
  auto* cells = static_cast<double*>(tensor.data_ptr());
  for (size_t row = 0; row < batch.rows(); ++row, cells += columns) {
    const auto set = [&](size_t column) {
      for (const sampling::Judged& one : examples.judged(batch.queries[row])) {
        if (one.document == batch.documents[column]) cells[column] = value(one);
      }
    };
    set(row);
    for (uint32_t c = batch.further_starts[row]; c < batch.further_starts[row + 1]; ++c) set(c);
  }
  return tensor;
}

}  // namespace

tensor::PackedTokens TrainingBatch::Pack(int64_t begin, int64_t end) const {
  std::vector<std::span<const int32_t>> spans;
  std::vector<int64_t> keys(static_cast<size_t>(end - begin));
  std::iota(keys.begin(), keys.end(), begin);
  for (int64_t text = begin; text < end; ++text) {
    spans.emplace_back(ids_.data() + starts_[text], static_cast<size_t>(length(text)));
  }
  return tensor::Pack(spans, keys);
}

TrainingBatch BatchMaker::Make(const sampling::Batch& batch) const {
  TrainingBatch made;
  made.queries = static_cast<int64_t>(batch.rows());
  made.documents = static_cast<int64_t>(batch.columns());
  const auto add = [&made](const TokenStore& store, uint32_t index) {
    store.Append(index, &made.ids_);
    made.starts_.push_back(static_cast<int64_t>(made.ids_.size()));
  };
  for (const uint32_t query : batch.queries) add(texts_.queries, texts_.query_texts[query]);
  for (const uint32_t document : batch.documents) add(texts_.documents, document);
  made.labels = LabelsOf(sampling::MakeMasks(texts_.examples, batch, rules_), batch.rows());
  if (needs_.grades) {
    made.labels.grades =
        LabelTensor(texts_.examples, batch, [](const sampling::Judged& one) { return one.grade; });
  }
  if (needs_.teacher) {
    made.labels.teacher = LabelTensor(texts_.examples, batch,
                                      [](const sampling::Judged& one) { return one.teacher; });
  }
  return made;
}

}  // namespace tandem::train
