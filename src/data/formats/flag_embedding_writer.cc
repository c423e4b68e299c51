// Writes FlagEmbedding's training lines: one for each query that has a positive.
#include <span>
#include <string>

#include "data/formats/dataset_writer.h"
#include "data/input/text_output.h"
#include "data/lines/json_text.h"
#include "data/lines/line_examples.h"

namespace tandem::data {
namespace {

class FlagEmbeddingLine {
 public:
  explicit FlagEmbeddingLine(const LineExamples& examples) : examples_(examples) {}

  const std::string& Of(const LineExample& example) {
    line_ = R"({"query": )";
    AppendText(line_, examples_.dataset().queries, example.query);
    AddTexts("pos", example.positives);
    AddTexts("neg", example.negatives);
    if (examples_.scores() != ScoreKind::kNone && example.has_all_scores()) {
      AddScores("pos", example.positives);
      AddScores("neg", example.negatives);
    }
    if (!examples_.dataset().query_prompt.empty()) {
      line_ += R"(, "prompt": )";
      AppendJsonString(line_, examples_.dataset().query_prompt);
    }
    line_ += "}\n";
    return line_;
  }

 private:
  void BeginList(std::string_view key, std::string_view suffix) {
    line_.append(", \"").append(key).append(suffix).append("\": [");
  }

  void AddTexts(std::string_view key, std::span<const ExampleDocument> documents) {
    BeginList(key, "");
    for (size_t i = 0; i < documents.size(); ++i) {
      if (i > 0) line_ += ", ";
      AppendText(line_, examples_.dataset().documents, documents[i].document);
    }
    line_ += ']';
  }

  void AddScores(std::string_view key, std::span<const ExampleDocument> documents) {
    const bool probabilities = examples_.scores() == ScoreKind::kProbabilities;
    BeginList(key, probabilities ? "_probabilities" : "_scores");
    for (size_t i = 0; i < documents.size(); ++i) {
      if (i > 0) line_ += ", ";
      if (probabilities) {
        AppendProbabilities(line_, documents[i].score);
      } else {
        AppendJsonNumber(line_, documents[i].score);
      }
    }
    line_ += ']';
  }

  const LineExamples& examples_;
  std::string line_;
};

// Counts the scores that the format cannot hold, or gives another meaning.
void CountScores(const LineExamples& examples, const LineExample& example,
                 const WriteRequest& request) {
  if (examples.scores() == ScoreKind::kNone) return;
  const std::string_view id = examples.dataset().queries.id(example.query);
  CountGradesBelow1(examples, example, request);
  if (!example.has_all_scores()) {
    request.warnings.Count(request.output.native(),
                           "queries that have scores for some documents only, written without", 0,
                           id);
  } else if (examples.scores() == ScoreKind::kMargins) {
    request.warnings.Count(request.output.native(),
                           "queries with margins, written as scores beside the positive's 0", 0,
                           id);
  }
}

WriteCounts WriteFlagEmbedding(const WriteRequest& request) {
  const LineExamples examples(request.dataset, request.options);
  CheckNoneApart(examples, "flag_embedding");
  WriteCounts counts = CountLines(examples, {.has_prompt = true}, request);
  TextOutput file(request.output);
  FlagEmbeddingLine line(examples);
  examples.ForEach([&](const LineExample& example) {
    CountScores(examples, example, request);
    file.Write(line.Of(example));
    ++counts.lines;
  });
  file.Commit();
  return counts;
}

void CheckFlagEmbedding(const Dataset& dataset, const WriteOptions& options) {
  CheckNoneApart(LineExamples(dataset, options), "flag_embedding");
}

}  // namespace

extern const DatasetWriter kFlagEmbeddingWriter{
    .format = "flag_embedding", .write = WriteFlagEmbedding, .check = CheckFlagEmbedding};

}  // namespace tandem::data
