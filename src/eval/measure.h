// Measures of a ranking: the catalogue, and the names that users write.
//
//   const std::vector<Measure> measures = ParseMeasures("ndcg@10,AP(rel=2)");  // checks the names
//   const Evaluation evaluation = EvaluateRun(run, qrels, measures, {});  // eval/evaluate.h
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/catalogue.h"
#include "config/params.h"
#include "eval/ranking.h"
#include "eval/samples/auc.h"

namespace tandem::eval {

// Says what may follow a measure's `@`.
enum class CutOff {
  kNone,
  kOptional,  // k: only the first k results count
  kRequired,  // k
  kScore      // a score, required: only results of at least this score count
};

// No cut-off.
inline constexpr size_t kAllResults = static_cast<size_t>(-1);

// Says where a measure's value comes from.
enum class MeasureKind {
  kRanking,         // of_query, then the mean over queries
  kSamplesPooled,   // of_samples of all queries: one value
  kSamplesPerQuery  // of_samples of each query, then the mean over the queries that have one
};

// How a measure uses grades.
enum class GradeUse {
  kLevel,     // whether a document is a positive: has the relevance level or more
  kGains,     // gains: every grade above 0 counts, whatever the relevance level
  kJudgement  // whether a document was judged, with any grade from 0 on
};

struct Measure;

struct MeasureTraits {
  CutOff cut_off = CutOff::kNone;
  MeasureKind kind = MeasureKind::kRanking;
  GradeUse grades = GradeUse::kLevel;
  // The name in other programs, "" if they do not have the measure: trec_eval without a cut-off
  // ("recip_rank") and before one ("ndcg_cut", of ndcg_cut_10), ir_measures if its name differs
  // from ours in more than capitals ("AP").
  std::string_view trec_eval_name;
  std::string_view trec_eval_cut_name;
  std::string_view ir_measures_name;
};

// One entry of the catalogue: one source file, one line in CMakeLists.txt. Its parameters are
// written as in `rbp(p=0.9)`.
struct MeasureInfo : config::EntryInfo, MeasureTraits {
  // kRanking: the value for one query, in [0, 1]. 0 where the query has no document that counts or
  // no results.
  double (*of_query)(const JudgedRanking& ranking, const Measure& measure) = nullptr;
  // For the other kinds: the value for samples of all queries, or of one. It is none where there is
  // no pair of a positive and another document.
  std::optional<double> (*of_samples)(std::span<const QuerySamples> samples) = nullptr;
};

// Every measure, in the order of docs and `tandem list measures`.
std::span<const MeasureInfo* const> Measures();
// The catalogue of measures for `tandem list` and `tandem explain`.
config::Catalogue MeasureCatalogue();
// Finds the entry that `name` means: our name or that of ir_measures, in small or capital letters;
// what is in parentheses or after `@` does not matter. It is null where there is none.
const MeasureInfo* FindMeasure(std::string_view name);

// Says how the measure is written, with what may follow it: "ndcg, ndcg@k", "f1@SCORE".
std::string Spellings(const MeasureInfo& info);

struct Measure {
  const MeasureInfo* info = nullptr;
  size_t cut_off = kAllResults;           // at least 1
  double score = 0;                       // of CutOff::kScore
  std::optional<double> relevance_level;  // `rel`, above 0; of GradeUse::kLevel only
  config::Params params;                  // of info->params

  // Our spelling, with what is not the default: "ndcg@10", "map(rel=2)", "rbp(p=0.9,rel=2)@20". It
  // reads back to the same measure.
  std::string name() const;
  // Says whether a judgement of this grade can raise the measure; `level` is the relevance level
  // where the measure has none of its own.
  bool Counts(double grade, double level) const;
};

// Says what is wrong with `name` as a measure ("measure ndgc@10 is unknown; did you mean ndcg@10?
// ..."); "" where it is one. Recipes, which call it, say where the name stands.
std::string MeasureProblem(std::string_view name);

// `name` as a measure. Names of ir_measures are read too (docs/evaluation.md, "Names"). Throws
// UsageError with MeasureProblem's text.
Measure ParseMeasure(std::string_view name);

// A list, separated by commas outside of parentheses; blanks around names are ignored. Throws
// UsageError, also for an empty list and for a measure named twice.
std::vector<Measure> ParseMeasures(std::string_view list);

}  // namespace tandem::eval
