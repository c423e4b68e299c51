#include "search/encoding/in_order.h"

#include <algorithm>

#include "tensor/core/make.h"

namespace tandem::search {

RowsInOrder::RowsInOrder(const DistinctTexts& distinct, size_t window, int64_t width,
                         const EmbeddingSink& sink)
    : distinct_(distinct), sink_(sink), left_(distinct.size()) {
  const size_t rows = std::min(std::max<size_t>(window, 1), distinct.row_of.size());
  window_ = tensor::Empty({static_cast<int64_t>(rows), width}, tensor::kFloat);
  for (const uint32_t row : distinct.row_of) ++left_[row];
}

void RowsInOrder::Add(size_t first, const tensor::Tensor& rows) {
  const auto count = static_cast<size_t>(rows.size(0)), width = static_cast<size_t>(rows.size(1));
  const auto* values = rows.data_ptr<float>();
  const auto is_known = [&](size_t text) { return distinct_.row_of[text] < first + count; };
  for (; next_ < distinct_.row_of.size() && is_known(next_);) {
    const uint32_t row = distinct_.row_of[next_];
    --left_[row];
    if (row >= first) {
      Give(values + (row - first) * width);
      continue;
    }
    const auto kept = again_.find(row);
    Give(kept->second.data());
    if (left_[row] == 0) again_.erase(kept);
  }
  for (size_t i = 0; i < count; ++i) {
    if (left_[first + i] == 0) continue;
    again_.emplace(static_cast<uint32_t>(first + i),
                   std::vector<float>(values + i * width, values + (i + 1) * width));
  }
}

void RowsInOrder::Give(const float* row) {
  const auto width = static_cast<size_t>(window_.size(1));
  std::copy_n(row, width, window_.data_ptr<float>() + filled_ * width);
  ++filled_;
  ++next_;
  const bool last = next_ == distinct_.row_of.size();
  if (!last && filled_ < static_cast<size_t>(window_.size(0))) return;
  sink_(next_ - filled_, window_.narrow(0, 0, static_cast<int64_t>(filled_)));
  filled_ = 0;
}

}  // namespace tandem::search
