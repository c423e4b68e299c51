// The ways to make one row for a text.
#pragma once

namespace tandem::tensor {

// What one row for a text is made of. The names are sentence-transformers'.
enum class Pooling {
  kMean,          // mean of its rows
  kCls,           // its first row
  kLastToken,     // its last row
  kMax,           // the largest number of each column
  kMeanSqrtLen,   // sum of its rows over the square root of their number
  kWeightedMean,  // mean of its rows, weighted by position: 1, 2, ...
};

}  // namespace tandem::tensor
