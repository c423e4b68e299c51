// Embeddings at length 1, in double: what the views of an embedding space compute with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tandem::eval {

// Rows of one width, as a caller has them.
struct EmbeddingRows {
  std::span<const float> values;  // [n, E], row after row
  size_t width = 0;               // E

  size_t size() const { return width == 0 ? 0 : values.size() / width; }
  std::span<const float> row(size_t index) const { return values.subspan(index * width, width); }
};

// Holds rows, each scaled to length 1, so that dot products are cosines. A row of zeros stays one:
// its cosine with every row is 0.
class UnitRows {
 public:
  // `chosen` names rows of `rows`; row i of the result is rows.row(chosen[i]). Throws NumericError
  // for a value that is not finite, with `what` ("queries") and the row, and std::logic_error where
  // the values are no whole number of rows.
  UnitRows(const EmbeddingRows& rows, std::span<const uint32_t> chosen, std::string_view what);
  // All rows.
  UnitRows(const EmbeddingRows& rows, std::string_view what);

  size_t size() const { return width_ == 0 ? 0 : values_.size() / width_; }
  size_t width() const { return width_; }
  std::span<const double> row(size_t index) const {
    return {values_.data() + index * width_, width_};
  }
  // Appends the rows of `other`, of the same width.
  void Append(const UnitRows& other);
  // [E]. Call it where there are rows.
  std::vector<double> Mean() const;

 private:
  void AddRow(std::span<const float> row, size_t index, std::string_view what);

  size_t width_;
  std::vector<double> values_;  // [n, E]
};

// Sums in a fixed order that lets the compiler use vectors.
double Dot(std::span<const double> a, std::span<const double> b);
double SquaredDistance(std::span<const double> a, std::span<const double> b);

}  // namespace tandem::eval
