// Inspects data for `tandem inspect`: texts, training lines, BEIR folders, judgements, runs,
// embeddings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json.h"
#include "base/log.h"
#include "commands/inspect/inspections.h"
#include "data/formats/trec_run.h"
#include "data/input/fields.h"
#include "data/lines/column_names.h"
#include "data/lines/json_line.h"
#include "data/lines/score_meaning.h"
#include "data/read_dataset.h"
#include "data/summaries/beir_summary.h"
#include "data/summaries/line_summary.h"
#include "data/tables/table_reader.h"
#include "embeddings/layouts/npy.h"

namespace tandem::app {
namespace {

namespace fs = std::filesystem;

Json Spread(const data::CountSpread& spread) {
  return {{"lowest", spread.lowest()}, {"median", spread.median()}, {"highest", spread.highest()}};
}

// Adds `key` if the count is not 0.
void AddIfAny(Json& found, const char* key, uint64_t count) {
  if (count > 0) found[key] = count;
}

Json TextRow(const data::TextSummary& texts) {
  Json row = {{"texts", texts.texts},
              {"bytes_of_text", texts.bytes},
              {"empty", texts.empty},
              {"copies", texts.copies}};
  AddIfAny(row, "repeated_ids", texts.repeated_ids);
  return row;
}

void WarnOfRepeatedIds(const fs::path& path, const data::TextSummary& texts) {
  if (texts.repeated_ids == 0) return;
  Warn(
      fmt::format("{}: {} texts have an _id that an earlier one has; training, encoding and "
                  "searching refuse the file",
                  path.native(), texts.repeated_ids));
}

Json InspectTexts(const fs::path& path, data::Warnings& warnings) {
  const data::TextSummary texts = data::SummarizeTexts(path, warnings);
  WarnOfRepeatedIds(path, texts);
  Json found = {{"kind", "texts"}};
  found.Update(TextRow(texts));
  found["exact"] = texts.is_exact;
  return found;
}

// What training reads a column as; "not read" also where a rule passes over it.
std::string RoleOf(const data::LineSummary& lines, const std::string& column) {
  const std::string_view role = data::RoleOfKey(lines.format, column);
  return role.empty() || lines.ignored.contains(column) ? "not read" : std::string(role);
}

// Returns how many documents have each label or score, and what that is where labels say it.
Json ScoreRows(const data::LineSummary& lines) {
  Json rows = Json::array();
  for (const auto& [score, documents] : lines.by_score) {
    Json row = {{"score", score}, {"documents", documents}};
    if (lines.meaning == data::ScoreMeaning::kLabels) {
      row["is"] = score == 1 ? "positive" : "negative";
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json ColumnRows(const data::LineSummary& lines) {
  Json rows = Json::array();
  for (const data::LineColumn& column : lines.columns) {
    rows.push_back({{"column", column.name},
                    {"type", column.type},
                    {"lines", column.lines},
                    {"used", !lines.ignored.contains(column.name)},
                    {"read_as", RoleOf(lines, column.name)}});
  }
  return rows;
}

// Returns a row for each document of the first lines.
Json ShownRows(const data::LineSummary& lines) {
  Json rows = Json::array();
  for (const data::ShownDocument& shown : lines.shown) {
    Json row = {{"line", shown.line},
                {"query", shown.query},
                {"is", shown.is_graded     ? "graded"
                       : shown.is_positive ? "positive"
                                           : "negative"},
                {"document", shown.document}};
    if (!std::isnan(shown.score)) row["score"] = shown.score;
    rows.push_back(std::move(row));
  }
  return rows;
}

void WarnOfUndecided(const fs::path& path, const data::LineSummary& lines) {
  if (lines.meaning != data::ScoreMeaning::kUndecided) return;
  data::Dataset dataset;
  dataset.file = path.native();
  dataset.undecided = lines.undecided;
  Warn(data::NeedsRule(dataset).what());
}

Json InspectTrainingLines(const fs::path& path, const data::LineRules& rules,
                          data::Warnings& warnings) {
  const data::LineSummary lines =
      data::SummarizeLines(path, data::FormatOfLines(path), rules, warnings);
  Json found = {{"kind", "training_lines"}, {"format", lines.format}, {"lines", lines.lines}};
  found["columns_of_first_lines"] = std::min(lines.lines, data::LineSummary::kFirstLines);
  found["columns"] = ColumnRows(lines);
  found["queries"] = lines.queries;
  found["documents"] = lines.documents;
  found["exact"] = lines.is_exact;
  found["positives"] = lines.positives;
  found["negatives"] = lines.negatives;
  AddIfAny(found, "graded", lines.graded);
  found["positives_per_line"] = Spread(lines.positives_per_line);
  found["negatives_per_line"] = Spread(lines.negatives_per_line);
  found["scores"] = {{"kind", data::ScoreKindName(lines.scores)},
                     {"meaning", data::ScoreMeaningName(lines.meaning)}};
  if (lines.scored > 0) {
    found["scores"].Update({{"documents", lines.scored},
                            {"lowest", lines.lowest_score},
                            {"highest", lines.highest_score}});
  }
  if (!lines.by_score.empty()) found["by_score"] = ScoreRows(lines);
  found["repeats"] = {{"pairs", lines.repeated_pairs},
                      {"positive_and_negative", lines.contradicting_pairs}};
  found["empty_texts"] = lines.empty_texts;
  AddIfAny(found, "negatives_left_out", lines.skipped);
  found["bytes_of_text"] = lines.text_bytes;
  found["first_lines"] = ShownRows(lines);
  WarnOfUndecided(path, lines);
  return found;
}

// Whether the file has texts, which have an id, or training lines, which have none.
bool HoldsTexts(const fs::path& path) {
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view line;
  if (!reader.Next(&line)) throw DataError(reader.file(), 0, "", "is empty");
  data::JsonLineParser parser;
  const auto fields = parser.Parse(reader, line);
  if (data::FindField(fields, "_id") != nullptr) return true;
  for (const char* query : {"query", "anchor", "question", "sentence1", "premise"}) {
    if (data::FindField(fields, query) != nullptr) return false;
  }
  // The reader of texts will then say that such a line lacks an "_id".
  return data::FindField(fields, "text") != nullptr;
}

uint64_t CountLines(const fs::path& path) {
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view line;
  uint64_t lines = 0;
  while (reader.Next(&line)) ++lines;
  return lines;
}

Json GradeRows(const data::JudgementSummary& judgements) {
  Json rows = Json::array();
  for (const auto& [grade, count] : judgements.grades) {
    rows.push_back({{"grade", grade}, {"judgements", count}});
  }
  return rows;
}

void WarnOfContradictions(const fs::path& path, uint64_t contradicting) {
  if (contradicting == 0) return;
  Warn(
      fmt::format("{}: {} judgements give another grade than an earlier one of the same query and "
                  "document; training and evaluation refuse the file",
                  path.native(), contradicting));
}

Json SplitRow(const data::SplitSummary& split) {
  const data::JudgementSummary& judgements = split.judgements;
  const data::CountSpread& relevant = judgements.relevant_per_query;
  return {{"split", split.name},
          {"queries", judgements.queries},
          {"judgements", judgements.judgements},
          {"above_0", judgements.above_zero},
          {"at_0", judgements.zero},
          {"below_0", judgements.below_zero},
          {"lowest_grade", judgements.lowest_grade},
          {"highest_grade", judgements.highest_grade},
          {"relevant_per_query", fmt::format("{} to {}, median {}", relevant.lowest(),
                                             relevant.highest(), relevant.median())},
          {"repeated", judgements.repeated},
          {"unknown_queries", split.unknown_queries},
          {"unknown_documents", split.unknown_documents},
          {"documents_of_passages", split.documents_of_passages}};
}

std::string Are(uint64_t count) { return fmt::format("{} {}", count, count == 1 ? "is" : "are"); }

// A folder with a part of a corpus and all judgements, or with passages, looks right until it is
// measured.
void SayUnknown(const fs::path& path, const data::SplitSummary& split) {
  const std::string of =
      fmt::format("{}: of the documents that the split {} judges,", path.native(), split.name);
  if (split.documents_of_passages > 0) {
    Note(
        fmt::format("{} {} in the corpus as passages: measure with --by-document, which ranks "
                    "documents by their best passages",
                    of, Are(split.documents_of_passages)));
  }
  if (split.unknown_documents == split.documents_of_passages) return;
  Warn(fmt::format(
      "{} {} not in the corpus, as when the folder holds only a part of it: training leaves these "
      "judgements out, and measures count their documents as not found, which lowers values; give "
      "the whole corpus, or take them out of qrels/{}.tsv",
      of, Are(split.unknown_documents - split.documents_of_passages), split.name));
}

void WarnOfOverlap(const fs::path& path, const data::SplitOverlap& overlap) {
  if (overlap.query_texts == 0 && overlap.queries == 0) return;
  Warn(fmt::format(
      "{}: the splits {} and {} share queries ({} by id, {} by text); a model that is "
      "trained on one split has seen them when it is measured on the other",
      path.native(), overlap.first, overlap.second, overlap.queries, overlap.query_texts));
}

Json GradesOfSplits(const data::BeirSummary& summary) {
  Json rows = Json::array();
  for (const data::SplitSummary& split : summary.splits) {
    for (const auto& [grade, count] : split.judgements.grades) {
      rows.push_back({{"split", split.name}, {"grade", grade}, {"judgements", count}});
    }
  }
  return rows;
}

}  // namespace

Json InspectJsonLines(const fs::path& path, const data::LineRules& rules) {
  data::Warnings warnings;
  const bool texts = HoldsTexts(path);
  if (texts && !rules.empty()) {
    throw UsageError(
        fmt::format("--labels, --ignore-columns and --ids say what training lines mean, but {} "
                    "holds texts",
                    path.native()));
  }
  Json found = texts ? InspectTexts(path, warnings) : InspectTrainingLines(path, rules, warnings);
  warnings.Report();
  return found;
}

bool HoldsTrainingTable(const fs::path& path) {
  if (!data::IsTablePath(path)) return false;
  const std::string name = path.filename().native();
  if (name.ends_with(".csv") || name.ends_with(".csv.gz")) return true;
  data::Warnings ignored;
  data::LineReader reader(path, ignored);
  std::string_view line;
  if (!reader.Next(&line)) return false;
  std::vector<std::string_view> names(static_cast<size_t>(1 + std::ranges::count(line, '\t')));
  data::SplitAtTabs(line, names);
  const auto is_query = [](std::string_view key) { return data::IsOneOf(key, data::kQueryNames); };
  const auto is_positive = [](std::string_view key) {
    return data::IsOneOf(key, data::kPositiveNames);
  };
  return std::ranges::any_of(names, is_query) && std::ranges::any_of(names, is_positive);
}

Json InspectTrainingTable(const fs::path& path, const data::LineRules& rules) {
  data::Warnings warnings;
  Json found = InspectTrainingLines(path, rules, warnings);
  warnings.Report();
  return found;
}

Json InspectBeir(const fs::path& path) {
  data::Warnings warnings;
  const data::BeirSummary summary = data::SummarizeBeir(path, warnings);
  Json found = {{"kind", "beir"}};
  found["corpus"] = TextRow(summary.corpus);
  found["queries"] = TextRow(summary.queries);
  bool exact = summary.corpus.is_exact && summary.queries.is_exact;
  found["splits"] = Json::array();
  for (const data::SplitSummary& split : summary.splits) {
    exact = exact && split.judgements.is_exact;
    found["splits"].push_back(SplitRow(split));
    WarnOfContradictions(path / "qrels" / (split.name + ".tsv"), split.judgements.contradicting);
    SayUnknown(path, split);
  }
  // Judgements with very many distinct grades are not counted by grade. They get no rows, because
  // empty rows would read as "none".
  Json grades = GradesOfSplits(summary);
  if (!grades.empty()) found["grades"] = std::move(grades);
  found["shared_by_splits"] = Json::array();
  for (const data::SplitOverlap& overlap : summary.overlaps) {
    found["shared_by_splits"].push_back({{"splits", overlap.first + ", " + overlap.second},
                                         {"queries", overlap.queries},
                                         {"query_texts", overlap.query_texts},
                                         {"relevant_documents", overlap.documents}});
    WarnOfOverlap(path, overlap);
  }
  found["exact"] = exact;
  WarnOfRepeatedIds(path / "corpus.jsonl", summary.corpus);
  WarnOfRepeatedIds(path / "queries.jsonl", summary.queries);
  warnings.Report();
  return found;
}

Json InspectJudgements(const fs::path& path) {
  data::Warnings warnings;
  const data::JudgementSummary judgements = data::SummarizeJudgements(path, warnings);
  WarnOfContradictions(path, judgements.contradicting);
  warnings.Report();
  Json found = {{"kind", "judgements"},
                {"queries", judgements.queries},
                {"judgements", judgements.judgements},
                {"documents", judgements.documents},
                {"exact", judgements.is_exact},
                {"repeated", judgements.repeated},
                {"relevant_per_query", Spread(judgements.relevant_per_query)},
                {"lowest_grade", judgements.lowest_grade},
                {"highest_grade", judgements.highest_grade}};
  Json grades = GradeRows(judgements);
  if (!grades.empty()) found["grades"] = std::move(grades);
  return found;
}

Json InspectTrecRun(const fs::path& path, int threads) {
  const data::Run run = data::ReadTrecRun(path, nullptr, threads);
  data::CountSpread per_query;
  size_t results = 0;
  for (const data::QueryResults& query : run.queries()) {
    results += query.results.size();
    per_query.Add(query.results.size());
  }
  return {{"kind", "run"},
          {"queries", run.queries().size()},
          {"results", results},
          {"results_per_query", Spread(per_query)}};
}

Json InspectNpy(const fs::path& path) {
  const embeddings::NpyShape matrix = embeddings::ReadNpyShape(path);
  return {{"kind", "npy"}, {"rows", matrix.rows}, {"columns", matrix.columns}};
}

Json InspectEmbeddings(const fs::path& path) {
  const embeddings::NpyShape matrix = embeddings::ReadNpyShape(path / "embeddings.npy");
  Json found = {{"kind", "embeddings"}, {"texts", matrix.rows}, {"width", matrix.columns}};
  if (fs::exists(path / "ids.txt")) {
    const uint64_t ids = CountLines(path / "ids.txt");
    found["ids"] = ids;
    if (ids != matrix.rows) {
      throw DataError((path / "ids.txt").native(), 0, "",
                      fmt::format("has {} ids, and embeddings.npy {} rows; they do not belong "
                                  "together",
                                  ids, matrix.rows));
    }
  }
  return found;
}

}  // namespace tandem::app
