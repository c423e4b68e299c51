// The keys `keep` and `score`, which several samplers have.
#pragma once

#include <string_view>

#include "config/param.h"
#include "config/params.h"
#include "sampling/order.h"

namespace tandem::sampling {

inline constexpr config::ChoiceInfo kScoreChoices[] = {
    {"cosine", "the cosine of query and document"},
    {"consistency",
     "the reciprocal rank of the document among 10,000 random ones of other queries; ties by the "
     "cosine"}};

constexpr config::ParamInfo KeepParam(std::string_view doc, double default_value) {
  return config::Number("keep", "share of the pairs", doc, default_value, {0, 1});
}

constexpr config::ParamInfo ScoreParam() {
  return config::Choice("score", "the base model's score by which pairs are kept", "cosine",
                        kScoreChoices);
}

inline bool PrunesByConsistency(const config::Params& params) {
  return params.String("score") == "consistency";
}

}  // namespace tandem::sampling
