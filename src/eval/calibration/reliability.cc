#include "eval/calibration/reliability.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace tandem::eval {
namespace {

size_t BinOf(double probability) {
  const auto bin = static_cast<size_t>(probability * kReliabilityBins);
  return std::min(bin, kReliabilityBins - 1);
}

double LogLoss(const Forecast& forecast) {
  const double p = std::clamp(forecast.probability, kLeastProbability, 1 - kLeastProbability);
  return forecast.positive ? -std::log(p) : -std::log1p(-p);
}

}  // namespace

CalibrationFigures MeasureCalibration(std::span<const Forecast> forecasts) {
  if (forecasts.empty()) {
    throw DataError("calibration", 0, "", "no document has a probability and a judgement");
  }
  CalibrationFigures figures{.documents = forecasts.size()};
  for (const Forecast& forecast : forecasts) {
    const double outcome = forecast.positive ? 1 : 0;
    const double difference = forecast.probability - outcome;
    figures.positives += forecast.positive;
    figures.brier += difference * difference;
    figures.log_loss += LogLoss(forecast);
    ReliabilityBin& bin = figures.bins[BinOf(forecast.probability)];
    ++bin.count;
    bin.mean_probability += forecast.probability;
    bin.share_of_positives += outcome;
  }
  const auto documents = static_cast<double>(forecasts.size());
  figures.brier /= documents;
  figures.log_loss /= documents;
  for (ReliabilityBin& bin : figures.bins) {
    if (bin.count == 0) continue;
    figures.error += std::abs(bin.mean_probability - bin.share_of_positives) / documents;
    bin.mean_probability /= static_cast<double>(bin.count);
    bin.share_of_positives /= static_cast<double>(bin.count);
  }
  return figures;
}

QueryForecasts ForecastsOf(const QuerySamples& samples,
                           const std::function<double(double score)>& probability) {
  struct Document {
    double score;
    bool positive;
  };
  std::vector<Document> documents;
  for (const double score : samples.negatives) documents.push_back({score, false});
  for (const double score : samples.positives) documents.push_back({score, true});
  std::stable_sort(documents.begin(), documents.end(),
                   [](const Document& a, const Document& b) { return a.score > b.score; });
  QueryForecasts forecasts;
  for (const Document& document : documents) {
    forecasts.push_back({probability(document.score), document.positive});
  }
  return forecasts;
}

CalibrationReport ReportCalibration(std::span<const QueryForecasts> queries) {
  const auto best = [&queries](size_t depth) {
    QueryForecasts all;
    for (const QueryForecasts& query : queries) {
      const size_t count = std::min(depth, query.size());
      all.insert(all.end(), query.begin(), query.begin() + static_cast<ptrdiff_t>(count));
    }
    return all;
  };
  CalibrationReport report{.figures = MeasureCalibration(best(SIZE_MAX))};
  for (size_t i = 0; i < kCalibrationDepths.size(); ++i) {
    report.errors_at[i] = MeasureCalibration(best(kCalibrationDepths[i])).error;
  }
  return report;
}

}  // namespace tandem::eval
