// The lines of a run's metrics.jsonl and timing.jsonl.
//
// Each line is a flat JSON object: `event` says which row it is, every other value is a number, a
// text or a truth value, so that pandas.read_json(path, lines=True) makes a table of the file.
// docs/training.md describes them for users.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/json/json.h"
#include "report/records/row_fields.h"

namespace tandem::report {

inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// Every logging.every steps.
struct StepRow {
  static constexpr std::string_view kEvent = "step";
  int64_t step = 0;
  double epoch = kNoNumber;  // of the sampler: 1.5 is one and a half
  int64_t queries = 0;       // since the start
  int64_t tokens = 0;        // since the start
  double loss = kNoNumber;   // mean since the row before
  double learning_rate = kNoNumber;
  double gradient_norm = kNoNumber;          // before clipping
  std::optional<int64_t> false_negatives;    // filtered since the row before; with a filter only
  std::optional<int64_t> same_tower_masked;  // likewise, of data.masks.same_tower_score
  std::optional<double> loss_scale;          // of the next step; in fp16 only
  std::optional<int64_t> skipped;  // steps without an update since the row before; the same
  NamedNumbers objective;          // what the objective learns or keeps

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("epoch", row.epoch);
    visitor("queries", row.queries);
    visitor("tokens", row.tokens);
    visitor("loss", row.loss);
    visitor("learning_rate", row.learning_rate);
    visitor("gradient_norm", row.gradient_norm);
    visitor("false_negatives", row.false_negatives);
    visitor("same_tower_masked", row.same_tower_masked);
    visitor("loss_scale", row.loss_scale);
    visitor("skipped_steps", row.skipped);
    visitor("objective_", row.objective);
  }
};

struct ValidationRow {
  static constexpr std::string_view kEvent = "validation";
  int64_t step = 0;       // 0: before training
  NamedNumbers measures;  // "ndcg@10", "loss"
  bool best = false;      // of the run so far

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("validation_", row.measures);
    visitor("best", row.best);
  }
};

// The result of a mining round.
struct MiningRow {
  static constexpr std::string_view kEvent = "mining";
  int64_t step = 0;
  int64_t round = 0;  // from 0
  int64_t queries = 0;
  int64_t fewer = 0;    // queries that got fewer negatives than asked for
  int64_t without = 0;  // of them, those that got none
  int64_t negatives = 0;
  double mean_score = kNoNumber;           // of the negatives
  double mean_positive_score = kNoNumber;  // of the positives
  int64_t left_out_by_margins = 0;
  std::optional<double> false_negative_rate;  // estimated; where judgements allow it

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("mining_round", row.round);
    visitor("mining_queries", row.queries);
    visitor("mining_fewer", row.fewer);
    visitor("mining_without", row.without);
    visitor("mining_negatives", row.negatives);
    visitor("mining_mean_score", row.mean_score);
    visitor("mining_mean_positive_score", row.mean_positive_score);
    visitor("mining_left_out_by_margins", row.left_out_by_margins);
    visitor("mining_false_negative_rate", row.false_negative_rate);
  }
};

// The last line of a run whose model is saved.
struct FinishedRow {
  static constexpr std::string_view kEvent = "finished";
  int64_t step = 0;
  int64_t model_step = 0;  // whose weights the saved model has
  NamedNumbers best;       // the measure of the validations at that step; none without validation

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("model_step", row.model_step);
    visitor("best_", row.best);
  }
};

using MetricsRow = std::variant<StepRow, ValidationRow, MiningRow, FinishedRow>;

// Reads the row of a line of metrics.jsonl. Lines that earlier versions wrote, which have no
// `event` and keep figures in objects of their own, are read too. Returns none for what is no JSON
// object, a value of another type than its field's, and an event that is not known: a run that was
// killed may end in a part of a line, and a later version may write other events.
std::optional<MetricsRow> ReadMetricsRow(std::string_view line);

// Timing: when a process began or went on with a run.
struct StartRow {
  static constexpr std::string_view kEvent = "start";
  std::string version;
  int64_t threads = 0;
  std::string precision;
  std::string isa;
  int64_t resumed_from = 0;  // step; 0: the start
  double read_seconds = kNoNumber;
  double tokenise_seconds = kNoNumber;
  // Where a run validates, its queries; where a measure does, the documents that it ranks, and
  // those of the corpus.
  std::optional<int64_t> validation_queries, validation_documents, validation_corpus;

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("version", row.version);
    visitor("threads", row.threads);
    visitor("precision", row.precision);
    visitor("isa", row.isa);
    visitor("resumed_from", row.resumed_from);
    visitor("read_seconds", row.read_seconds);
    visitor("tokenise_seconds", row.tokenise_seconds);
    visitor("validation_queries", row.validation_queries);
    visitor("validation_documents", row.validation_documents);
    visitor("validation_corpus", row.validation_corpus);
  }
};

// Timing: what the steps since the row before took.
struct StepTimeRow {
  static constexpr std::string_view kEvent = "step";
  int64_t step = 0;
  double seconds = kNoNumber;
  int64_t tokens = 0;
  double tokens_per_second = kNoNumber;

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("seconds", row.seconds);
    visitor("tokens", row.tokens);
    visitor("tokens_per_second", row.tokens_per_second);
  }
};

// Timing: what a validation or a round of mining took.
struct ValidationTimeRow {
  static constexpr std::string_view kEvent = "validation";
  int64_t step = 0;
  double seconds = kNoNumber;

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("seconds", row.seconds);
  }
};
struct MiningTimeRow : ValidationTimeRow {
  static constexpr std::string_view kEvent = "mining";
};

// Timing: when a process came to the run's end.
struct EndRow {
  static constexpr std::string_view kEvent = "end";
  int64_t step = 0;
  int64_t most_memory_bytes = 0;  // that the process held at once (base/process/memory.h)

  template <typename Row, typename Visitor>
  static void VisitFields(Row& row, Visitor& visitor) {
    visitor("step", row.step);
    visitor("most_memory_bytes", row.most_memory_bytes);
  }
};

using TimingRow = std::variant<StartRow, StepTimeRow, ValidationTimeRow, MiningTimeRow, EndRow>;

// The row of a line of timing.jsonl, as ReadMetricsRow.
std::optional<TimingRow> ReadTimingRow(std::string_view line);

}  // namespace tandem::report
