// The keys of dynamic_pruning, and what they come to.
#pragma once

#include <cstdint>
#include <string_view>

#include "config/param.h"
#include "config/params.h"
#include "sampling/pruning/score_choices.h"

namespace tandem::sampling {

inline bool ChoosesQueries(const config::Params& params) {
  return params.String("levels") != "documents";
}
inline bool ChoosesDocuments(const config::Params& params) {
  return params.String("levels") != "queries";
}
inline bool PrunesFirst(const config::Params& params) { return params.Number("keep") < 1; }

inline constexpr config::ChoiceInfo kLevels[] = {
    {"both", "fewer queries, and their better documents more often"},
    {"queries", "fewer queries; documents are uniform"},
    {"documents", "every query once an epoch, its better documents more often"}};

inline constexpr std::string_view kNeedsQueries = "levels = \"both\" or \"queries\"";
inline constexpr std::string_view kNeedsDocuments = "levels = \"both\" or \"documents\"";
inline constexpr config::Range kAlphaRange = {1, 1000};

inline constexpr config::ParamInfo kDynamicParams[] = {
    config::Choice("levels", "what scores choose", "both", kLevels),
    config::Number("alpha_start", "", "how much the best queries are preferred when the run begins",
                   2, kAlphaRange)
        .Needs(kNeedsQueries, ChoosesQueries),
    config::Number("alpha_end", "", "the same at the run's end", 5, kAlphaRange)
        .Needs(kNeedsQueries, ChoosesQueries),
    config::Number("base_share", "share of the queries",
                   "the best that the first epoch has for sure", 0.25, {0, 1})
        .Needs(kNeedsQueries, ChoosesQueries),
    config::Number("beta", "", "what a document of the best pairs weighs when one is drawn", 5,
                   {1e-3, 1000})
        .Needs(kNeedsDocuments, ChoosesDocuments),
    config::Number("top_start", "share of the pairs", "the best pairs when the run begins", 0.25,
                   {0, 1})
        .Needs(kNeedsDocuments, ChoosesDocuments),
    config::Number("top_end", "share of the pairs", "the same at the run's end", 0.5, {0, 1})
        .Needs(kNeedsDocuments, ChoosesDocuments),
    config::Integer("update_interval", "steps", "queries are ranked anew every so many", 1,
                    {1, 1e9})
        .Needs(kNeedsQueries, ChoosesQueries),
    KeepParam("static pruning before the run keeps so many", 1),
    ScoreParam().Needs("keep below 1", PrunesFirst)};

struct DynamicSettings {
  explicit DynamicSettings(const config::Params& params)
      : queries(ChoosesQueries(params)),
        documents(ChoosesDocuments(params)),
        alpha_start(params.Number("alpha_start")),
        alpha_end(params.Number("alpha_end")),
        base_share(params.Number("base_share")),
        beta(params.Number("beta")),
        top_start(params.Number("top_start")),
        top_end(params.Number("top_end")),
        update_interval(params.Integer("update_interval")) {}

  bool queries, documents;
  double alpha_start, alpha_end, base_share, beta, top_start, top_end;
  int64_t update_interval;
};

}  // namespace tandem::sampling
