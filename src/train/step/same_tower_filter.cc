#include "train/step/same_tower_filter.h"

#include <atomic>

#include "tensor/core/device_memory.h"
#include "tensor/core/make.h"
#include "tensor/core/parallel.h"
#include "tensor/core/tensor.h"

namespace tandem::train {
namespace {

// The cells that a thread looks at are at least so many.
constexpr int64_t kCellsOfThread = 32768;

int64_t FilterCells(const tensor::Tensor& of_step, double most, tensor::Tensor& mask) {
  if (!of_step.defined() || !mask.defined()) return 0;
  const tensor::Tensor scores = tensor::OnCpu(of_step.detach());
  const tensor::Tensor left = tensor::Empty({mask.size(0), mask.size(1)}, tensor::kBool);
  const auto* score = scores.data_ptr<double>();
  const bool* before = mask.data_ptr<bool>();
  bool* after = left.data_ptr<bool>();
  std::atomic<int64_t> removed = 0;
  tensor::ParallelFor(0, mask.numel(), kCellsOfThread, [&](int64_t first, int64_t past) {
    int64_t too_high = 0;
    for (int64_t cell = first; cell < past; ++cell) {
      after[cell] = before[cell] && !(score[cell] > most);
      too_high += before[cell] != after[cell] ? 1 : 0;
    }
    removed += too_high;
  });
  mask = left;
  return removed;
}

}  // namespace

int64_t FilterSameTower(const objective::Scores& scores, double most, objective::Labels& labels) {
  return FilterCells(scores.query_query, most, labels.query_negative) +
         FilterCells(scores.document_document, most, labels.document_negative);
}

}  // namespace tandem::train
