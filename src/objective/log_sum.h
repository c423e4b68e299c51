// log of a sum of exponentials, one term at a time, without overflow.
#pragma once

#include <cmath>
#include <limits>

namespace tandem::objective {

class LogSum {
 public:
  void Add(double exponent) {
    if (exponent <= max_) {
      sum_ += std::exp(exponent - max_);
    } else {
      sum_ = sum_ * std::exp(max_ - exponent) + 1;
      max_ = exponent;
    }
  }
  bool empty() const { return sum_ == 0; }
  double max() const { return max_; }
  double sum() const { return sum_; }  // of e^{exponent - max}
  double log() const { return max_ + std::log(sum_); }

 private:
  double max_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
};

}  // namespace tandem::objective
