#include "data/sentence_transformers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <unordered_map>

#include "data/dataset_builder.h"
#include "data/json_line.h"
#include "data/line_documents.h"
#include "data/score_fields.h"

namespace tandem::data {
namespace {

using Kind = JsonField::Kind;
using Names = std::array<std::string_view, 4>;

constexpr Names kQueryNames = {"anchor", "query", "question", "sentence1"};
constexpr Names kPositiveNames = {"positive", "document", "answer", "sentence2"};
constexpr Names kScoreNames = {"score", "scores", "label", "labels"};
constexpr std::string_view kProbabilities = "probabilities";

// "negative" or "negative_N".
bool IsNegative(std::string_view key) {
  constexpr std::string_view kName = "negative";
  if (!key.starts_with(kName)) return false;
  key.remove_prefix(kName.size());
  if (key.empty()) return true;
  return key.size() > 1 && key[0] == '_' &&
         key.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

// The columns of one line.
struct Columns {
  const JsonField* query = nullptr;
  const JsonField* positive = nullptr;
  const JsonField* score = nullptr;          // or null
  const JsonField* probabilities = nullptr;  // or null
};

class ColumnsReader {
 public:
  ColumnsReader(LineReader& reader, ExampleSink& sink) : reader_(reader), sink_(sink) {}
  void Read();

 private:
  void ReadLine(std::span<const JsonField> fields);
  Columns Find(std::span<const JsonField> fields) const;
  const JsonField* FindOne(std::span<const JsonField> fields, const Names& names,
                           std::string_view what) const;
  const JsonField* RequireOne(std::span<const JsonField> fields, const Names& names,
                              std::string_view what) const;
  void CollectDocuments(std::span<const JsonField> fields, const Columns& columns);
  void AddProbabilities(const JsonField& field);
  void AddScores(const JsonField& field, std::string_view query);
  void AddMargins(std::span<const double> margins, std::string_view query);

  LineReader& reader_;
  ExampleSink& sink_;
  std::vector<LineDocument> documents_;  // of the line
  size_t positives_ = 0;                 // of the line, before the negatives
  // The positive that a query's margins are measured from.
  std::unordered_map<std::string, std::string> margin_positives_;
};

const JsonField* ColumnsReader::FindOne(std::span<const JsonField> fields, const Names& names,
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

const JsonField* ColumnsReader::RequireOne(std::span<const JsonField> fields, const Names& names,
                                           std::string_view what) const {
  if (const JsonField* found = FindOne(fields, names, what)) return found;
  throw reader_.Error(fmt::format("has no {}; expected one of the columns {}, {}, {} or {}", what,
                                  names[0], names[1], names[2], names[3]));
}

Columns ColumnsReader::Find(std::span<const JsonField> fields) const {
  Columns columns{.query = RequireOne(fields, kQueryNames, "query"),
                  .positive = RequireOne(fields, kPositiveNames, "positive"),
                  .score = FindOne(fields, kScoreNames, "scores"),
                  .probabilities = FindField(fields, kProbabilities)};
  if (columns.positive->is_empty_list()) {
    throw reader_.Error(fmt::format("\"{}\" is an empty list", columns.positive->key));
  }
  // A label in words is no score.
  if (columns.score != nullptr && columns.score->kind == Kind::kString) columns.score = nullptr;
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
    if (IsNegative(field.key)) {
      AppendDocuments(reader_, field, 0, documents_);
    } else if (&field != columns.query && &field != columns.positive && &field != columns.score &&
               &field != columns.probabilities) {
      sink_.CountIgnored(field.key);
    }
  }
}

void ColumnsReader::AddProbabilities(const JsonField& field) {
  sink_.SetScoreKind(ScoreKind::kProbabilities);
  if (field.kind == Kind::kNumbers && documents_.size() == 1) {
    documents_[0].score = ExpectedGrade(reader_, field.key, field.numbers);
    return;
  }
  const std::vector<double> grades = ExpectedGradeList(reader_, field, documents_.size());
  for (size_t i = 0; i < documents_.size(); ++i) documents_[i].score = grades[i];
}

void ColumnsReader::AddScores(const JsonField& field, std::string_view query) {
  const size_t negatives = documents_.size() - positives_;
  if (field.is_number() && negatives == 0 && positives_ == 1) {
    sink_.SetScoreKind(ScoreKind::kPairs);
    documents_[0].score = field.number;
  } else if (field.is_number() && negatives == 1 && positives_ == 1) {
    AddMargins({&field.number, 1}, query);
  } else if (field.kind == Kind::kNumbers && field.numbers.size() == negatives && positives_ == 1) {
    AddMargins(field.numbers, query);
  } else {
    sink_.SetScoreKind(ScoreKind::kLists);
    const std::span<const double> scores = ScoreList(reader_, field, documents_.size());
    for (size_t i = 0; i < documents_.size(); ++i) documents_[i].score = scores[i];
  }
}

void ColumnsReader::AddMargins(std::span<const double> margins, std::string_view query) {
  sink_.SetScoreKind(ScoreKind::kMargins);
  const std::string positive(documents_[0].text);
  if (margin_positives_.try_emplace(std::string(query), positive).first->second != positive) {
    throw reader_.Error(
        "has margins to another positive than an earlier line of the same query, so that its "
        "documents cannot be compared; give a list with the score of every document");
  }
  documents_[0].score = 0;
  for (size_t i = 0; i < margins.size(); ++i) documents_[i + 1].score = -margins[i];
}

void ColumnsReader::ReadLine(std::span<const JsonField> fields) {
  const Columns columns = Find(fields);
  const std::string_view query = RequireString(reader_, *columns.query);
  CollectDocuments(fields, columns);
  if (IsGiven(columns.probabilities)) AddProbabilities(*columns.probabilities);
  if (IsGiven(columns.score)) AddScores(*columns.score, query);
  JudgeLine(sink_, reader_, query, documents_);
}

void ColumnsReader::Read() {
  JsonLineParser parser;
  std::string_view line;
  while (reader_.Next(&line)) ReadLine(parser.Parse(reader_, line));
}

}  // namespace

void ReadColumns(LineReader& reader, ExampleSink& sink) { ColumnsReader(reader, sink).Read(); }

Dataset ReadColumns(LineReader& reader) {
  DatasetBuilder builder(reader);
  ReadColumns(reader, builder);
  return builder.Take();
}

Dataset ReadColumns(const std::filesystem::path& path, Warnings* warnings) {
  WarningScope scope(warnings);
  LineReader reader(path, scope.get());
  return ReadColumns(reader);
}

}  // namespace tandem::data
