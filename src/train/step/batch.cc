#include "train/step/batch.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <utility>

#include "tensor/core/make.h"
#include "tensor/core/tensor.h"

namespace tandem::train {
namespace {

// Makes a tensor [rows, columns] that takes over the memory of `mask`.
tensor::Tensor MaskTensor(std::vector<uint8_t> mask, int64_t rows, int64_t columns) {
  const auto cells = std::make_shared<std::vector<uint8_t>>(std::move(mask));
  return tensor::FromBlob(cells->data(), {rows, columns}, tensor::kBool, cells);
}

objective::Labels LabelsOf(sampling::Masks masks, const sampling::Batch& batch,
                           dist::Share masked) {
  const auto queries = static_cast<int64_t>(batch.rows());
  objective::Labels labels;
  labels.positive = tensor::Arange(queries, tensor::kLong);
  labels.negative =
      MaskTensor(std::move(masks.negative), masked.size(), static_cast<int64_t>(batch.columns()));
  labels.query_negative = MaskTensor(std::move(masks.query_negative), masked.size(), queries);
  labels.document_negative = MaskTensor(std::move(masks.document_negative), masked.size(), queries);
  return labels;
}

// Returns the paired and the extra documents of each row with their grades and teacher scores. A
// document that is not judged for its row has grade 0 and teacher score 0.
objective::LabelledCells LabelledCellsOf(const sampling::Examples& examples,
                                         const sampling::Batch& batch) {
  objective::LabelledCells labelled{.row_starts = {0}};
  labelled.cells.reserve(batch.columns());
  for (size_t row = 0; row < batch.rows(); ++row) {
    const auto add = [&](size_t column) {
      objective::LabelledCell cell{.column = static_cast<int64_t>(column)};
      for (const sampling::Judged& one : examples.judged(batch.queries[row])) {
        if (one.document != batch.documents[column]) continue;
        cell.grade = one.grade;
        cell.teacher = one.teacher;
        break;
      }
      labelled.cells.push_back(cell);
    };
    add(row);
    labelled.own_grades.push_back(labelled.cells.back().grade);
    labelled.own_teachers.push_back(labelled.cells.back().teacher);
    for (uint32_t c = batch.extra_starts[row]; c < batch.extra_starts[row + 1]; ++c) add(c);
    labelled.row_starts.push_back(std::ssize(labelled.cells));
  }
  return labelled;
}

}  // namespace

tensor::PackedTokens TrainingBatch::Pack(int64_t begin, int64_t end) const {
  std::vector<std::span<const int32_t>> spans;
  std::vector<int64_t> keys(static_cast<size_t>(end - begin));
  if (keys_.empty()) {
    std::iota(keys.begin(), keys.end(), begin);
  } else {
    std::copy(keys_.begin() + begin, keys_.begin() + end, keys.begin());
  }
  for (int64_t text = begin; text < end; ++text) {
    spans.emplace_back(ids_.data() + starts_[text], static_cast<size_t>(length(text)));
  }
  std::span<const int32_t> prompts = prompts_;
  if (!prompts.empty()) {
    prompts = prompts.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  }
  return tensor::Pack(spans, keys, prompts);
}

TrainingBatch TrainingBatch::Part(dist::Share of_queries, dist::Share of_documents) const {
  TrainingBatch part;
  part.queries = of_queries.size();
  part.documents = of_documents.size();
  const auto add = [&](int64_t text) {
    part.ids_.insert(part.ids_.end(), ids_.begin() + starts_[text],
                     ids_.begin() + starts_[text + 1]);
    part.starts_.push_back(std::ssize(part.ids_));
    part.keys_.push_back(keys_.empty() ? text : keys_[text]);
    if (!prompts_.empty()) part.prompts_.push_back(prompts_[text]);
  };
  for (int64_t q = of_queries.begin; q < of_queries.end; ++q) add(q);
  for (int64_t d = of_documents.begin; d < of_documents.end; ++d) add(queries + d);
  return part;
}

TrainingBatch BatchMaker::Make(const sampling::Batch& batch) const {
  return Make(batch, {0, static_cast<int64_t>(batch.rows())});
}

TrainingBatch BatchMaker::Make(const sampling::Batch& batch, dist::Share masked) const {
  TrainingBatch made;
  made.queries = static_cast<int64_t>(batch.rows());
  made.documents = static_cast<int64_t>(batch.columns());
  const bool prompts = texts_.queries.has_prompts() || texts_.documents.has_prompts();
  const auto add = [&made, prompts](const TokenStore& store, uint32_t index) {
    store.Append(index, &made.ids_);
    if (prompts) made.prompts_.push_back(store.prompt_tokens(index));
    made.starts_.push_back(static_cast<int64_t>(made.ids_.size()));
  };
  for (const uint32_t query : batch.queries) add(texts_.queries, texts_.query_texts[query]);
  for (const uint32_t document : batch.documents) add(texts_.documents, document);
  made.labels = LabelsOf(
      sampling::MakeMasks(texts_.examples, batch, rules_, static_cast<size_t>(masked.begin),
                          static_cast<size_t>(masked.end)),
      batch, masked);
  made.masked = masked;
  made.labels.weights = batch.weights;
  if (needs_.grades || needs_.teacher) {
    made.labels.labelled = LabelledCellsOf(texts_.examples, batch);
  }
  return made;
}

}  // namespace tandem::train
