// The spread of small counts ("negatives of a line") without keeping them all.
#pragma once

#include <cstdint>
#include <map>

namespace tandem::data {

class CountSpread {
 public:
  void Add(uint64_t count, uint64_t times = 1) {
    times_[count] += times;
    total_ += times;
  }

  // All are 0 where nothing was added.
  uint64_t lowest() const { return times_.empty() ? 0 : times_.begin()->first; }
  uint64_t highest() const { return times_.empty() ? 0 : times_.rbegin()->first; }
  // The lower median: of an even number of counts, the smaller of the two in the middle.
  uint64_t median() const {
    uint64_t before = 0;
    for (const auto& [count, times] : times_) {
      before += times;
      if (2 * before >= total_) return count;
    }
    return 0;
  }

 private:
  std::map<uint64_t, uint64_t> times_;  // of each count; k different ones need k * k / 2 things
  uint64_t total_ = 0;
};

}  // namespace tandem::data
