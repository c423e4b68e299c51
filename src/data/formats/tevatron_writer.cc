// Writes Tevatron's training lines: one for each query that has a positive, with all ids and
// titles.
#include <cmath>
#include <span>
#include <string>

#include "data/formats/dataset_writer.h"
#include "data/input/text_output.h"
#include "data/lines/json_text.h"
#include "data/lines/line_examples.h"

namespace tandem::data {
namespace {

class TevatronLine {
 public:
  explicit TevatronLine(const LineExamples& examples) : examples_(examples) {}

  const std::string& Of(const LineExample& example) {
    const Texts& queries = examples_.dataset().queries;
    line_ = R"({"query_id": )";
    AppendJsonString(line_, queries.id(example.query));
    line_ += R"(, "query": )";
    AppendText(line_, queries, example.query);
    AddPassages("positive_passages", example.positives);
    AddPassages("negative_passages", example.negatives);
    line_ += "}\n";
    return line_;
  }

 private:
  void AddPassages(std::string_view key, std::span<const ExampleDocument> documents) {
    line_.append(", \"").append(key).append("\": [");
    for (size_t i = 0; i < documents.size(); ++i) {
      if (i > 0) line_ += ", ";
      AddPassage(documents[i]);
    }
    line_ += ']';
  }

  void AddPassage(const ExampleDocument& passage) {
    const Texts& documents = examples_.dataset().documents;
    const std::string_view id = documents.id(passage.document);
    line_ += R"({"docid": )";
    AppendJsonString(line_, id);
    line_ += R"(, "title": )";
    AppendJsonString(line_, documents.title(passage.document), id);
    line_ += R"(, "text": )";
    AppendJsonString(line_, documents.body(passage.document), id);
    if (!std::isnan(passage.score)) AddScore(passage.score);
    line_ += '}';
  }

  void AddScore(double score) {
    if (examples_.scores() == ScoreKind::kProbabilities) {
      line_ += R"(, "probabilities": )";
      AppendProbabilities(line_, score);
    } else {
      line_ += R"(, "score": )";
      AppendJsonNumber(line_, score);
    }
  }

  const LineExamples& examples_;
  std::string line_;
};

WriteCounts WriteTevatron(const WriteRequest& request) {
  const LineExamples examples(request.dataset, request.options);
  WriteCounts counts = CountLines(examples, {.has_ids = true, .has_titles = true}, request);
  TextOutput file(request.output);
  TevatronLine line(examples);
  examples.ForEach([&](const LineExample& example) {
    CountGradesBelow1(examples, example, request);
    if (examples.scores() == ScoreKind::kMargins) {
      request.warnings.Count(request.output.native(),
                             "queries with margins, written as scores beside the positive's 0", 0,
                             request.dataset.queries.id(example.query));
    }
    file.Write(line.Of(example));
    ++counts.lines;
  });
  file.Commit();
  return counts;
}

}  // namespace

extern const DatasetWriter kTevatronWriter{.format = "tevatron", .write = WriteTevatron};

}  // namespace tandem::data
