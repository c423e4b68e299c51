#include "commands/report/record_parts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "eval/ranking.h"
#include "eval/samples/roc.h"
#include "report/tables/one_line.h"

namespace tandem::app {
namespace {

constexpr size_t kCurvePoints = 200;
constexpr size_t kScoreBins = 40;

void SetInterval(const std::optional<eval::Interval>& interval, report::MeasureResult* result) {
  if (!interval) return;
  result->low = interval->low;
  result->high = interval->high;
}

std::optional<eval::Interval> MeanInterval(std::span<const std::optional<double>> values,
                                           const eval::BootstrapOptions& options) {
  std::vector<double> present;
  for (const std::optional<double>& value : values) {
    if (value) present.push_back(*value);
  }
  if (present.empty()) return std::nullopt;
  return eval::PercentileInterval(eval::ResampledMeans(present, options), options.confidence);
}

std::optional<eval::Interval> PooledInterval(std::string_view name,
                                             const eval::PoolIntervals& intervals) {
  if (name == "auc") return intervals.auc;
  if (name == "partial_auc") return intervals.partial_auc;
  if (name == "pool_ap") return intervals.average_precision;
  return std::nullopt;
}

report::ThresholdRow RowOf(const eval::ChosenThreshold& chosen) {
  report::ThresholdRow row{.target = chosen.target.name()};
  if (!chosen.met || !chosen.threshold) return row;
  row.score = eval::ShownScore(*chosen.threshold);
  if (chosen.threshold_interval) {
    row.low = chosen.threshold_interval->low;
    row.high = chosen.threshold_interval->high;
  }
  row.precision = chosen.values.precision;
  row.recall = chosen.values.recall;
  row.false_positive_rate = chosen.values.false_positive_rate;
  row.results = chosen.values.results;
  return row;
}

// Makes bins of equal width over [low, high]; the last includes its end.
report::Histogram BinsOf(double low, double high) {
  return {.from = low, .to = high, .counts = std::vector<int64_t>(kScoreBins)};
}

void CountScore(double score, report::Histogram* histogram) {
  const double place = (score - histogram->from) / (histogram->to - histogram->from) *
                       static_cast<double>(histogram->counts.size());
  const auto bin = static_cast<size_t>(std::max(0.0, place));
  ++histogram->counts[std::min(bin, histogram->counts.size() - 1)];
}

report::Histogram HistogramOf(const eval::Histogram& histogram) {
  return {.from = histogram.first,
          .to = histogram.end(),
          .counts = {histogram.counts.begin(), histogram.counts.end()}};
}

std::string TextOf(const data::Texts& texts, std::string_view id, size_t columns) {
  const std::optional<uint32_t> index = texts.Find(id);
  if (!index) return "";
  return report::OneLine(texts.text(*index), columns);
}

report::QueryCase CaseOf(const std::string& query, const std::optional<double>& value,
                         const CaseSources& sources) {
  report::QueryCase shown{.id = query,
                          .text = TextOf(sources.dataset.queries, query, sources.text_columns),
                          .value = value};
  const data::QueryResults* results = sources.run.Find(query);
  const data::QueryJudgements* judged = sources.qrels.Find(query);
  if (results == nullptr || judged == nullptr) return shown;
  const eval::JudgedRanking ranking =
      eval::RankAndJudge(results->results, judged->judgements, sources.ranking);
  for (size_t rank = 0; rank < std::min(sources.results, ranking.results.size()); ++rank) {
    const eval::RankedDocument& document = ranking.results[rank];
    report::QueryResult row{
        .id = std::string(document.document),
        .score = document.score,
        .text = TextOf(sources.dataset.documents, document.document, sources.text_columns)};
    if (document.grade != eval::kNotJudged) row.grade = document.grade;
    shown.results.push_back(std::move(row));
  }
  return shown;
}

}  // namespace

std::vector<report::MeasureResult> MeasureResultsOf(const eval::Evaluation& evaluation,
                                                    const eval::ScoreLevels& pool,
                                                    const eval::BootstrapOptions& options) {
  const eval::PoolIntervals intervals = eval::FigureIntervals(pool, options);
  std::vector<report::MeasureResult> results;
  for (const eval::MeasureValues& values : evaluation.measures) {
    report::MeasureResult result{
        .name = values.measure.name(), .mean = values.mean, .per_query = values.per_query};
    SetInterval(values.per_query.empty() ? PooledInterval(result.name, intervals)
                                         : MeanInterval(values.per_query, options),
                &result);
    results.push_back(std::move(result));
  }
  return results;
}

report::RocFacts RocFactsOf(const eval::ScoreLevels& pool,
                            std::span<const eval::ChosenThreshold> thresholds) {
  const auto sum = [](const std::vector<uint64_t>& counts) {
    return static_cast<int64_t>(std::accumulate(counts.begin(), counts.end(), uint64_t{0}));
  };
  const eval::PoolFigures figures = eval::FiguresOf(pool);
  report::RocFacts facts{.positives = sum(pool.positives),
                         .negatives = sum(pool.others),
                         .auc = figures.auc.value(),
                         .partial_auc = figures.partial_auc.value(),
                         .average_precision = figures.average_precision.value()};
  for (const eval::CurvePoint& point : eval::RocCurve(pool, kCurvePoints)) {
    facts.points.push_back({point.false_positive_rate, point.recall});
  }
  for (const eval::CurvePoint& point : eval::PrecisionRecallCurve(pool, kCurvePoints)) {
    facts.precision_recall.push_back({point.recall, point.precision});
  }
  for (const eval::ChosenThreshold& chosen : thresholds) facts.thresholds.push_back(RowOf(chosen));
  return facts;
}

report::ScoreHistograms ScoreHistogramsOf(std::span<const eval::QuerySamples> samples) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const auto each = [&samples](const auto& visit) {
    for (const eval::QuerySamples& query : samples) {
      for (const double score : query.positives) visit(score, true);
      for (const double score : query.negatives) visit(score, false);
    }
  };
  each([&](double score, bool /*positive*/) {
    low = std::min(low, score);
    high = std::max(high, score);
  });
  if (low == high) {  // a single score still needs bins that have a width
    low -= 0.5;
    high += 0.5;
  }
  report::ScoreHistograms histograms{.positives = BinsOf(low, high),
                                     .hard_negatives = BinsOf(low, high)};
  each([&](double score, bool positive) {
    CountScore(score, positive ? &histograms.positives : &histograms.hard_negatives);
  });
  return histograms;
}

namespace {

// Marks a calibration that the folder keeps, because a new fit of the same method is measured
// beside it.
std::string MethodOf(const MeasuredCalibration& measured) {
  const std::string name(weights::CalibrationMethodName(measured.calibration.method));
  return measured.was_there ? name + std::string(report::kKeptCalibration) : name;
}

}  // namespace

std::vector<report::CalibrationFacts> CalibrationFactsOf(const CalibrationStudy& study) {
  std::vector<report::CalibrationFacts> all;
  for (const MeasuredCalibration& measured : study.measured) {
    const eval::CalibrationReport& found = measured.report;
    report::CalibrationFacts facts{.method = MethodOf(measured),
                                   .expected_calibration_error = found.figures.error,
                                   .brier = found.figures.brier,
                                   .log_loss = found.figures.log_loss};
    for (size_t d = 0; d < eval::kCalibrationDepths.size(); ++d) {
      facts.at_depths.push_back(
          {static_cast<int64_t>(eval::kCalibrationDepths[d]), found.errors_at[d]});
    }
    for (size_t b = 0; b < eval::kReliabilityBins; ++b) {
      const eval::ReliabilityBin& bin = found.figures.bins[b];
      const auto bins = static_cast<double>(eval::kReliabilityBins);
      report::ReliabilityRow row{.from = static_cast<double>(b) / bins,
                                 .to = static_cast<double>(b + 1) / bins,
                                 .count = static_cast<int64_t>(bin.count)};
      if (bin.count > 0) {
        row.mean_probability = bin.mean_probability;
        row.share_positive = bin.share_of_positives;
      }
      facts.reliability.push_back(row);
    }
    all.push_back(std::move(facts));
  }
  std::rotate(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(study.chosen),
              all.begin() + static_cast<std::ptrdiff_t>(study.chosen) + 1);
  return all;
}

report::ViewFacts ViewFactsOf(const eval::EmbeddingViews& views) {
  report::ViewFacts facts{.centroid_gap = views.centroid_gap,
                          .linear_separability = views.separability,
                          .median_ratio = views.ratio.median,
                          .uniformity = views.uniformity_queries,
                          .alignment = views.alignment};
  if (views.queries > 0) facts.nearest_cosine = HistogramOf(views.nearest.histogram);
  if (views.ratio.median) facts.ratio = HistogramOf(views.ratio.histogram);
  const size_t pairs = views.pictures.queries.size();
  for (size_t i = 0; i < views.pictures.principal.points.size(); ++i) {
    const eval::PlanePoint& point = views.pictures.principal.points[i];
    (i < pairs ? facts.projected_queries : facts.projected_documents)
        .push_back({point[0], point[1]});
  }
  for (size_t i = 0; i < views.pictures.tsne.size(); ++i) {
    const eval::PlanePoint& point = views.pictures.tsne[i];
    (i < pairs ? facts.tsne_queries : facts.tsne_documents).push_back({point[0], point[1]});
  }
  return facts;
}

report::QueryCases CasesOf(const eval::Evaluation& evaluation, const CaseSources& sources) {
  const auto measure = std::find_if(evaluation.measures.begin(), evaluation.measures.end(),
                                    [](const auto& values) { return !values.per_query.empty(); });
  if (measure == evaluation.measures.end()) return {};
  std::vector<size_t> order(evaluation.queries.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return measure->per_query[a].value_or(0) > measure->per_query[b].value_or(0);
  });
  const size_t best = std::min(sources.queries, (order.size() + 1) / 2);
  const size_t worst = std::min(sources.queries, order.size() - best);
  report::QueryCases cases{.measure = measure->measure.name()};
  for (size_t i = 0; i < best; ++i) {
    cases.best.push_back(
        CaseOf(evaluation.queries[order[i]], measure->per_query[order[i]], sources));
  }
  for (size_t i = 0; i < worst; ++i) {
    const size_t q = order[order.size() - 1 - i];
    cases.worst.push_back(CaseOf(evaluation.queries[q], measure->per_query[q], sources));
  }
  return cases;
}

}  // namespace tandem::app
