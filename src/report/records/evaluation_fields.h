// The members of evaluation.json, by name. A visitor has
//   void Field(std::string_view name, T& value, NumberRange range = {})
// where T is a string, an integer, a double, a Point, a struct that VisitFields takes, an optional
// or a vector of these. Optionals and vectors may be absent from a file, everything else is
// required.
#pragma once

#include "report/records/evaluation_record.h"

namespace tandem::report {

using config::MaybeConst;

template <MaybeConst<ModelFacts> R, typename Visitor>
void VisitFields(R& model, Visitor& visitor) {
  visitor.Field("name", model.name);
  visitor.Field("folder", model.folder);
  visitor.Field("parameters", model.parameters, kNotNegative);
  visitor.Field("precision", model.precision);
}

template <MaybeConst<DatasetFacts> R, typename Visitor>
void VisitFields(R& dataset, Visitor& visitor) {
  visitor.Field("name", dataset.name);
  visitor.Field("split", dataset.split);
  visitor.Field("documents", dataset.documents, kNotNegative);
  visitor.Field("queries", dataset.queries, kNotNegative);
  visitor.Field("relevance_level", dataset.relevance_level);
  visitor.Field("fingerprint", dataset.fingerprint);
}

template <MaybeConst<MeasureResult> R, typename Visitor>
void VisitFields(R& measure, Visitor& visitor) {
  visitor.Field("name", measure.name);
  visitor.Field("mean", measure.mean);
  visitor.Field("low", measure.low);
  visitor.Field("high", measure.high);
  visitor.Field("per_query", measure.per_query);
}

template <MaybeConst<ThresholdRow> R, typename Visitor>
void VisitFields(R& row, Visitor& visitor) {
  visitor.Field("wish", row.target);
  visitor.Field("score", row.score);
  visitor.Field("low", row.low);
  visitor.Field("high", row.high);
  visitor.Field("precision", row.precision, kShare);
  visitor.Field("recall", row.recall, kShare);
  visitor.Field("false_positive_rate", row.false_positive_rate, kShare);
  visitor.Field("results", row.results, kNotNegative);
}

template <MaybeConst<RocFacts> R, typename Visitor>
void VisitFields(R& roc, Visitor& visitor) {
  visitor.Field("positives", roc.positives, kNotNegative);
  visitor.Field("negatives", roc.negatives, kNotNegative);
  visitor.Field("auc", roc.auc, kShare);
  visitor.Field("partial_auc", roc.partial_auc, kShare);
  visitor.Field("average_precision", roc.average_precision, kShare);
  visitor.Field("points", roc.points, kShare);
  visitor.Field("precision_recall", roc.precision_recall, kShare);
  visitor.Field("thresholds", roc.thresholds);
}

template <MaybeConst<Histogram> R, typename Visitor>
void VisitFields(R& histogram, Visitor& visitor) {
  visitor.Field("from", histogram.from);
  visitor.Field("to", histogram.to);
  visitor.Field("counts", histogram.counts, kNotNegative);
}

template <MaybeConst<ScoreHistograms> R, typename Visitor>
void VisitFields(R& scores, Visitor& visitor) {
  visitor.Field("positives", scores.positives);
  visitor.Field("hard_negatives", scores.hard_negatives);
}

template <MaybeConst<CalibrationAtDepth> R, typename Visitor>
void VisitFields(R& row, Visitor& visitor) {
  visitor.Field("depth", row.depth, kNotNegative);
  visitor.Field("expected_calibration_error", row.expected_calibration_error, kShare);
}

template <MaybeConst<ReliabilityRow> R, typename Visitor>
void VisitFields(R& row, Visitor& visitor) {
  visitor.Field("from", row.from, kShare);
  visitor.Field("to", row.to, kShare);
  visitor.Field("count", row.count, kNotNegative);
  visitor.Field("mean_probability", row.mean_probability, kShare);
  visitor.Field("share_positive", row.share_positive, kShare);
}

template <MaybeConst<CalibrationFacts> R, typename Visitor>
void VisitFields(R& calibration, Visitor& visitor) {
  visitor.Field("method", calibration.method);
  visitor.Field("expected_calibration_error", calibration.expected_calibration_error, kShare);
  visitor.Field("at_depths", calibration.at_depths);
  visitor.Field("brier", calibration.brier, kShare);
  visitor.Field("log_loss", calibration.log_loss, kNotNegative);
  visitor.Field("reliability", calibration.reliability);
}

template <MaybeConst<ViewFacts> R, typename Visitor>
void VisitFields(R& views, Visitor& visitor) {
  visitor.Field("centroid_gap", views.centroid_gap, kNotNegative);
  visitor.Field("linear_separability", views.linear_separability, kShare);
  visitor.Field("median_ratio", views.median_ratio);
  visitor.Field("uniformity", views.uniformity);
  visitor.Field("alignment", views.alignment);
  visitor.Field("nearest_cosine", views.nearest_cosine);
  visitor.Field("ratio", views.ratio);
  visitor.Field("projected_queries", views.projected_queries);
  visitor.Field("projected_documents", views.projected_documents);
  visitor.Field("tsne_queries", views.tsne_queries);
  visitor.Field("tsne_documents", views.tsne_documents);
}

template <MaybeConst<QueryResult> R, typename Visitor>
void VisitFields(R& result, Visitor& visitor) {
  visitor.Field("id", result.id);
  visitor.Field("score", result.score);
  visitor.Field("grade", result.grade);
  visitor.Field("text", result.text);
}

template <MaybeConst<QueryCase> R, typename Visitor>
void VisitFields(R& query, Visitor& visitor) {
  visitor.Field("id", query.id);
  visitor.Field("text", query.text);
  visitor.Field("value", query.value);
  visitor.Field("results", query.results);
}

template <MaybeConst<QueryCases> R, typename Visitor>
void VisitFields(R& cases, Visitor& visitor) {
  visitor.Field("measure", cases.measure);
  visitor.Field("best", cases.best);
  visitor.Field("worst", cases.worst);
}

template <MaybeConst<EvaluationRecord> R, typename Visitor>
void VisitFields(R& record, Visitor& visitor) {
  visitor.Field("model", record.model);
  visitor.Field("dataset", record.dataset);
  visitor.Field("query_ids", record.query_ids);
  visitor.Field("measures", record.measures);
  visitor.Field("roc", record.roc);
  visitor.Field("scores", record.scores);
  visitor.Field("calibration", record.calibration);
  visitor.Field("views", record.views);
  visitor.Field("cases", record.cases);
}

}  // namespace tandem::report
