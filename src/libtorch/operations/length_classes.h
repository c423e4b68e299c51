// Packed texts grouped by length, for tensor operations that work on many texts at once.
//
// The texts of a class are laid out with one length, which its longest needs: a text of up to 8
// tokens has 8 rows, a longer one at most 7 or a quarter more rows than tokens, whichever is more.
// So a few large operations do what a loop over texts would do, and little work is done on padding.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tandem::libtorch {

// The padded rows of all classes stand one after the other, P in all; so do their texts. Rows of
// padding repeat their text's first row. Everything but the sizes is on one device.
class LengthClasses {
 public:
  struct Class {
    int64_t length = 0;  // rows of each text
    int64_t texts = 0;
    int64_t first_row = 0;   // among the padded rows
    int64_t first_text = 0;  // among the texts in the order of classes
    bool padded = false;     // whether any text has fewer tokens than `length`
  };

  // `starts`: int32 [B + 1] on the CPU (PackedTokens::sequence_starts).
  LengthClasses(const at::Tensor& starts, at::Device device);

  const std::vector<Class>& classes() const { return classes_; }
  // The row of the pack that each padded row is, int64 [P], and the place of each row of the pack
  // among the padded rows, int64 [T].
  const at::Tensor& rows() const { return rows_; }
  const at::Tensor& places() const { return places_; }
  // Says whether a padded row is padding, bool [P].
  const at::Tensor& padding() const { return padding_; }
  // The pack's texts in the order of classes, int64 [B], and where each of the pack's texts stands
  // in that order, int64 [B].
  const at::Tensor& texts() const { return texts_; }
  const at::Tensor& text_places() const { return text_places_; }
  int64_t longest() const { return longest_; }  // `length` of the longest class

  // tensor::RelativeBucket of the distances -(longest - 1) .. longest - 1, int64 [2 longest - 1].
  // Made once; several threads may ask.
  at::Tensor Buckets(int64_t buckets, int64_t max_distance) const;

 private:
  std::vector<Class> classes_;
  at::Tensor rows_, places_, padding_, texts_, text_places_;
  int64_t longest_ = 0;
  mutable std::mutex mutex_;
  mutable std::map<std::pair<int64_t, int64_t>, at::Tensor> buckets_;
};

}  // namespace tandem::libtorch
