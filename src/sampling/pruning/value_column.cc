#include "sampling/pruning/value_column.h"

#include <bit>

namespace tandem::sampling {
namespace {

constexpr size_t kByteValues = size_t{1} << 8;
constexpr size_t kPairValues = size_t{1} << 16;

}  // namespace

void ValueColumn::Add(double value) {
  if (width_ == Width::kWhole) {
    values_.push_back(value);
  } else {
    const uint32_t code = CodeOf(value);
    const size_t most = width_ == Width::kNone   ? 1
                        : width_ == Width::kByte ? kByteValues
                                                 : kPairValues;
    if (code >= most) Widen();
    if (width_ == Width::kWhole) {
      values_.push_back(value);
    } else {
      Append(code);
    }
  }
  ++size_;
}

void ValueColumn::Reserve(size_t count) {
  reserved_ = count;
  if (width_ == Width::kByte) bytes_.reserve(count);
  if (width_ == Width::kPair) pairs_.reserve(count);
  if (width_ == Width::kWhole) values_.reserve(count);
}

void ValueColumn::Append(uint32_t code) {
  if (width_ == Width::kByte) bytes_.push_back(static_cast<uint8_t>(code));
  if (width_ == Width::kPair) pairs_.push_back(static_cast<uint16_t>(code));
}

uint32_t ValueColumn::CodeOf(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  if (!distinct_.empty() && bits == last_bits_) return last_code_;
  const auto [found, is_new] = codes_.emplace(bits, static_cast<uint32_t>(distinct_.size()));
  if (is_new) distinct_.push_back(value);
  last_bits_ = bits;
  last_code_ = found->second;
  return last_code_;
}

void ValueColumn::Widen() {
  if (width_ == Width::kNone) {
    width_ = Width::kByte;
    bytes_.reserve(reserved_);
    bytes_.assign(size_, 0);
  } else if (width_ == Width::kByte) {
    width_ = Width::kPair;
    pairs_.reserve(reserved_);
    pairs_.assign(bytes_.begin(), bytes_.end());
    bytes_ = {};
  } else {
    width_ = Width::kWhole;
    values_.reserve(reserved_);
    for (const uint16_t code : pairs_) values_.push_back(distinct_[code]);
    pairs_ = {};
    codes_ = {};
  }
}

}  // namespace tandem::sampling
