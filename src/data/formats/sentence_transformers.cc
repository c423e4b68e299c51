#include "data/formats/sentence_transformers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hashes/text_hash.h"
#include "data/lines/column_names.h"
#include "data/lines/dataset_builder.h"
#include "data/lines/json_line.h"
#include "data/lines/key_roles.h"
#include "data/lines/line_documents.h"
#include "data/lines/score_fields.h"
#include "data/tables/table_lines.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;

constexpr std::string_view kProbabilities = "probabilities";
constexpr std::string_view kScoreRole = "label or score";
constexpr FormatKeys kSentenceTransformersKeys = {
    .query = "\"anchor\", \"query\", \"question\", \"sentence1\" or \"premise\"",
    .positive = "\"positive\", \"document\", \"answer\", \"sentence2\" or \"hypothesis\"",
    .negative = "\"negative\", \"negative_1\", \"negative_2\", ...",
    .score = "\"score\", \"scores\", \"label\", \"labels\" or \"probabilities\"",
    .columns = true};
using Names = std::span<const std::string_view>;

// The columns of one line.
struct Columns {
  const JsonField* query = nullptr;
  const JsonField* positive = nullptr;
  const JsonField* score = nullptr;          // or null
  const JsonField* probabilities = nullptr;  // or null
};

class ColumnsReader {
 public:
  ColumnsReader(LineReader& reader, const LineRules& rules, ExampleSink& sink)
      : reader_(reader),
        sink_(sink),
        parser_(rules.ignored),
        scores_(reader, rules),
        has_labels_(!rules.labels.empty()),
        unread_(reader, sink, kSentenceTransformersKeys) {}
  void Read();

 private:
  void ReadLine(std::span<const JsonField> fields);
  Columns Find(std::span<const JsonField> fields);
  const JsonField* FindOne(std::span<const JsonField> fields, Names names,
                           std::string_view what) const;
  const JsonField* RequireOne(std::span<const JsonField> fields, Names names, std::string_view what,
                              KeyRole role);
  void CollectDocuments(std::span<const JsonField> fields, const Columns& columns);
  LineScores AddProbabilities(const JsonField& field);
  LineScores AddScores(const JsonField& field);
  void AddMargins(const JsonField& field);
  void CheckCount(const JsonField& field) const;
  uint64_t Apart(std::string_view query, const LineScores& scores);

  LineReader& reader_;
  ExampleSink& sink_;
  JsonLineParser parser_;
  ScoreReader scores_;
  bool has_labels_;  // the rules say what labels stand for
  UnreadKeys unread_;
  std::vector<LineDocument> documents_;  // of the line
  size_t positives_ = 0;                 // of the line, before the negatives
  // For each query, by its hash, the scale of the scores on its first scored line, with which the
  // scores on its later lines are compared.
  std::unordered_map<uint64_t, uint64_t> first_scores_;
};

const JsonField* ColumnsReader::FindOne(std::span<const JsonField> fields, Names names,
                                        std::string_view what) const {
  const JsonField* found = nullptr;
  for (std::string_view name : names) {
    const JsonField* field = FindField(fields, name);
    if (field == nullptr) continue;
    if (found != nullptr) {
      throw reader_.Error(
          fmt::format("has both \"{}\" and \"{}\" for the {}", found->key, name, what));
    }
    found = field;
  }
  return found;
}

const JsonField* ColumnsReader::RequireOne(std::span<const JsonField> fields, Names names,
                                           std::string_view what, KeyRole role) {
  if (const JsonField* found = FindOne(fields, names, what)) return found;
  unread_.LookFor(role, fields);
  std::vector<std::string_view> found;
  for (const JsonField& field : fields) found.push_back(field.key);
  throw reader_.Error(fmt::format(
      "has no {}; expected one of the columns {} or {}, found {} (`tandem import` makes a data set "
      "of columns with other names)",
      what, fmt::join(names.first(names.size() - 1), ", "), names.back(),
      found.empty() ? "none" : fmt::format("{}", fmt::join(found, ", "))));
}

Columns ColumnsReader::Find(std::span<const JsonField> fields) {
  Columns columns{.query = RequireOne(fields, kQueryNames, "query", KeyRole::kQuery),
                  .positive = RequireOne(fields, kPositiveNames, "positive", KeyRole::kPositive),
                  .score = FindOne(fields, kScoreNames, "scores"),
                  .probabilities = FindField(fields, kProbabilities)};
  if (columns.positive->is_empty_list()) {
    throw reader_.Error(fmt::format("\"{}\" is an empty list", columns.positive->key));
  }
  if (IsGiven(columns.score) && IsGiven(columns.probabilities)) {
    throw reader_.Error(fmt::format("has both \"{}\" and \"{}\" for the scores", columns.score->key,
                                    kProbabilities));
  }
  return columns;
}

void ColumnsReader::CollectDocuments(std::span<const JsonField> fields, const Columns& columns) {
  documents_.clear();
  AppendDocuments(reader_, *columns.positive, 1, documents_);
  positives_ = documents_.size();
  for (const JsonField& field : fields) {
    if (IsNegativeName(field.key)) AppendDocuments(reader_, field, 0, documents_);
  }
  const UnreadKeys::Line line{.negatives = documents_.size() > positives_,
                              .scores = IsGiven(columns.score) || IsGiven(columns.probabilities)};
  for (const JsonField& field : fields) {
    if (!IsNegativeName(field.key) && &field != columns.query && &field != columns.positive &&
        &field != columns.score && &field != columns.probabilities) {
      unread_.Pass(field, line);
    }
  }
}

LineScores ColumnsReader::AddProbabilities(const JsonField& field) {
  if (field.kind == Kind::kNumbers && documents_.size() == 1) {
    documents_[0].score = ExpectedGrade(reader_, field.key, field.numbers);
  } else {
    const std::vector<double> grades = ExpectedGradeList(reader_, field, documents_.size());
    for (size_t i = 0; i < documents_.size(); ++i) documents_[i].score = grades[i];
  }
  return {
      .kind = ScoreKind::kProbabilities, .key = field.key, .open = documents_.size() == positives_};
}

LineScores ColumnsReader::AddScores(const JsonField& field) {
  const size_t negatives = documents_.size() - positives_;
  const bool is_scalar = ScoreReader::IsScalar(field);
  if (is_scalar && negatives == 0 && positives_ == 1) {
    documents_[0].score = scores_.Number(field.key, field);
    return {.kind = ScoreKind::kPairs, .key = field.key, .open = true, .is_said = has_labels_};
  }
  if (positives_ == 1 && negatives > 0 &&
      (is_scalar ? 1 : ScoreReader::Count(field)) == negatives) {
    AddMargins(field);
    return {.kind = ScoreKind::kMargins, .key = field.key};
  }
  const std::span<const double> scores = scores_.List(field, documents_.size());
  for (size_t i = 0; i < documents_.size(); ++i) documents_[i].score = scores[i];
  return {.kind = ScoreKind::kLists, .key = field.key, .open = negatives == 0};
}

void ColumnsReader::AddMargins(const JsonField& field) {
  documents_[0].score = 0;
  if (ScoreReader::IsScalar(field)) {
    documents_[1].score = 0 - scores_.Number(field.key, field);  // no -0
    return;
  }
  CheckCount(field);
  const std::span<const double> margins = scores_.List(field, documents_.size() - 1);
  for (size_t i = 0; i < margins.size(); ++i) documents_[i + 1].score = 0 - margins[i];
}

// With one null among the negatives, as many numbers as there are negatives could also be a score
// for every document that is there.
void ColumnsReader::CheckCount(const JsonField& field) const {
  size_t nulls = 0;
  bool has_their_nulls = field.kind == Kind::kValues;
  for (size_t i = 1; i < documents_.size(); ++i) {
    if (!documents_[i].is_null) continue;
    ++nulls;
    has_their_nulls = has_their_nulls && field.values[i - 1].kind == Kind::kNull;
  }
  if (nulls != 1 || has_their_nulls) return;
  throw reader_.Error(fmt::format(
      "\"{}\" has {} numbers for a positive and {} negatives of which one is null: they could be "
      "margins, or scores of the documents that are there; give null for the null one too",
      field.key, documents_.size() - 1, documents_.size() - 1));
}

// Scores of one query that cannot be compared with those of its first scored line stand apart.
uint64_t ColumnsReader::Apart(std::string_view query, const LineScores& scores) {
  if (scores.open || scores.kind == ScoreKind::kNone || scores.kind == ScoreKind::kProbabilities) {
    return 0;
  }
  constexpr uint64_t kScores = 1;
  const uint64_t scale =
      scores.kind == ScoreKind::kMargins ? TextHash(documents_[0].text) | 2 : kScores;
  const uint64_t first = first_scores_.try_emplace(TextHash(query), scale).first->second;
  return first == scale ? 0 : scale;
}

void ColumnsReader::ReadLine(std::span<const JsonField> fields) {
  const Columns columns = Find(fields);
  const std::string_view query = RequireString(reader_, *columns.query);
  CollectDocuments(fields, columns);
  LineScores scores;
  if (IsGiven(columns.probabilities)) scores = AddProbabilities(*columns.probabilities);
  if (IsGiven(columns.score)) scores = AddScores(*columns.score);
  const bool has_scores = scores.kind != ScoreKind::kNone;
  if (has_scores) {
    sink_.SetScores(scores);
  } else if (documents_.size() > 1 && documents_.size() == positives_) {
    sink_.SetScores({.kind = ScoreKind::kNone, .key = columns.positive->key, .open = true});
  }
  DropMissing(sink_, reader_, has_scores && !scores_.has_words() ? &scores : nullptr, documents_);
  JudgeLine(sink_, reader_, query, Apart(query, scores), documents_);
  scores_.EndLine();
}

void ColumnsReader::Read() {
  std::string_view line;
  while (reader_.Next(&line)) ReadLine(parser_.Parse(reader_, line));
  scores_.EndFile();
}

}  // namespace

void ReadColumns(LineReader& reader, const LineRules& rules, ExampleSink& sink) {
  ColumnsReader(reader, rules, sink).Read();
}

Dataset ReadColumns(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadColumns(reader, {}, builder);
  return builder.Take();
}

Dataset ReadColumns(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadColumns(reader);
}

ColumnNames ColumnNamesOf(const std::filesystem::path& path) {
  Warnings ignored;  // the file's own reader counts them
  LineReader reader = OpenTrainingLines(path, ignored);
  std::string_view line;
  if (!reader.Next(&line)) throw DataError(reader.file(), 0, "", "holds no example");
  JsonLineParser parser;
  ColumnNames found;
  for (const JsonField& field : parser.Parse(reader, line)) {
    const std::string_view role = ColumnRole(field.key);
    if (role == "query") found.query = field.key;
    if (role == "positive") found.positive = field.key;
    if (role == kScoreRole) found.score = field.key;
  }
  return found;
}

std::string_view ColumnRole(std::string_view key) {
  if (IsOneOf(key, kQueryNames)) return "query";
  if (IsOneOf(key, kPositiveNames)) return "positive";
  if (IsNegativeName(key)) return "negative";
  if (key == kProbabilities) return "probabilities of grades";
  return IsOneOf(key, kScoreNames) ? kScoreRole : "";
}

}  // namespace tandem::data
