// A column of numbers that takes as few bytes as its values need.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tandem::sampling {

// Numbers 0, 1, ... come back as the doubles that they were, in all bits. One distinct value takes
// no memory a number; up to 256 of them take one byte, up to 65,536 two, more eight. Grades are
// rarely more than a few values, and a data set has tens of millions of them.
class ValueColumn {
 public:
  void Add(double value);
  // Makes room for `count` numbers in all, in whatever width they take.
  void Reserve(size_t count);

  size_t size() const { return size_; }
  double operator[](size_t index) const {
    switch (width_) {
      case Width::kNone:
        return distinct_[0];
      case Width::kByte:
        return distinct_[bytes_[index]];
      case Width::kPair:
        return distinct_[pairs_[index]];
      case Width::kWhole:
        break;
    }
    return values_[index];
  }

 private:
  enum class Width { kNone, kByte, kPair, kWhole };
  void Append(uint32_t code);
  uint32_t CodeOf(double value);  // a new one where the value is new
  void Widen();

  Width width_ = Width::kNone;
  size_t size_ = 0;
  size_t reserved_ = 0;
  uint64_t last_bits_ = 0;  // of the value added last, whose code is last_code_
  uint32_t last_code_ = 0;
  std::vector<double> distinct_;
  std::unordered_map<uint64_t, uint32_t> codes_;  // by the value's bits
  // At most one of the three is in use.
  std::vector<uint8_t> bytes_;
  std::vector<uint16_t> pairs_;
  std::vector<double> values_;
};

}  // namespace tandem::sampling
