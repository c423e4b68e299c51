#include "eval/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <unordered_map>

#include "base/error.h"
#include "base/process/threads.h"

namespace tandem::eval {
namespace {

// One query to evaluate; `results` is null where the run lacks it.
struct Pair {
  const data::QueryJudgements* judgements = nullptr;
  const data::QueryResults* results = nullptr;
};

// Queries that a thread takes at a time: enough work to outweigh the cost of handing it out.
constexpr size_t kPairsAtOnce = 16;

[[noreturn]] void ThrowNothingInCommon(const data::Run& run, const data::Qrels& qrels) {
  const auto some = [](const auto& queries) {
    return queries.empty() ? std::string() : fmt::format(" ({}, ...)", queries.front().query);
  };
  throw DataError("run", 0, "",
                  fmt::format("none of its {} queries{} is among the {} judged ones{}: do run and "
                              "qrels belong together?",
                              run.queries().size(), some(run.queries()), qrels.queries().size(),
                              some(qrels.queries())));
}

std::vector<Pair> PairsOf(const data::Run& run, const data::Qrels& qrels, bool complete,
                          Evaluation& evaluation) {
  std::vector<Pair> pairs;
  size_t in_both = 0;
  for (const data::QueryJudgements& judgements : qrels.queries()) {
    const data::QueryResults* results = run.Find(judgements.query);
    in_both += results != nullptr;
    evaluation.missing_queries += results == nullptr;
    if (results != nullptr || complete) pairs.push_back({&judgements, results});
  }
  evaluation.unjudged_queries = static_cast<size_t>(
      std::count_if(run.queries().begin(), run.queries().end(),
                    [&](const auto& query) { return qrels.Find(query.query) == nullptr; }));
  if (in_both == 0) {
    ThrowNothingInCommon(run, qrels);
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Pair& a, const Pair& b) { return a.judgements->query < b.judgements->query; });
  return pairs;
}

bool HasGrade(const Pair& pair, double level) {
  return std::any_of(
      pair.judgements->judgements.begin(), pair.judgements->judgements.end(),
      [level](const data::GradedDocument& judgement) { return judgement.grade >= level; });
}

// Refuses judgements of which none counts for a measure, which would be 0 for every run. Their
// grades have another scale, or the relevance level is above all of them.
void CheckPositives(std::span<const Pair> pairs, std::span<const Measure> measures, double level,
                    Evaluation& evaluation) {
  evaluation.queries_without_positive = static_cast<size_t>(std::count_if(
      pairs.begin(), pairs.end(), [level](const Pair& pair) { return !HasGrade(pair, level); }));
  for (const Measure& measure : measures) {
    const bool any = std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
      const auto& judgements = pair.judgements->judgements;
      return std::any_of(judgements.begin(), judgements.end(), [&](const auto& judgement) {
        return measure.Counts(judgement.grade, level);
      });
    });
    if (any) continue;
    throw DataError(
        "judgements", 0, "",
        fmt::format("none of the {} evaluated queries has a document of grade {} or "
                    "more, so that {} would be 0 whatever is found; lower the "
                    "relevance level, or give judgements with positives",
                    pairs.size(), measure.relevance_level.value_or(level), measure.name()));
  }
}

// The samples of `given`, in the order of `pairs`; a query without samples has empty ones.
std::vector<QuerySamples> GivenSamples(std::span<const Pair> pairs,
                                       std::span<const QuerySamples> given) {
  std::unordered_map<std::string_view, const QuerySamples*> by_query;
  for (const QuerySamples& samples : given) by_query.emplace(samples.query, &samples);
  std::vector<QuerySamples> ordered(pairs.size());
  for (size_t i = 0; i < pairs.size(); ++i) {
    const auto found = by_query.find(pairs[i].judgements->query);
    if (found != by_query.end()) ordered[i] = *found->second;
  }
  return ordered;
}

// Fills the values of one query for every measure that is a function of its ranking, and its
// samples where they are wanted.
void EvaluateQuery(const Pair& pair, size_t index, const RankingOptions& options,
                   std::span<MeasureValues> measures, QuerySamples* samples) {
  const std::span<const data::ScoredDocument> results =
      pair.results != nullptr ? std::span<const data::ScoredDocument>(pair.results->results)
                              : std::span<const data::ScoredDocument>();
  JudgedRanking ranking = RankAndJudge(results, pair.judgements->judgements, options);
  if (samples != nullptr) *samples = SamplesOf(pair.judgements->query, ranking);
  for (MeasureValues& values : measures) {
    const Measure& measure = values.measure;
    if (measure.info->kind != MeasureKind::kRanking) continue;
    const double level = measure.relevance_level.value_or(options.relevance_level);
    if (level != ranking.relevance_level) ranking.SetRelevanceLevel(level);
    values.per_query[index] = measure.info->of_query(ranking, measure);
  }
}

void EvaluateSamples(std::span<const QuerySamples> samples, std::span<const Pair> pairs,
                     Evaluation& evaluation) {
  for (MeasureValues& values : evaluation.measures) {
    if (values.measure.info->kind == MeasureKind::kSamplesPooled) {
      values.mean = values.measure.info->of_samples(samples);
    } else if (values.measure.info->kind == MeasureKind::kSamplesPerQuery) {
      for (size_t i = 0; i < samples.size(); ++i) {
        values.per_query[i] = values.measure.info->of_samples(samples.subspan(i, 1));
        // A query that counts although nothing was retrieved found nothing: 0, as in every measure.
        if (!values.per_query[i] && pairs[i].results == nullptr) values.per_query[i] = 0;
      }
    }
  }
  evaluation.samples = CountSamples(samples);
}

}  // namespace

std::optional<double> MeanOf(std::span<const std::optional<double>> values) {
  double sum = 0;
  size_t count = 0;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    sum += *value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

bool NeedsSamples(std::span<const Measure> measures) {
  return std::any_of(measures.begin(), measures.end(), [](const Measure& measure) {
    return measure.info->kind != MeasureKind::kRanking;
  });
}

Evaluation EvaluateRun(const data::Run& run, const data::Qrels& qrels,
                       std::span<const Measure> measures, const EvaluationOptions& options) {
  if (!(options.ranking.relevance_level > 0)) {
    throw UsageError(fmt::format("the relevance level is {}; expected a number above 0",
                                 options.ranking.relevance_level));
  }
  Evaluation evaluation;
  const std::vector<Pair> pairs = PairsOf(run, qrels, options.complete, evaluation);
  for (const Pair& pair : pairs) evaluation.queries.emplace_back(pair.judgements->query);
  for (const Measure& measure : measures) {
    const bool pooled = measure.info->kind == MeasureKind::kSamplesPooled;
    evaluation.measures.push_back({measure, std::nullopt, {}});
    evaluation.measures.back().per_query.resize(pooled ? 0 : pairs.size());
  }
  CheckPositives(pairs, measures, options.ranking.relevance_level, evaluation);
  const bool wants_samples = options.count_samples || NeedsSamples(measures);
  const bool takes_samples = wants_samples && options.samples.empty();
  std::vector<QuerySamples> samples;
  if (wants_samples) {
    samples = takes_samples ? std::vector<QuerySamples>(pairs.size())
                            : GivenSamples(pairs, options.samples);
  }
  ParallelFor(pairs.size(), kPairsAtOnce, options.threads, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      EvaluateQuery(pairs[i], i, options.ranking, evaluation.measures,
                    takes_samples ? &samples[i] : nullptr);
    }
  });
  if (wants_samples) EvaluateSamples(samples, pairs, evaluation);
  for (MeasureValues& values : evaluation.measures) {
    if (values.measure.info->kind != MeasureKind::kSamplesPooled) {
      values.mean = MeanOf(values.per_query);
    }
  }
  return evaluation;
}

namespace {

// Says how to get the samples that a run of few results a query lacks; "" where it lacks none, and
// where the samples do not come from the run.
std::string AdviceOnDepth(const SampleCounts& samples, const EvaluationOptions& options) {
  const bool short_of_any = samples.queries_short_of_negatives + samples.missing_positives > 0;
  if (!short_of_any || !options.samples.empty()) return "";
  const size_t most = options.ranking.max_results;
  const bool cut = most > 0 && most <= kNegativesPerQuery;
  return fmt::format(
      "auc compares positives with the {} best other documents of each query; where the corpus has "
      "as many, give {}",
      kNegativesPerQuery,
      cut ? "a larger --max-results" : "a deeper run, as `tandem search --top-k 1000` makes it");
}

}  // namespace

std::vector<Remark> RemarksOn(const Evaluation& evaluation, const EvaluationOptions& options) {
  std::vector<Remark> remarks;
  const auto remark = [&](size_t count, std::string_view text, bool is_warning = true) {
    if (count > 0) remarks.push_back({fmt::format("{}: {}", text, count), is_warning});
  };
  remark(evaluation.unjudged_queries, "queries of the run without judgements, ignored",
         /*is_warning=*/false);
  remark(evaluation.missing_queries, options.complete
                                         ? "judged queries without results, counted as 0"
                                         : "judged queries without results, left out of the means");
  remark(evaluation.queries_without_positive, "judged queries without a positive, counted as 0");
  if (evaluation.samples) {
    remark(evaluation.samples->missing_positives,
           "auc: positives without a score, counted below every score");
    // Samples that were given have all that the corpus has: nothing can be done about it.
    const bool from_run = options.samples.empty();
    if (from_run || options.samples_asked_for) {
      remark(evaluation.samples->queries_short_of_negatives,
             fmt::format("auc: queries with fewer than {} other documents to compare with{}",
                         kNegativesPerQuery, from_run ? "" : ", since the corpus has no more"),
             /*is_warning=*/from_run);
    }
    remark(evaluation.samples->queries_without_auc,
           "auc: queries without a positive or without a negative, without a value of their own");
    if (std::string advice = AdviceOnDepth(*evaluation.samples, options); !advice.empty()) {
      remarks.push_back({std::move(advice), /*is_warning=*/false});
    }
  }
  return remarks;
}

}  // namespace tandem::eval
