// The scores of earlier batches with which the objective compares later batches. A bank has scores
// of one kind, positives or negatives.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "train/run/state_visitor.h"

namespace tandem::train {

// A queue: first in, first out. The bank rounds scores to float32, so that a resumed run, which
// reads them from a checkpoint, computes with the same numbers.
class ScoreBank {
 public:
  // The bank holds at most `capacity` scores (0: none), and drops scores that are older than
  // `max_age` steps (0: never).
  ScoreBank(int64_t capacity, int64_t max_age) : capacity_(capacity), max_age_(max_age) {}

  // Drops the scores that are too old for `step`.
  void DropOld(int64_t step);
  // Adds the scores of `step`, which must not be earlier than the steps before. `next` returns the
  // scores in turn; there are `total` of them. If these are more than the capacity, the bank takes
  // as many as fit, spread evenly over all: the last ones alone would be those of a few queries.
  void Add(int64_t step, size_t total, const std::function<double()>& next);

  // Scores, oldest first.
  std::span<float> scores() { return scores_; }
  std::span<const float> scores() const { return scores_; }

  // Visits the member `name`: the number of scores of each step, [[step, count], ...]. A checkpoint
  // has the scores themselves elsewhere. After reading, scores() has the right size, and the caller
  // must overwrite its numbers.
  void VisitState(StateVisitor visit, const char* name);

 private:
  struct Block {
    int64_t step = 0;
    size_t count = 0;
  };
  void DropFirst(size_t count);

  int64_t capacity_;
  int64_t max_age_;
  std::vector<float> scores_;
  std::deque<Block> blocks_;  // of scores_, in the same order
};

}  // namespace tandem::train
