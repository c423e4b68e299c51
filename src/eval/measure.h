// Measures of a ranking: the catalogue, and the names that users write.
//
//   const std::vector<Measure> measures = ParseMeasures("ndcg@10,map");   // before anything runs
//   const Evaluation evaluation = EvaluateRun(run, qrels, measures, {});  // eval/evaluate.h
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"
#include "eval/auc.h"
#include "eval/ranking.h"

namespace tandem::eval {

// Whether a measure is written with `@k`: only the first k results count.
enum class CutOff { kNone, kOptional, kRequired };

// No cut-off.
inline constexpr size_t kAllResults = static_cast<size_t>(-1);

// Where a measure's value comes from.
enum class MeasureKind {
  kRanking,         // of_query, then the mean over queries
  kSamplesPooled,   // PooledAuc: one value for all queries
  kSamplesPerQuery  // QueryAuc, then the mean over the queries that have one
};

// One entry of the catalogue: one source file, one line in CMakeLists.txt.
struct MeasureInfo : config::EntryInfo {
  CutOff cut_off = CutOff::kNone;
  MeasureKind kind = MeasureKind::kRanking;
  bool graded = false;  // uses grades as gains; otherwise only the relevance level
  std::string_view
      trec_eval_name;  // there: "ndcg", with a cut-off "ndcg_cut_10"; "" where it has none
  std::string_view trec_eval_cut_name;
  // kRanking: the value for one query, in [0, 1]. 0 where the query has no positive (for ndcg: no
  // grade above 0) or no results.
  double (*of_query)(const JudgedRanking& ranking, size_t cut_off) = nullptr;
};

// Every measure, in the order of docs and `tandem list measures`.
std::span<const MeasureInfo* const> Measures();
// The same for `tandem list` and `tandem explain`.
config::Catalogue MeasureCatalogue();

struct Measure {
  const MeasureInfo* info = nullptr;
  size_t cut_off = kAllResults;  // at least 1

  std::string name() const;  // "ndcg@10", "map"
};

// What is wrong with `name` as a measure ("measure ndgc@10 is unknown; did you mean ndcg@10? ..."),
// or "" where it is one. For recipes, which say where it stands.
std::string MeasureProblem(std::string_view name);

// `name` as a measure. Throws UsageError with MeasureProblem's text.
Measure ParseMeasure(std::string_view name);

// A comma-separated list; blanks around names are ignored. Throws UsageError, also for an empty
// list and for a measure named twice.
std::vector<Measure> ParseMeasures(std::string_view list);

}  // namespace tandem::eval
