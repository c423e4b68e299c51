// Chooses thresholds for targets: scores at which to cut results so that nine of ten are right.
//
//   const std::vector<Target> targets = ParseTargets("precision=0.9,results=5");
//   const std::vector<ChosenThreshold> chosen =
//       ChooseThresholds(PoolLevels(samples), corpus, targets, {.seed = 1, .threads = 8});
//
// A threshold shows the documents that score at least it. Over all queries together:
//   precision            positives shown / documents shown; a document without judgement is wrong
//   recall               positives shown / positives, also those without a score
//   false-positive rate  shares of the pool's other documents (eval/samples/auc.h) that are shown,
//   the
//                        horizontal axis of the ROC curve
//   results              documents shown / queries: how many results a query gets on average
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "eval/samples/corpus_levels.h"
#include "eval/samples/score_levels.h"
#include "eval/significance/bootstrap.h"

namespace tandem::eval {

enum class TargetKind {
  // The lowest score of a positive at which the precision is at least the value. (Scores below it,
  // down to the next positive, may have that precision too, but show wrong documents only.)
  kPrecision,
  kRecall,             // the highest threshold whose recall is at least the value
  kFalsePositiveRate,  // the lowest threshold whose rate is at most the value
  kResults             // the lowest threshold that shows at most so many documents per query
};

struct Target {
  TargetKind kind = TargetKind::kPrecision;
  double value = 0;

  std::string name() const;  // "precision=0.9"
};

// "precision=0.9,recall=0.8,fpr=0.01,results=5". Throws UsageError for an unknown name, a value
// outside (0, 1] (results: not above 0), an empty list, and a target that is given twice.
std::vector<Target> ParseTargets(std::string_view list);

// The values at a threshold. Values that need the whole corpus are missing where the samples end
// (eval/samples/corpus_levels.h).
struct ThresholdValues {
  std::optional<double> precision;
  double recall = 0;
  double false_positive_rate = 0;
  std::optional<double> results;  // per query
};

// Percentile intervals over resamples of the queries, at the same threshold.
struct ThresholdIntervals {
  std::optional<Interval> precision;
  std::optional<Interval> recall;
  std::optional<Interval> false_positive_rate;
  std::optional<Interval> results;
};

struct ChosenThreshold {
  Target target;
  bool met = false;
  // A score of the samples; where the target is not met, the one that comes nearest to it (of
  // thresholds whose values are known). It is none where there is no threshold at all.
  std::optional<double> threshold;
  ThresholdValues values;        // at the threshold
  ThresholdIntervals intervals;  // of these values
  // The interval of thresholds chosen anew in every resample, from those that meet the target.
  std::optional<Interval> threshold_interval;
  double met_share = 0;  // share of resamples in which the target can be met
  // Lower thresholds might meet the target as well, but are unknown: the run ends there.
  bool ends_at_depth = false;
};

// A score as it is shown, so that whoever cuts at what they read gets the same documents: the
// number of fewest digits that is at most `score` and above the next lower number of single
// precision, in which models score. So `s >= shown` holds for just the scores s with `s >= score`,
// whether s is a float, its shortest decimal digits (as runs have them), or a double that holds
// one. A score that is no float, such as one of a run of another program, and one that is not
// finite are shown as they are: the fewest digits that read back to it are exact.
double ShownScore(double score);

// Both levels are of the same samples. Recall and false-positive rate are read from `pool`,
// precision and results from `corpus`. Intervals are from Repetitions(options.resamples, ...)
// resamples.
std::vector<ChosenThreshold> ChooseThresholds(const ScoreLevels& pool, const CorpusLevels& corpus,
                                              std::span<const Target> targets,
                                              const BootstrapOptions& options);

// The thresholds of the targets that `pool` alone decides, to be counted in a corpus
// (CandidateThresholds).
std::vector<double> PoolThresholds(const ScoreLevels& pool, std::span<const Target> targets);

}  // namespace tandem::eval
