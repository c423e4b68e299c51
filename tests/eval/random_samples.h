// Samples of scores that tests make up.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "eval/samples/auc.h"

namespace tandem::eval {

// Up to 12 queries with up to 4 positives, some without a score, and 3 to 14 others. Scores are
// tenths, so that many tie.
inline std::vector<QuerySamples> RandomSamples(uint64_t seed) {
  RandomStream random({.seed = seed, .purpose = "samples"});
  std::vector<QuerySamples> samples(2 + random.Below(11));
  for (QuerySamples& query : samples) {
    const size_t positives = 1 + random.Below(4), others = 3 + random.Below(12);
    for (size_t i = 0; i < positives; ++i) {
      query.positives.push_back(static_cast<double>(3 + random.Below(18)) / 10);
    }
    for (size_t i = 0; i < others; ++i) {
      query.negatives.push_back(static_cast<double>(random.Below(18)) / 10);
    }
    query.missing_positives = random.Below(5) / 4;
  }
  return samples;
}

// A normal number (Box and Muller 1958).
inline double Normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.Uniform()));
  return radius * std::cos(2 * M_PI * random.Uniform());
}

struct NormalShape {
  size_t queries = 0;
  size_t others = 0;  // of a query, beside one positive
  double shift = 0;   // mean of positives; others have 0
  double spread = 0;  // deviation of what is added to all scores of a query
};
inline std::vector<QuerySamples> NormalSamples(uint64_t seed, const NormalShape& shape) {
  RandomStream random({.seed = seed, .purpose = "normal samples"});
  std::vector<QuerySamples> samples(shape.queries);
  for (QuerySamples& query : samples) {
    const double all = shape.spread * Normal(random);
    query.positives.push_back(shape.shift + all + Normal(random));
    for (size_t i = 0; i < shape.others; ++i) query.negatives.push_back(all + Normal(random));
  }
  return samples;
}

}  // namespace tandem::eval
