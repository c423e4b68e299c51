#include "data/formats/tevatron.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "data/lines/dataset_builder.h"
#include "data/lines/json_fields.h"
#include "data/lines/json_line.h"
#include "data/lines/key_roles.h"
#include "data/lines/score_fields.h"
#include "data/texts/empty_text.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

constexpr std::string_view kPositivePassages = "positive_passages";
constexpr std::string_view kNegativePassages = "negative_passages";
constexpr std::array<std::string_view, 4> kTevatronKeys = {"query_id", "query", kPositivePassages,
                                                           kNegativePassages};

constexpr FormatKeys kFormatKeys = {.query = "\"query\"",
                                    .positive = "\"positive_passages\"",
                                    .negative = "\"negative_passages\"",
                                    .score = "\"score\" and \"probabilities\" of passages"};

bool IsPassageKey(std::string_view key) {
  constexpr std::array<std::string_view, 5> kPassageKeys = {"docid", "title", "text", "score",
                                                            "probabilities"};
  return std::find(kPassageKeys.begin(), kPassageKeys.end(), key) != kPassageKeys.end();
}

class TevatronReader {
 public:
  TevatronReader(LineReader& reader, const LineRules& rules, ExampleSink& sink)
      : reader_(reader),
        sink_(sink),
        parser_(rules.ignored),
        scores_(reader, rules),
        unread_(reader, sink, kFormatKeys),
        ids_of_texts_(rules.ids_of_texts) {}

  void Read() {
    std::string_view line;
    while (reader_.Next(&line)) {
      ReadLine(parser_.Parse(reader_, line));
      scores_.EndLine();
    }
    scores_.EndFile();
  }

 private:
  void ReadLine(std::span<const JsonField> fields) {
    const std::string_view id = IdOf(fields, "query_id");
    const std::string_view text = RequireText(reader_, fields, "query", id);
    const uint32_t query =
        id.empty() ? sink_.QueryOfText(text, fmt::format("{}", reader_.line_number()), 0)
                   : sink_.QueryOfId(id, text);
    if (AddPassages(fields, kPositivePassages, query, 1) == 0) {
      throw reader_.Error(fmt::format("has no \"{}\"", kPositivePassages), id);
    }
    const bool has_negatives = AddPassages(fields, kNegativePassages, query, 0) > 0;
    for (const JsonField& field : fields) {
      if (std::find(kTevatronKeys.begin(), kTevatronKeys.end(), field.key) == kTevatronKeys.end()) {
        unread_.Pass(field, {.negatives = has_negatives});
      }
    }
  }

  // The id under `key`; "" where texts have none, or where they are known without it.
  std::string_view IdOf(std::span<const JsonField> fields, std::string_view key) const {
    if (ids_of_texts_ || !IsGiven(FindField(fields, key))) return {};
    return RequireId(reader_, fields, key);
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
    for (size_t i = 0; i < passages->objects.size(); ++i) {
      AddPassage(passages->objects[i], {query, grade, key, i + 1});
    }
    return passages->objects.size();
  }

  struct Place {
    uint32_t query = 0;
    double grade = 0;
    std::string_view key;
    size_t number = 0;  // from 1
  };

  void AddPassage(const JsonField::Object& passage, const Place& place) {
    const JsonField* text = FindField(passage, "text");
    const bool is_null = passage.empty() || (text != nullptr && !IsGiven(text));
    if (is_null && place.grade == 0) return sink_.CountSkipped();
    if (passage.empty()) {
      throw reader_.Error(
          fmt::format("\"{}\" has null for a positive; expected a passage", place.key));
    }
    const std::string_view id = IdOf(passage, "docid");
    const DocumentText read = RequireDocumentText(reader_, passage, id, &joined_);
    if (place.grade == 0 && IsEmptyText(read.text)) return sink_.CountSkipped();
    const double score = Score(passage, id);
    for (const JsonField& field : passage) {
      if (!IsPassageKey(field.key)) unread_.Pass(field, {.scores = !std::isnan(score)}, place.key);
    }
    const uint32_t document =
        id.empty() ? sink_.DocumentOfText(
                         read.text,
                         fmt::format("{}:{}:{}", reader_.line_number(), place.key, place.number),
                         read.title_bytes)
                   : sink_.DocumentOfId(id, read.text, read.title_bytes);
    sink_.Judge(place.query, document, place.grade, score);
  }

  double Score(std::span<const JsonField> passage, std::string_view id) {
    const JsonField* score = FindField(passage, "score");
    const JsonField* probabilities = FindField(passage, "probabilities");
    if (IsGiven(score)) {
      if (!ScoreReader::IsScalar(*score)) {
        throw reader_.Error(
            fmt::format("\"score\" is {}; expected a number", KindName(score->kind)), id);
      }
      sink_.SetScores({.kind = ScoreKind::kLists, .key = "score"});
      return scores_.Number("score", *score);
    }
    if (!IsGiven(probabilities)) return kNoScore;
    sink_.SetScores({.kind = ScoreKind::kProbabilities, .key = "probabilities"});
    if (probabilities->kind != Kind::kNumbers) {
      throw reader_.Error(fmt::format("\"probabilities\" is {}; expected a list of numbers",
                                      KindName(probabilities->kind)),
                          id);
    }
    return ExpectedGrade(reader_, "probabilities", probabilities->numbers);
  }

  LineReader& reader_;
  ExampleSink& sink_;
  JsonLineParser parser_;
  ScoreReader scores_;
  UnreadKeys unread_;
  bool ids_of_texts_;
  std::string joined_;  // title and text
};

}  // namespace

void ReadTevatron(LineReader& reader, const LineRules& rules, ExampleSink& sink) {
  TevatronReader(reader, rules, sink).Read();
}

Dataset ReadTevatron(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadTevatron(reader, {}, builder);
  return builder.Take();
}

Dataset ReadTevatron(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadTevatron(reader);
}

std::string_view TevatronRole(std::string_view key) {
  if (key == "query_id") return "id of the query";
  if (key == "query") return "query";
  if (key == kPositivePassages) return "positive";
  return key == kNegativePassages ? "negative" : "";
}

}  // namespace tandem::data
