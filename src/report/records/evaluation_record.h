// The record of a model's evaluation on a data set for a report: the rows of `evaluation.json`.
//
// Every part after `dataset` may be absent or empty; a report shows what is there and says what is
// missing. One visitor for each struct names its members, so that writing and strict reading
// (report/records/evaluation_file.h) cannot differ. Shares and rates are in [0, 1].
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/recipe/field_info.h"

namespace tandem::report {

// The values that a number may have.
struct NumberRange {
  double low = -1e300;
  double high = 1e300;
};
inline constexpr NumberRange kShare = {0, 1};
inline constexpr NumberRange kNotNegative = {0, 1e300};

using Point = std::array<double, 2>;  // x, y

struct ModelFacts {
  std::string name;                   // as the report shows it
  std::string folder;                 // the last part of its path
  std::optional<int64_t> parameters;  // weights, all towers together
  std::string precision;              // "fp32", "bf16", "int8"; "": not known
};

struct DatasetFacts {
  std::string name;
  std::string split;
  int64_t documents = 0;
  int64_t queries = 0;
  double relevance_level = 1;  // the grade from which a document is a positive
  // Of queries, judgements and documents' texts, 16 hexadecimal digits; absent: not known.
  std::optional<std::string> fingerprint = {};
};

struct MeasureResult {
  std::string name;  // "ndcg@10"
  std::optional<double> mean;
  std::optional<double> low;  // of the 95 % bootstrap interval over queries
  std::optional<double> high;
  // One for each of the record's query_ids, in their order; null where the query has no value.
  // Empty: not kept.
  std::vector<std::optional<double>> per_query;
};

// The threshold that meets a target best. The numbers are absent where no threshold meets it.
struct ThresholdRow {
  std::string target;  // "precision >= 0.9"
  std::optional<double> score;
  std::optional<double> low;  // of the score's 95 % bootstrap interval over queries
  std::optional<double> high;
  std::optional<double> precision;
  std::optional<double> recall;
  std::optional<double> false_positive_rate;
  std::optional<double> results;  // expected for a query
};

// Scores of all queries pooled.
struct RocFacts {
  int64_t positives = 0;
  int64_t negatives = 0;
  double auc = 0;
  double partial_auc = 0;  // false-positive rate <= 0.1, area / 0.1
  double average_precision = 0;
  std::vector<Point> points;            // false-positive rate, true-positive rate; ascending
  std::vector<Point> precision_recall;  // recall, precision
  std::vector<ThresholdRow> thresholds;
};

// Counts in bins of equal width over [from, to].
struct Histogram {
  double from = 0;
  double to = 1;
  std::vector<int64_t> counts;
};

struct ScoreHistograms {
  Histogram positives;
  Histogram hard_negatives;  // each query's highest non-positives
};

struct CalibrationAtDepth {
  int64_t depth = 0;  // results of a query that count
  double expected_calibration_error = 0;
};

struct ReliabilityRow {
  double from = 0;  // the bin of probabilities
  double to = 0;
  int64_t count = 0;
  std::optional<double> mean_probability;  // absent where the bin is empty
  std::optional<double> share_positive;
};

struct CalibrationFacts {
  std::string method;  // "platt", "isotonic", "bixse"
  double expected_calibration_error = 0;
  std::vector<CalibrationAtDepth> at_depths;
  double brier = 0;
  double log_loss = 0;
  std::vector<ReliabilityRow> reliability;
};

// What the name of a method ends with where the model's folder has the calibration, which was not
// fitted for the report.
inline constexpr std::string_view kKeptCalibration = " (kept)";
inline bool IsKept(const CalibrationFacts& facts) {
  return facts.method.ends_with(kKeptCalibration);
}

struct ViewFacts {
  std::optional<double> centroid_gap;         // of the towers' mean embeddings
  std::optional<double> linear_separability;  // share that a linear rule tells apart
  std::optional<double> median_ratio;         // of sim(q_i, q_j) / sim(q_i, p_j)
  std::optional<double> uniformity;           // Wang & Isola
  std::optional<double> alignment;
  std::optional<Histogram> nearest_cosine;  // of each query and its nearest document
  std::optional<Histogram> ratio;
  std::vector<Point> projected_queries;
  std::vector<Point> projected_documents;
  // The same texts by t-SNE, whose axes have no unit; empty: not kept.
  std::vector<Point> tsne_queries;
  std::vector<Point> tsne_documents;
};

struct QueryResult {
  std::string id;
  double score = 0;
  std::optional<double> grade;  // absent: not judged
  std::string text;
};

struct QueryCase {
  std::string id;
  std::string text;
  std::optional<double> value;  // of the measure
  std::vector<QueryResult> results;
};

// The queries that a measure is best and worst for.
struct QueryCases {
  std::string measure;
  std::vector<QueryCase> best;
  std::vector<QueryCase> worst;
};

struct EvaluationRecord {
  ModelFacts model;
  DatasetFacts dataset;
  std::vector<std::string> query_ids;
  std::vector<MeasureResult> measures;
  std::optional<RocFacts> roc;
  std::optional<ScoreHistograms> scores;
  std::vector<CalibrationFacts> calibration;  // the model's own first
  std::optional<ViewFacts> views;
  std::optional<QueryCases> cases;
};

}  // namespace tandem::report
