// The last scores of one kind, kept to be compared against in later batches.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

namespace tandem::train {

// First in, first out. Scores are rounded to float32, so that what a checkpoint saves is what the
// next step compares against.
class ScoreBank {
 public:
  // At most `capacity` scores (0: none is ever kept), none that is older than `max_age` steps (0:
  // any age).
  ScoreBank(int64_t capacity, int64_t max_age) : capacity_(capacity), max_age_(max_age) {}

  // Drops what is too old for `step`.
  void DropOld(int64_t step);
  // Keeps scores of `step`, the latest so far: `total` calls of `next` give them. Of more than the
  // capacity, as many as that, evenly spread over all: a batch's last rows would be a few queries.
  void Add(int64_t step, size_t total, const std::function<double()>& next);

  // Oldest first.
  std::span<float> scores() { return scores_; }
  std::span<const float> scores() const { return scores_; }

  // How many scores each step has, to be saved beside them.
  nlohmann::json State() const;
  // Takes a state; scores() then has its size, to be overwritten. Throws nlohmann::json::exception.
  void Restore(const nlohmann::json& state);

 private:
  struct Block {
    int64_t step = 0;
    size_t count = 0;
  };
  void DropFirst(size_t count);

  int64_t capacity_;
  int64_t max_age_;
  std::vector<float> scores_;
  std::deque<Block> blocks_;  // of scores_, in order
};

}  // namespace tandem::train
