#include "report/example_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <vector>

#include "base/files/files.h"
#include "base/random.h"
#include "report/records/evaluation_file.h"
#include "report/records/metrics_row.h"
#include "sampling/audit/audit_file.h"

namespace tandem::report {
namespace {

constexpr size_t kQueries = 400;
constexpr size_t kNegativesOfQuery = 30;

class Normal {
 public:
  Normal(uint64_t seed, const char* purpose) : stream_({.seed = seed, .purpose = purpose}) {}
  double operator()(double mean, double deviation) {
    const double radius = std::sqrt(-2 * std::log(1 - stream_.Uniform()));
    return mean + deviation * radius * std::cos(2 * std::numbers::pi * stream_.Uniform());
  }
  RandomStream& stream() { return stream_; }

 private:
  RandomStream stream_;
};

struct Scores {
  std::vector<double> positives;
  std::vector<double> negatives;
};

Scores DrawScores(const ExampleModel& model) {
  Normal normal(model.seed, "scores");
  Scores scores;
  for (size_t q = 0; q < kQueries; ++q) {
    const double shift = normal(0, 0.05);  // queries differ: pooling sees it, ranking does not
    scores.positives.push_back(std::min(0.99, normal(0.35 + model.separation + shift, 0.1)));
    for (size_t i = 0; i < kNegativesOfQuery; ++i) {
      scores.negatives.push_back(std::clamp(normal(0.3 + shift, 0.08), -0.2, 0.99));
    }
  }
  return scores;
}

double ShareAtLeast(const std::vector<double>& sorted, double score) {
  const auto above = sorted.end() - std::lower_bound(sorted.begin(), sorted.end(), score);
  return static_cast<double>(above) / static_cast<double>(sorted.size());
}

ThresholdRow RowAt(const Scores& sorted, std::string target, double score) {
  const double found = ShareAtLeast(sorted.positives, score);
  const double wrong = ShareAtLeast(sorted.negatives, score);
  const double right = found * static_cast<double>(sorted.positives.size());
  const double shown = right + wrong * static_cast<double>(sorted.negatives.size());
  return {.target = std::move(target),
          .score = score,
          .low = score - 0.012,
          .high = score + 0.014,
          .precision = shown > 0 ? right / shown : 1,
          .recall = found,
          .false_positive_rate = wrong,
          .results = shown / static_cast<double>(kQueries)};
}

RocFacts RocOf(Scores scores) {
  std::sort(scores.positives.begin(), scores.positives.end());
  std::sort(scores.negatives.begin(), scores.negatives.end());
  RocFacts roc{.positives = static_cast<int64_t>(scores.positives.size()),
               .negatives = static_cast<int64_t>(scores.negatives.size())};
  for (double score = 1; score >= -0.2; score -= 0.005) {
    const ThresholdRow row = RowAt(scores, "", score);
    if (!roc.points.empty()) {
      const Point& before = roc.points.back();
      roc.auc += (*row.false_positive_rate - before[0]) * (*row.recall + before[1]) / 2;
    }
    roc.points.push_back({*row.false_positive_rate, *row.recall});
    roc.precision_recall.push_back({*row.recall, *row.precision});
  }
  roc.auc = std::clamp(roc.auc, 0.0, 1.0);
  roc.partial_auc = roc.auc * roc.auc;
  roc.average_precision = roc.auc * 0.8;
  double precise = 1;
  while (precise > 0 && *RowAt(scores, "", precise - 0.005).precision >= 0.9) precise -= 0.005;
  roc.thresholds = {RowAt(scores, "precision >= 0.9", precise),
                    RowAt(scores, "recall >= 0.9", scores.positives[kQueries / 10]),
                    {.target = "false-positive rate <= 0.00001"}};
  return roc;
}

Histogram HistogramOf(const std::vector<double>& values, double from, double to) {
  Histogram histogram{.from = from, .to = to, .counts = std::vector<int64_t>(40)};
  for (const double value : values) {
    const double bin = std::floor((value - from) / (to - from) * 40);
    ++histogram.counts[static_cast<size_t>(std::clamp(bin, 0.0, 39.0))];
  }
  return histogram;
}

CalibrationFacts CalibrationOf(const std::string& method, double error) {
  CalibrationFacts facts{.method = method,
                         .expected_calibration_error = error,
                         .at_depths = {{1, error * 3}, {10, error * 2}, {100, error}},
                         .brier = 0.02 + error,
                         .log_loss = 0.1 + error};
  for (int i = 0; i < 15; ++i) {
    ReliabilityRow row{.from = i / 15.0, .to = (i + 1) / 15.0};
    if (i != 7) {  // an empty bin
      row.count = 12000 >> i;
      row.mean_probability = (i + 0.5) / 15;
      row.share_positive = std::clamp((i + 0.5) / 15 - error * 2 * std::sin(i / 4.8), 0.0, 1.0);
    }
    facts.reliability.push_back(row);
  }
  return facts;
}

ViewFacts ViewsOf(const ExampleModel& model) {
  Normal normal(model.seed, "views");
  ViewFacts views{.centroid_gap = 0.35 - model.separation / 2,
                  .linear_separability = 0.92 - model.separation,
                  .median_ratio = 0.8,
                  .uniformity = -3.1,
                  .alignment = 0.7 - model.separation};
  std::vector<double> nearest;
  std::vector<double> ratio;
  for (int i = 0; i < 400; ++i) {
    nearest.push_back(normal(0.4 + model.separation, 0.1));
    ratio.push_back(normal(1 - model.separation, 0.3));
    views.projected_queries.push_back({normal(-0.2, 0.2), normal(0.1, 0.25)});
    views.projected_documents.push_back({normal(0.15, 0.3), normal(0, 0.3)});
  }
  views.nearest_cosine = HistogramOf(nearest, 0, 1);
  views.ratio = HistogramOf(ratio, -0.5, 2.5);
  return views;
}

QueryCase CaseOf(const std::string& id, const std::string& text, double value) {
  QueryCase query{.id = id, .text = text, .value = value};
  query.results = {{"gnuplot-nox", 0.71, value > 0.5 ? 1.0 : 0.0,
                    "Command-line driven interactive plotting program. No-X package. It plots "
                    "functions, data points and surfaces, in two and three dimensions, in many "
                    "formats of output."},
                   {"libplot-dev", 0.55, std::nullopt, "Plotting library, development files"},
                   {"python3-matplotlib", 0.52, value > 0.5 ? 0.0 : 1.0,
                    "Python based plotting system in a style similar to Matlab"}};
  return query;
}

std::vector<MeasureResult> MeasuresOf(const ExampleModel& model) {
  Normal normal(model.seed, "measures");
  std::vector<MeasureResult> measures;
  for (const char* name : {"ndcg@10", "mrr@10", "map", "recall@10", "recall@100"}) {
    MeasureResult measure{.name = name};
    double sum = 0;
    for (size_t q = 0; q < kQueries; ++q) {
      const double value = std::clamp(normal(0.35 + model.separation, 0.3), 0.0, 1.0);
      measure.per_query.push_back(value);
      sum += value;
    }
    measure.mean = sum / kQueries;
    measure.low = *measure.mean - 0.028;
    measure.high = *measure.mean + 0.027;
    measures.push_back(std::move(measure));
  }
  return measures;
}

void AppendBytes(std::string& bytes, auto value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

// A record as sampling/audit/audit_file.h describes it: `queries` with a pair each, of which the
// first `left_out` are not drawn.
std::string PassBytes(uint64_t pass, uint32_t queries, uint32_t left_out) {
  std::string bytes = "TDMPASS1";
  AppendBytes(bytes, pass);
  AppendBytes(bytes, uint64_t{queries});
  AppendBytes(bytes, uint64_t{queries});
  for (uint32_t q = 0; q < queries; ++q) AppendBytes(bytes, uint32_t{1});
  for (uint32_t q = 0; q < queries; ++q) AppendBytes(bytes, 0.5F);
  std::vector<sampling::Draw> draws;
  for (uint32_t q = left_out; q < queries; ++q) {
    draws.push_back({.query = q, .document = q});
    if (draws.size() == 64 || q + 1 == queries) {
      bytes += sampling::PassBatch(draws);
      draws.clear();
    }
  }
  std::vector<sampling::LeftOut> rest;
  for (uint32_t q = 0; q < left_out; ++q) rest.push_back({q, 0.61F});
  return bytes + sampling::PassEnd(rest);
}

template <typename Row>
std::string LineOf(const Row& row) {
  return ToJson(row).Dump() + "\n";
}

std::string MetricsText() {
  double best = 0.412;
  std::string text = LineOf(
      ValidationRow{.step = 0, .measures = {{.name = "ndcg@10", .value = best}}, .best = true});
  for (int step = 10; step <= 600; step += 10) {
    const double loss = 0.3 + 1.4 * std::exp(-step / 120.0) + 0.05 * std::sin(step * 0.7);
    text += LineOf(StepRow{.step = step,
                           .epoch = step / 300.0,
                           .queries = step * 64,
                           .tokens = step * 2600,
                           .loss = loss,
                           .learning_rate = 2e-5 * (step < 60 ? step / 60.0 : (600 - step) / 540.0),
                           .gradient_norm = 1.5 + loss});
    if (step % 60 != 0) continue;
    const double value = 0.412 + 0.14 * (1 - std::exp(-step / 150.0)) - (step > 420 ? 0.006 : 0);
    text += LineOf(ValidationRow{
        .step = step, .measures = {{.name = "ndcg@10", .value = value}}, .best = value > best});
    best = std::max(best, value);
  }
  return text + LineOf(FinishedRow{.step = 600, .model_step = 420});
}

std::string TimingText() {
  std::string text = LineOf(StartRow{.version = "0.1.0",
                                     .threads = 2,
                                     .precision = "fp32",
                                     .isa = "avx2",
                                     .read_seconds = 1.4,
                                     .tokenise_seconds = 3.2});
  for (int step = 0; step <= 600; step += 10) {
    if (step > 0) {
      text += LineOf(
          StepTimeRow{.step = step, .seconds = 6.5, .tokens = 26000, .tokens_per_second = 4000});
    }
    if (step % 60 == 0) text += LineOf(ValidationTimeRow{step, 4.1});
  }
  return text + LineOf(EndRow{.step = 600, .most_memory_bytes = 2147483648});
}

constexpr const char* kRecipe = R"(# A record of this run's recipe with every value resolved.
seed = 1

[model]
base = "all-MiniLM-L6-v2"

[data]
train = "packages"

[objective]
name = "mann_whitney"

[validation]
data = "packages"
split = "dev"
)";

}  // namespace

EvaluationRecord ExampleEvaluation(const ExampleModel& model) {
  const Scores scores = DrawScores(model);
  EvaluationRecord record{
      .model = {model.name, model.name, 22'713'216, "fp32"},
      .dataset = {.name = "packages", .split = "test", .documents = 63'410, .queries = kQueries}};
  for (size_t q = 0; q < kQueries; ++q) record.query_ids.push_back(fmt::format("q{}", q));
  record.measures = MeasuresOf(model);
  record.roc = RocOf(scores);
  record.scores = {HistogramOf(scores.positives, -0.2, 1), HistogramOf(scores.negatives, -0.2, 1)};
  record.calibration = {CalibrationOf("platt", 0.03), CalibrationOf("isotonic", 0.012)};
  record.views = ViewsOf(model);
  record.cases = {.measure = "ndcg@10",
                  .best = {CaseOf("q17", "draw plots without a display", 1)},
                  .worst = {CaseOf("q4",
                                   "plot my measurements from python and keep the vector "
                                   "graphics for a paper",
                                   0),
                            CaseOf("q9", "مخطط بياني", 0.12)}};
  return record;
}

void WriteExampleRun(const std::filesystem::path& folder, const ExampleModel& after) {
  MakeFolder(folder / "report");
  MakeFolder(folder / "sampling");
  WriteFileAtomically(folder / "recipe.resolved.toml", kRecipe);
  WriteFileAtomically(folder / "metrics.jsonl", MetricsText());
  WriteFileAtomically(folder / "timing.jsonl", TimingText());
  WriteFileAtomically(folder / "sampling" / "pass-00000000.bin", PassBytes(0, 2000, 500));
  WriteFileAtomically(folder / "sampling" / "pass-00000001.bin", PassBytes(1, 2000, 900));
  WriteFileAtomically(folder / "report" / "before.evaluation.json",
                      EvaluationText(ExampleEvaluation({.separation = 0.1})));
  WriteFileAtomically(folder / "report" / "after.evaluation.json",
                      EvaluationText(ExampleEvaluation(after)));
}

}  // namespace tandem::report
