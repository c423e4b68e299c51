// How often queries were expected to be drawn in each epoch, by the score that they had before
// training: what a sampler that prunes prefers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

namespace tandem::sampling {
struct PassRecord;  // sampling/audit/audit_file.h
}

namespace tandem::report {

// Queries whose scores lie beside each other, about as many in each bin.
struct ScoreBin {
  double low = 0;  // the lowest and highest score of its queries
  double high = 0;
  size_t queries = 0;
};

struct DrawsByScore {
  std::vector<ScoreBin> bins;  // at most ten, the lowest scores first
  std::vector<int64_t> passes;
  // [passes][bins]: the mean over the bin's queries of the sum of their pairs' probabilities, as
  // the epoch began. 1: such a query was sure to come once.
  std::vector<std::vector<double>> expected;
};

// Collects it from the records of epochs. A query's score is the mean of its pairs' first scores;
// equal scores are in one bin with the lower ones.
class DrawsByScoreReader {
 public:
  // `scores` [pairs].
  explicit DrawsByScoreReader(std::vector<float> scores) : scores_(std::move(scores)) {}

  void Add(const sampling::PassRecord& record);
  // None where no record had as many pairs as there are scores.
  std::optional<DrawsByScore> Take();

 private:
  void MakeBins(std::span<const uint32_t> pair_counts);

  std::vector<float> scores_;
  std::vector<uint8_t> bin_of_;  // of each query
  DrawsByScore draws_;
};

}  // namespace tandem::report
