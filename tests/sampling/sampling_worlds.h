// Examples, scores and feedback for the tests of samplers.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/json/json_reader.h"
#include "base/random.h"
#include "sampling/catalogue.h"

namespace tandem::sampling {

// `queries` queries with 1 to 3 positives and 2 extra documents each; every third query shares its
// document with others, every fifth its text.
inline Examples SharedExamples(uint32_t queries) {
  const uint32_t documents = queries * 5;
  std::vector<uint64_t> hashes(documents);
  for (uint32_t d = 0; d < documents; ++d) hashes[d] = d % 7 == 0 ? d / 14 : 1000000 + d;
  Examples examples(1, std::move(hashes));
  for (uint32_t q = 0; q < queries; ++q) {
    std::vector<Judged> judged;
    for (uint32_t i = 0; i <= q % 3; ++i) judged.push_back({q * 5 + i, 1});
    if (q % 3 == 0) judged[0].document = q / 6 * 5;
    judged.push_back({q * 5 + 3, 0});
    judged.push_back({q * 5 + 4, 0.5});
    examples.Add(q % 5 == 0 ? q / 10 : 500000 + q, judged);
  }
  return examples;
}

// Query q has `positives` documents of its own, and nothing is shared.
inline Examples PlainExamples(uint32_t queries, uint32_t positives) {
  std::vector<uint64_t> hashes(queries * positives);
  for (uint32_t d = 0; d < hashes.size(); ++d) hashes[d] = d;
  Examples examples(1, std::move(hashes));
  for (uint32_t q = 0; q < queries; ++q) {
    std::vector<Judged> judged;
    for (uint32_t i = 0; i < positives; ++i) judged.push_back({q * positives + i, 1});
    examples.Add(1000000 + q, judged);
  }
  return examples;
}

// A number in [low, high] that follows from the others.
inline float Pseudo(uint64_t a, uint64_t b, float low = -1, float high = 1) {
  RandomStream random({a, "pseudo", b});
  return low + static_cast<float>(random.Uniform()) * (high - low);
}

inline std::vector<float> PseudoScores(const Examples& examples, uint64_t seed,
                                       bool graded_own = false) {
  std::vector<float> scores(Pairs(examples, graded_own).size());
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = Pseudo(seed, i);
  return scores;
}

using Settings = std::vector<std::pair<std::string, config::Value>>;

inline config::Params ParamsOf(const SamplerInfo& info, const Settings& settings) {
  config::Params params(info.params);
  for (const auto& [name, value] : settings) {
    const std::string problem = params.Set(name, value);
    if (!problem.empty()) throw std::invalid_argument(name + " " + problem);
  }
  return params;
}

// A sampler with scores of all pairs that follow from `score_seed`.
inline std::unique_ptr<Sampler> MakeScored(const SamplerInfo& info, const Examples& examples,
                                           SamplerOptions options, uint64_t score_seed = 1) {
  const std::vector<float> cosines = PseudoScores(examples, score_seed, options.graded_own);
  const std::vector<float> consistencies =
      PseudoScores(examples, score_seed + 1000, options.graded_own);
  options.scores = {cosines, consistencies};
  return info.make(examples, options);
}

// What a step would say about a batch: numbers that follow from its queries and documents.
struct MadeUpFeedback {
  MadeUpFeedback(const Batch& given, uint64_t seed) : batch(given) {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const uint64_t place = uint64_t{batch.queries[row]} << 32 | batch.documents[row];
      cosines.push_back(Pseudo(seed + batch.epoch, place));
      losses.push_back(Pseudo(seed + 77 + batch.epoch, place, 0, 4));
    }
  }
  void GiveTo(Sampler& sampler) const {
    sampler.AddFeedback({.batch = &batch, .cosines = cosines, .losses = losses});
  }

  Batch batch;
  std::vector<float> cosines, losses;
};

inline Batch NextWithFeedback(Sampler& sampler, uint64_t seed = 5) {
  Batch batch = sampler.Next();
  MadeUpFeedback(batch, seed).GiveTo(sampler);
  return batch;
}

// Copies as a checkpoint keeps it: its numbers as text.
inline SamplerState Copied(SamplerState state) {
  state.values = ParseJson(state.values.Dump());
  return state;
}

inline std::string Text(const Batch& batch) {
  std::string text =
      fmt::format("{}: {} | {} | {}", batch.epoch, fmt::join(batch.queries, " "),
                  fmt::join(batch.documents, " "), fmt::join(batch.extra_starts, " "));
  if (!batch.weights.empty()) text += fmt::format(" | {}", fmt::join(batch.weights, " "));
  return text;
}

// The batches of epoch `pass`, which is the next one; ends before the first of the epoch after it.
inline std::vector<Batch> TakePass(Sampler& sampler, uint64_t pass, uint64_t feedback_seed = 5) {
  std::vector<Batch> batches;
  while (sampler.Passes() < static_cast<double>(pass + 1) - 1e-9) {
    batches.push_back(NextWithFeedback(sampler, feedback_seed));
  }
  return batches;
}

// Chi-square of counts against `shares` of their sum.
inline double ChiSquare(const std::vector<int>& counts, const std::vector<double>& shares) {
  double total = 0, sum = 0;
  for (const int count : counts) total += count;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = total * shares[i];
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

// Tests against equal shares.
inline double ChiSquare(const std::vector<int>& counts) {
  return ChiSquare(counts,
                   std::vector<double>(counts.size(), 1 / static_cast<double>(counts.size())));
}

}  // namespace tandem::sampling
