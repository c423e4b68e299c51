// Writes sentence-transformers columns. All lines have the same columns, as its trainer takes them:
//
//   pairs            {"anchor", "positive"[, "score"]}           where no query has negatives
//   tuples           {"anchor", "positive", "negative_1", ...[, "scores"]}, n negatives a line
//   labelled pairs   {"query", "document", "score"}: every judged document with its grade;
//                    {"anchor", "positive", "score"}: the same of data that came as scored pairs
//
// A query with P positives and N negatives has P pairs or max(P, ceil(N / n)) tuples. Tuple i has
// positive i and negatives i n, i n + 1, ..., both counted in a circle, so that every document of
// the query is in one of them, and no tuple has a negative twice.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "data/formats/dataset_writer.h"
#include "data/input/text_output.h"
#include "data/lines/json_text.h"
#include "data/lines/line_examples.h"

namespace tandem::data {
namespace {

// The forms of lines that the examples of a data set allow.
struct Shapes {
  size_t queries = 0;
  size_t without_negatives = 0;   // queries
  size_t fewest_negatives = 0;    // of a query
  size_t without_all_scores = 0;  // queries
  bool all_have_one_positive = true;
};

Shapes ShapesOf(const LineExamples& examples) {
  Shapes shapes;
  examples.ForEach([&](const LineExample& example) {
    const size_t found = example.negatives.size();
    shapes.fewest_negatives =
        shapes.queries == 0 ? found : std::min(shapes.fewest_negatives, found);
    shapes.without_negatives += found == 0 ? 1 : 0;
    ++shapes.queries;
    shapes.without_all_scores += example.has_all_scores() ? 0 : 1;
    shapes.all_have_one_positive = shapes.all_have_one_positive && example.positives.size() == 1;
  });
  return shapes;
}

size_t NegativesOfLines(const Shapes& shapes, const std::string& file,
                        const WriteOptions& options) {
  if (options.negatives) return *options.negatives;
  if (shapes.without_negatives > 0 && shapes.without_negatives < shapes.queries) {
    throw UsageError(fmt::format(
        "{}: {} of {} queries have no negative, but all lines of sentence_transformers have the "
        "same columns: tandem convert with --negatives 0 writes pairs without negatives, with "
        "--negatives 1 it leaves these queries out, and flag_embedding and tevatron hold any "
        "number of negatives",
        file, shapes.without_negatives, shapes.queries));
  }
  return shapes.fewest_negatives;
}

// Returns true where every judged document is written with its grade.
bool WritesGrades(const LineExamples& examples, const WriteOptions& options) {
  return (examples.has_grades() || examples.are_scored_pairs()) && !options.negatives;
}

class ColumnsWriter {
 public:
  // `negatives`: of every line.
  ColumnsWriter(const LineExamples& examples, const WriteRequest& request, size_t negatives)
      : examples_(examples),
        request_(request),
        queries_(request.dataset.queries),
        documents_(request.dataset.documents),
        file_(request.output),
        negatives_(negatives) {}

  // Writes every judged document with its grade or score, also of queries without a positive.
  size_t WriteLabelledPairs() {
    LineExample example;
    for (const JudgedQuery& judged : request_.dataset.judged) {
      examples_.Make(judged, example);
      for (const auto* side : {&example.positives, &example.negatives}) {
        for (const ExampleDocument& document : *side) {
          if (examples_.has_grades()) {
            Begin("query", example.query, "document", document);
          } else {
            Begin("anchor", example.query, "positive", document);
          }
          AddScore(document);
          End();
        }
      }
    }
    file_.Commit();
    return lines_;
  }

  size_t WriteTuples(const Shapes& shapes) {
    const ScoreKind kind = examples_.scores();
    const std::string& output = request_.output.native();
    if (kind == ScoreKind::kMargins && negatives_ == 0) {
      request_.warnings.Count(output, "queries whose margins are left out with the negatives", 0,
                              "", shapes.queries);
    } else if (kind != ScoreKind::kNone && shapes.without_all_scores > 0) {
      request_.warnings.Count(
          output, "queries with documents without a score, for which all scores are left out", 0,
          "", shapes.without_all_scores);
    } else {
      has_scores_ = kind != ScoreKind::kNone;
      has_margins_ = kind == ScoreKind::kMargins && shapes.all_have_one_positive;
      if (!has_margins_) CheckNoneApart(examples_, "sentence_transformers");
    }
    examples_.ForEach([&](const LineExample& example) {
      if (example.negatives.size() >= negatives_) WriteExample(example);
    });
    file_.Commit();
    return lines_;
  }

 private:
  void WriteExample(const LineExample& example) {
    const size_t chunks =
        negatives_ == 0 ? 0 : (example.negatives.size() + negatives_ - 1) / negatives_;
    for (size_t i = 0; i < std::max(example.positives.size(), chunks); ++i) {
      WriteTuple(example, i);
    }
  }

  void WriteTuple(const LineExample& example, size_t place) {
    const ExampleDocument& positive = example.positives[place % example.positives.size()];
    Begin("anchor", example.query, "positive", positive);
    chosen_.clear();
    for (size_t i = 0; i < negatives_; ++i) {
      chosen_.push_back(example.negatives[(place * negatives_ + i) % example.negatives.size()]);
      line_ += negatives_ == 1 ? std::string(R"(, "negative": )")
                               : fmt::format(R"(, "negative_{}": )", i + 1);
      AppendText(line_, documents_, chosen_.back().document);
    }
    if (has_scores_) AddScores(positive);
    End();
  }

  void AddScores(const ExampleDocument& positive) {
    if (negatives_ == 0) return AddScore(positive);
    if (has_margins_) return AddMargins(positive);
    const bool probabilities = examples_.scores() == ScoreKind::kProbabilities;
    line_ += fmt::format(R"(, "{}": [)", probabilities ? "probabilities" : ScoreColumn("scores"));
    AddNumber(positive.score, probabilities);
    for (const ExampleDocument& negative : chosen_) {
      line_ += ", ";
      AddNumber(negative.score, probabilities);
    }
    line_ += ']';
  }

  // The score of a line's only document.
  void AddScore(const ExampleDocument& document) {
    const bool probabilities = examples_.scores() == ScoreKind::kProbabilities;
    line_ += fmt::format(R"(, "{}": )", probabilities ? "probabilities" : ScoreColumn("score"));
    AddNumber(document.score, probabilities);
  }

  // Adds the differences between the positive's score and those of the negatives: one number or a
  // list.
  void AddMargins(const ExampleDocument& positive) {
    line_ += fmt::format(R"(, "{}": )", ScoreColumn("label"));
    if (chosen_.size() > 1) line_ += '[';
    for (size_t i = 0; i < chosen_.size(); ++i) {
      if (i > 0) line_ += ", ";
      AppendJsonNumber(line_, positive.score - chosen_[i].score);
    }
    if (chosen_.size() > 1) line_ += ']';
  }

  void AddNumber(double score, bool as_probabilities) {
    if (as_probabilities) {
      AppendProbabilities(line_, score);
    } else {
      AppendJsonNumber(line_, score);
    }
  }

  static std::string_view Either(std::string_view asked, std::string_view usual) {
    return asked.empty() ? usual : asked;
  }
  std::string_view ScoreColumn(std::string_view usual) const {
    return Either(request_.options.score_column, usual);
  }

  void Begin(std::string_view query_key, uint32_t query, std::string_view document_key,
             const ExampleDocument& document) {
    const WriteOptions& options = request_.options;
    line_ = fmt::format("{{\"{}\": ", Either(options.query_column, query_key));
    AppendText(line_, queries_, query);
    line_ += fmt::format(", \"{}\": ", Either(options.document_column, document_key));
    AppendText(line_, documents_, document.document);
  }

  void End() {
    line_ += "}\n";
    file_.Write(line_);
    ++lines_;
  }

  const LineExamples& examples_;
  const WriteRequest& request_;
  const Texts& queries_;
  const Texts& documents_;
  TextOutput file_;
  std::string line_;
  size_t lines_ = 0;
  size_t negatives_;
  bool has_scores_ = false;
  bool has_margins_ = false;
  std::vector<ExampleDocument> chosen_;  // negatives of the line
};

WriteCounts WriteColumns(const WriteRequest& request) {
  const LineExamples examples(request.dataset, request.options);
  if (WritesGrades(examples, request.options)) {
    WriteCounts counts = CountLines(examples, {.needs_positive = false}, request);
    counts.lines = ColumnsWriter(examples, request, 0).WriteLabelledPairs();
    return counts;
  }
  const Shapes shapes = ShapesOf(examples);
  const size_t negatives = NegativesOfLines(shapes, request.dataset.file, request.options);
  WriteCounts counts = CountLines(examples, {.negatives = negatives}, request);
  counts.lines = ColumnsWriter(examples, request, negatives).WriteTuples(shapes);
  return counts;
}

void CheckColumns(const Dataset& dataset, const WriteOptions& options) {
  const LineExamples examples(dataset, options);
  if (WritesGrades(examples, options)) return;
  NegativesOfLines(ShapesOf(examples), dataset.file, options);
}

}  // namespace

extern const DatasetWriter kSentenceTransformersWriter{.format = "sentence_transformers",
                                                       .has_negatives_option = true,
                                                       .write = WriteColumns,
                                                       .check = CheckColumns};

}  // namespace tandem::data
