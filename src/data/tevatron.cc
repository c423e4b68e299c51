#include "data/tevatron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "data/dataset_builder.h"
#include "data/json_fields.h"
#include "data/json_line.h"
#include "data/score_fields.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

constexpr std::string_view kPositives = "positive_passages";
constexpr std::string_view kNegatives = "negative_passages";
constexpr std::array<std::string_view, 4> kKeys = {"query_id", "query", kPositives, kNegatives};

class TevatronReader {
 public:
  TevatronReader(LineReader& reader, ExampleSink& sink) : reader_(reader), sink_(sink) {}

  void Read() {
    JsonLineParser parser;
    std::string_view line;
    while (reader_.Next(&line)) ReadLine(parser.Parse(reader_, line));
  }

 private:
  void ReadLine(std::span<const JsonField> fields) {
    const std::string_view id = RequireId(reader_, fields, "query_id");
    const uint32_t query = sink_.QueryOfId(id, RequireText(reader_, fields, "query", id));
    if (AddPassages(fields, kPositives, query, 1) == 0) {
      throw reader_.Error(fmt::format("has no \"{}\"", kPositives), id);
    }
    AddPassages(fields, kNegatives, query, 0);
    for (const JsonField& field : fields) {
      if (std::find(kKeys.begin(), kKeys.end(), field.key) == kKeys.end()) {
        sink_.CountIgnored(field.key);
      }
    }
  }

  // Returns how many there are.
  size_t AddPassages(std::span<const JsonField> fields, std::string_view key, uint32_t query,
                     double grade) {
    const JsonField* passages = FindField(fields, key);
    if (!IsGiven(passages) || passages->is_empty_list()) return 0;
    if (passages->kind != Kind::kObjects) {
      throw reader_.Error(
          fmt::format("\"{}\" is {}; expected a list of {{\"docid\", \"title\", \"text\"}}", key,
                      KindName(passages->kind)));
    }
    for (const JsonField::Object& passage : passages->objects) {
      const std::string_view id = RequireId(reader_, passage, "docid");
      const DocumentText read = RequireDocumentText(reader_, passage, id, &joined_);
      const uint32_t document = sink_.DocumentOfId(id, read.text, read.title_bytes);
      sink_.Judge(query, document, grade, Score(passage, id));
    }
    return passages->objects.size();
  }

  double Score(std::span<const JsonField> passage, std::string_view id) {
    const JsonField* score = FindField(passage, "score");
    const JsonField* probabilities = FindField(passage, "probabilities");
    if (IsGiven(score)) {
      if (!score->is_number()) {
        throw reader_.Error(
            fmt::format("\"score\" is {}; expected a number", KindName(score->kind)), id);
      }
      sink_.SetScoreKind(ScoreKind::kLists);
      return score->number;
    }
    if (!IsGiven(probabilities)) return kNoScore;
    sink_.SetScoreKind(ScoreKind::kProbabilities);
    if (probabilities->kind != Kind::kNumbers) {
      throw reader_.Error(fmt::format("\"probabilities\" is {}; expected a list of numbers",
                                      KindName(probabilities->kind)),
                          id);
    }
    return ExpectedGrade(reader_, "probabilities", probabilities->numbers);
  }

  LineReader& reader_;
  ExampleSink& sink_;
  std::string joined_;  // title and text
};

}  // namespace

void ReadTevatron(LineReader& reader, ExampleSink& sink) { TevatronReader(reader, sink).Read(); }

Dataset ReadTevatron(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadTevatron(reader, builder);
  return builder.Take();
}

Dataset ReadTevatron(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTevatron(reader);
}

}  // namespace tandem::data
