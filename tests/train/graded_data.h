// A training set of random texts in the tiny model's words, with graded documents and a teacher's
// scores.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "data/training_set.h"
#include "support/tiny_model.h"

namespace tandem::train {

inline constexpr uint32_t kQueries = 12;

// Words of the tiny model in random order; each query has a positive and documents of grades 0.6,
// 0.3 and 0, all with a teacher's score.
inline data::TrainingSet Graded() {
  RandomStream stream({7, "gradient cache test"});
  const std::vector<std::string> words = TinyWords();
  const auto text = [&](uint64_t longest) {
    std::string line;
    for (uint64_t n = 1 + stream.Below(longest); n > 0; --n) {
      line += words[stream.Below(words.size())] + " ";
    }
    return line;
  };
  data::Dataset dataset;
  for (uint32_t q = 0; q < kQueries; ++q) {
    dataset.queries.Add(fmt::format("q{}", q), text(8));
    data::JudgedQuery judged{.query = q, .judgements = {}};
    for (const double grade : {1.0, 0.6, 0.3, 0.0}) {
      const auto document = static_cast<uint32_t>(dataset.documents.size());
      dataset.documents.Add(fmt::format("d{}", document), text(30));
      judged.judgements.push_back(
          {.document = document, .grade = grade, .score = 4 * grade + stream.Uniform()});
    }
    dataset.judged.push_back(judged);
  }
  return data::BuildTrainingSet(std::move(dataset), 1);
}

}  // namespace tandem::train
