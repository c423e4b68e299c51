// Which queries are held out for the splits dev and test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/process/interrupt.h"
#include "data/texts/texts.h"

namespace tandem::import_data {

enum class Split : uint8_t { kTrain, kDev, kTest };
std::string_view SplitName(Split split);  // "train", "dev", "test"

struct HoldoutOptions {
  double share = 0;  // of the queries with a positive, in (0, 1); half of it is test, half dev
  uint64_t seed = 1;
  // Queries with a positive in common stay together. Without it only near-copies and groups do: the
  // documents of a test query may then be positives of queries in train.
  bool by_documents = true;
  StopRequest stop;  // asked now and then; HoldOut throws Interrupted
};

// What is known of the queries. Numbers of queries and documents are from 0.
struct HoldoutInput {
  const data::Texts& queries;
  std::span<const std::pair<uint32_t, uint32_t>> positives;  // query, document
  std::span<const std::pair<uint32_t, uint64_t>> groups;     // query, its group
};

struct Holdout {
  std::vector<Split> of_query;  // [queries]
  size_t test = 0;              // queries with a positive in each
  size_t dev = 0;
  size_t train = 0;
  size_t families = 0;            // sets of queries that stay together
  size_t largest_family = 0;      // queries with a positive in it
  size_t joined_near_copies = 0;  // queries that were joined to another as its near-copy
};

// Queries that are near-copies (import/splits/near_copies.h), that have a group in common, or a
// positive, are one family, and a family lies in one split as a whole. Each has a random number of
// the stream (seed, "holdout", the smallest hash of its queries' texts), so that neither the order
// of the rows nor other rows decide where it goes. In the order of these numbers a family is test
// if it still fits into test, else dev if it fits there, else train. Families without a positive
// are train.
//
// Throws UsageError where families are so large that less than half of what is asked for can be
// held out, naming the largest and what would make it smaller, and where there are fewer than four
// queries with a positive.
Holdout HoldOut(const HoldoutInput& input, const HoldoutOptions& options);

// The share that a user writes: "15%", "0.15". 0 holds nothing out. Throws UsageError naming `flag`
// for anything else, and for more than half.
double ParseShare(std::string_view text, std::string_view flag, double most = 0.5);

}  // namespace tandem::import_data
