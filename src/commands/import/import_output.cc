#include <fmt/format.h>

#include <string>

#include "base/log.h"
#include "commands/import/import_command.h"
#include "report/tables/one_line.h"

namespace tandem::app {
namespace {

using import_data::ImportReport;

void AddCount(Json& found, const char* key, uint64_t count) {
  if (count > 0) found[key] = count;
}

Json SourceRows(const ImportReport& report) {
  Json rows = Json::array();
  for (const import_data::SourceReport& source : report.sources) {
    rows.push_back({{"file", source.file}, {"read_as", source.description}, {"rows", source.rows}});
  }
  return rows;
}

Json ColumnRows(const ImportReport& report) {
  Json rows = Json::array();
  for (const import_data::SourceReport& source : report.sources) {
    for (const std::string& reason : source.reasons) {
      Json row = Json::object();
      if (report.sources.size() > 1) row["file"] = source.file;
      row["understood"] = reason;
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

// The place of a kind's first row: for a person, of the only file its line alone, so that it fits
// into a table.
std::string FirstOf(const ImportReport& report, const import_data::RejectedKind& kind,
                    bool with_file) {
  if (!with_file && report.sources.size() == 1) return "line " + kind.first_line;
  return fmt::format("{}:{}", kind.first_file, kind.first_line);
}

Json RejectedRows(const ImportReport& report, bool whole_texts) {
  Json rows = Json::array();
  for (const import_data::RejectedKind& kind : report.rejected_kinds) {
    rows.push_back({{"rejected", kind.kind},
                    {"rows", kind.rows},
                    {"first", FirstOf(report, kind, whole_texts)},
                    {"reason", kind.first_reason}});
  }
  return rows;
}

Json GradeRows(const ImportReport& report) {
  constexpr size_t kMostGrades = 20;  // more are scores, whose counts say nothing
  Json rows = Json::array();
  if (report.grades.size() > kMostGrades) return rows;
  for (const auto& [grade, count] : report.grades) {
    rows.push_back({{"grade", grade}, {"judgements", count}});
  }
  return rows;
}

Json SplitRows(const ImportReport& report) {
  Json rows = Json::array();
  for (const auto& [split, counts] : report.splits) {
    rows.push_back({{"split", import_data::SplitName(split)},
                    {"queries", counts.queries},
                    {"judgements", counts.judgements}});
  }
  return rows;
}

Json ClickRow(const import_data::ClickCounts& clicks) {
  Json row = {{"clicks", clicks.clicks},
              {"impressions", clicks.impressions},
              {"pairs", clicks.pairs},
              {"left_out_few_impressions", clicks.few_impressions},
              {"left_out_undecided", clicks.undecided}};
  row["positions"] = clicks.has_positions ? "known" : "not known";
  return row;
}

Json HoldoutRow(const import_data::Holdout& holdout) {
  return {{"families", holdout.families},
          {"largest_family", holdout.largest_family},
          {"near_copies_joined", holdout.joined_near_copies}};
}

// A person needs the start of a text to see what it is.
Json ShownRows(const ImportReport& report, bool whole_texts) {
  constexpr size_t kQueryColumns = 30, kDocumentColumns = 33;  // a row of 80 columns
  Json rows = Json::array();
  for (const import_data::ShownRow& shown : report.shown) {
    Json row = {{"line", shown.line}};
    row["query"] = whole_texts ? shown.query : report::OneLine(shown.query, kQueryColumns);
    row["grade"] = !shown.grade ? Json("by clicks") : Json(fmt::format("{}", *shown.grade));
    row["document"] =
        whole_texts ? shown.document : report::OneLine(shown.document, kDocumentColumns);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

Json ImportJson(const ImportReport& report, const ImportView& view) {
  Json found = {{"sources", SourceRows(report)}, {"columns", ColumnRows(report)}};
  found["rows"] = report.rows;
  found["rejected"] = report.rejected;
  if (Json rows = RejectedRows(report, view.whole_texts); !rows.empty())
    found["rejected_kinds"] = std::move(rows);
  if (!report.rejected_file.empty()) found["rejected_file"] = report.rejected_file.native();
  found["queries"] = report.queries;
  found["documents"] = report.documents;
  AddCount(found, "judged_documents", report.judged_documents);
  found["judgements"] = report.judgements;
  AddCount(found, "repeated_pairs", report.repeated);
  if (Json grades = GradeRows(report); !grades.empty()) found["grades"] = std::move(grades);
  if (report.clicks) found["clicks"] = ClickRow(*report.clicks);
  found["splits"] = SplitRows(report);
  if (report.holdout) found["held_out"] = HoldoutRow(*report.holdout);
  AddCount(found, "negatives_left_out_of_train", report.kept_from_train);
  if (view.rows) found["first_rows"] = ShownRows(report, view.whole_texts);
  return found;
}

void WarnOfImport(const ImportReport& report) {
  if (report.rejected > 0) {
    Warn(fmt::format("{} of {} rows cannot be used{}", report.rejected, report.rows,
                     report.rejected_file.empty()
                         ? std::string()
                         : fmt::format("; they are in {}, each with its reason",
                                       report.rejected_file.native())));
  }
  if (!report.thumbs.empty()) {
    std::string words;
    for (const auto& [word, count] : report.thumbs) {
      words += fmt::format("{}{} ({})", words.empty() ? "" : ", ", word, count);
    }
    Note(fmt::format("labels that are words were read as {}; --labels decides otherwise", words));
  }
  if (report.contradicting > 0) {
    Warn(
        fmt::format("{} rows give a pair of query and document another grade than an earlier row; "
                    "the highest one stands",
                    report.contradicting));
  }
  if (report.merged_ids > 0) {
    Warn(
        fmt::format("{} rows have another id for a text that an earlier row has; the same text is "
                    "one document or query, under its first id",
                    report.merged_ids));
  }
  if (report.cut_documents > 0) {
    Note(
        fmt::format("{} of {} judged documents are passages in the corpus: evaluate, compare, "
                    "report and search rank documents with --by-document",
                    report.cut_documents, report.judged_documents));
  }
  const auto train = report.splits.find(import_data::Split::kTrain);
  if (report.cut_documents > 0 && train != report.splits.end()) {
    Warn(
        "training reads no judgements of documents that the corpus has as passages: name the "
        "passages (guide.md#2), or make the corpus without --passage-tokens");
  }
  if (report.empty_negatives > 0) {
    Warn(fmt::format("{} negatives are empty and left out", report.empty_negatives));
  }
  if (report.unjudged_queries > 0) {
    Warn(fmt::format("{} queries have no judgement left and are not written",
                     report.unjudged_queries));
  }
  if (report.clicks && !report.clicks->has_positions) {
    Warn(
        "where documents were shown is not known (--position): what stands high is clicked more, "
        "and the grades keep that bias");
  }
  constexpr size_t kScale = 3;  // grades: fewer are labels
  if (report.grades.size() >= kScale && report.grades.begin()->first > 0) {
    Warn(fmt::format(
        "every grade is above 0, from {} to {}, so that every document counts as "
        "relevant; if the lowest ones mean \"not relevant\", say so: --labels {}=0,...",
        report.grades.begin()->first, report.grades.rbegin()->first, report.grades.begin()->first));
  }
}

}  // namespace tandem::app
