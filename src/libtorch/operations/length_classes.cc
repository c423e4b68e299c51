#include "libtorch/operations/length_classes.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <bit>

#include "libtorch/bridge.h"
#include "tensor/attention_rule.h"

namespace tandem::libtorch {
namespace {

// The length of the class of texts with so many tokens: a multiple of 8, or of a quarter of the
// power of two below it.
int64_t ClassLength(int64_t tokens) {
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(tokens)));
  const int64_t step = std::max<int64_t>(8, below / 4);
  return (tokens + step - 1) / step * step;
}

at::Tensor Longs(const std::vector<int64_t>& values) {
  at::Tensor tensor = at::empty({static_cast<int64_t>(values.size())}, at::kLong);
  std::copy(values.begin(), values.end(), tensor.data_ptr<int64_t>());
  return tensor;
}

}  // namespace

LengthClasses::LengthClasses(const at::Tensor& starts, at::Device device) {
  const auto* begins = starts.data_ptr<int32_t>();
  const int64_t count = starts.size(0) - 1, tokens = begins[count];
  std::map<int64_t, std::vector<int64_t>> texts_of;  // by the length of their class
  for (int64_t text = 0; text < count; ++text) {
    texts_of[ClassLength(begins[text + 1] - begins[text])].push_back(text);
  }
  std::vector<int64_t> rows, places(static_cast<size_t>(tokens)), texts;
  std::vector<int64_t> text_places(static_cast<size_t>(count));
  std::vector<bool> padding;
  for (const auto& [length, members] : texts_of) {
    Class made{.length = length,
               .texts = static_cast<int64_t>(members.size()),
               .first_row = static_cast<int64_t>(rows.size()),
               .first_text = static_cast<int64_t>(texts.size())};
    for (const int64_t text : members) {
      text_places[static_cast<size_t>(text)] = static_cast<int64_t>(texts.size());
      texts.push_back(text);
      const int64_t first = begins[text], own = begins[text + 1] - first;
      made.padded = made.padded || own < length;
      for (int64_t i = 0; i < length; ++i) {
        if (i < own) places[static_cast<size_t>(first + i)] = static_cast<int64_t>(rows.size());
        rows.push_back(i < own ? first + i : first);
        padding.push_back(i >= own);
      }
    }
    classes_.push_back(made);
    longest_ = std::max(longest_, length);
  }
  const at::Tensor marks = at::empty({static_cast<int64_t>(padding.size())}, at::kBool);
  std::copy(padding.begin(), padding.end(), marks.data_ptr<bool>());
  rows_ = TorchMovedTo(Longs(rows), device);
  places_ = TorchMovedTo(Longs(places), device);
  padding_ = TorchMovedTo(marks, device);
  texts_ = TorchMovedTo(Longs(texts), device);
  text_places_ = TorchMovedTo(Longs(text_places), device);
}

at::Tensor LengthClasses::Buckets(int64_t buckets, int64_t max_distance) const {
  const std::lock_guard lock(mutex_);
  at::Tensor& known = buckets_[{buckets, max_distance}];
  if (known.defined()) return known;
  std::vector<int64_t> values;
  for (int64_t d = 1 - longest_; d < longest_; ++d) {
    values.push_back(tensor::RelativeBucket(d, buckets, max_distance));
  }
  return known = TorchMovedTo(Longs(values), rows_.device());
}

}  // namespace tandem::libtorch
