// Records one epoch: which pairs it could draw, which it drew, which queries it left out.
//
// All numbers are little-endian. A file that ends before the mark belongs to an epoch under way.
//
//   8 bytes         "TDMPASS1"
//   uint64          the epoch, from 0
//   uint64          n, queries
//   uint64          P, pairs of a query and a document of its own, query after query, in the data's
//                   order
//   uint32 [n]      how many pairs each query has
//   float32 [P]     each pair's probability to be drawn in this epoch, as the epoch began
//   then for each batch
//     uint32        Q, its queries
//     uint32 [2 Q]  query, paired document, query, paired document, ...
//   uint32          the mark, 4294967295
//   uint32          L, queries that were not drawn
//   (uint32, float32) [L]  query and score, ascending by query; the score is NaN where there is
//   none
//
// Beside the epochs' files lies, where the sampler began with scores, first-scores.bin:
//
//   8 bytes         "TDMSCOR1"
//   uint64          P
//   float32 [P]     each pair's score by which the sampler began
//
// Queries are numbered in the order of the run's training queries, documents as in the corpus, both
// from 0.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sampling/audit/audit.h"

namespace tandem::sampling {

// The parts of a file, to be written one after the other.
std::string PassHead(uint64_t pass, const Pairs& pairs, std::span<const float> probabilities);
std::string PassBatch(std::span<const Draw> draws);
std::string PassEnd(std::span<const LeftOut> left_out);

inline constexpr std::string_view kFirstScoresName = "first-scores.bin";
// The file's bytes, and the scores of such a file. Reading throws DataError for one that is no such
// file or has another length.
std::string FirstScoresBytes(std::span<const float> scores);
std::vector<float> ReadFirstScores(const std::filesystem::path& path);

// A file as it was read.
struct PassRecord {
  uint64_t pass = 0;
  std::vector<uint32_t> pair_counts;                                // [n]
  std::vector<float> probabilities;                                 // [P]
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> batches;  // query, paired document
  bool complete = false;
  std::vector<LeftOut> left_out;
};

// Reads a file, of an epoch that is over or under way. Throws DataError for one that is no such
// file or ends inside a number of its first part.
PassRecord ReadPassRecord(const std::filesystem::path& path);

}  // namespace tandem::sampling
