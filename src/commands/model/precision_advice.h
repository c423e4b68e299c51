// Says before much is encoded in fp32, the default, how long it takes and what other precisions
// would take and change.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "search/encode.h"
#include "search/encoding/precision_times.h"

namespace tandem::app {

// Work that takes less is done before a person has read the sentence and acted.
inline constexpr double kAdvisedSeconds = 20;

// What docs/performance.md (section "What precisions change") has seen on five sets: the most by
// which nDCG@10 differs from that of fp32. A test compares them with its table.
inline constexpr double kBf16NdcgWithin = 0.002;
inline constexpr double kInt8NdcgWithin = 0.002;

// "encoding 5183 documents in fp32 takes about 4 min; --precision bf16 about 45 s (all-MiniLM-L6-v2
// on five sets: nDCG@10 within 0.002 ...". `times` begins with that of fp32. Empty where no other
// precision saves a fifth.
std::string PrecisionSentence(std::span<const search::PrecisionTime> times, size_t texts,
                              model::TextKind kind);

// To be told of texts that are encoded (search::EncodeOptions::before): notes the sentence where
// they take kAdvisedSeconds or more, once in a process.
std::function<void(const search::EncodingAhead&)> PrecisionAdvice();

}  // namespace tandem::app
