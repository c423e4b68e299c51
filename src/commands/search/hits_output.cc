#include "commands/search/hits_output.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <utility>

#include "base/json/json.h"
#include "data/formats/trec_run.h"
#include "data/judgements/run.h"
#include "report/tables/one_line.h"
#include "text/width/display_width.h"

namespace tandem::app {
namespace {

constexpr size_t kQueryColumns = 100;  // width of a query before its hits, in TSV
constexpr std::string_view kTag = "tandem";

std::string_view PassageOf(const ShownHit& hit) {
  return hit.text.substr(hit.highlight->begin, hit.highlight->end - hit.highlight->begin);
}

Json ToJson(const HitsOfQuery& found, bool has_id) {
  Json hits = Json::array();
  for (const ShownHit& hit : found.hits) {
    Json row = {{"document", hit.id}};
    if (!hit.passage.empty()) row["passage"] = hit.passage;
    row["score"] = hit.score;
    if (hit.probability) row["probability"] = *hit.probability;
    row["text"] = hit.text;
    if (hit.highlight) {
      row["highlight"] = {
          {"begin", hit.highlight->begin}, {"end", hit.highlight->end}, {"text", PassageOf(hit)}};
    }
    hits.push_back(std::move(row));
  }
  Json query;
  if (has_id) query["id"] = found.id;
  query["query"] = found.query;
  query["hits"] = std::move(hits);
  return query;
}

// Replaces bytes that are not UTF-8, which only the command line may contain, by U+FFFD.
std::string Dump(const Json& json, int indent) { return json.Dump(indent, JsonBytes::kReplace); }

// Indents a JSON value as a member of a list.
std::string Indented(const std::string& json) {
  std::string lines = "  ";
  for (const char c : json) {
    lines += c;
    if (c == '\n') lines += "  ";
  }
  return lines;
}

}  // namespace

void HitsOutput::Add(const HitsOfQuery& found) {
  if (style_.format == "json") {
    AddJson(found);
  } else if (style_.format == "tsv") {
    AddTsv(found);
  } else if (style_.format == "trec") {
    AddTrec(found);
  } else {
    AddText(found);
  }
  ++queries_;
}

void HitsOutput::Finish() {
  if (style_.format != "json" || style_.as_lines) return;
  write_(queries_ == 0 ? "[]\n" : "\n]\n");
}

void HitsOutput::AddText(const HitsOfQuery& found) {
  std::string text = fmt::format("{}{}\n{}", queries_ > 0 ? "\n" : "", text::Printable(found.query),
                                 HitsText(found.hits, style_.text));
  if (found.hits.empty()) {
    text += style_.asked.empty() ? "no document is found\n"
                                 : fmt::format("no document has {}\n", style_.asked);
  }
  write_(text);
}

void HitsOutput::AddJson(const HitsOfQuery& found) {
  const Json json = ToJson(found, style_.has_ids);
  if (style_.as_lines) return write_(Dump(json, -1) + "\n");
  write_((queries_ == 0 ? "[\n" : ",\n") + Indented(Dump(json, 2)));
}

// Scores are written with single precision.
void HitsOutput::AddTsv(const HitsOfQuery& found) {
  constexpr size_t kAll = std::numeric_limits<uint32_t>::max();
  const std::string query =
      style_.has_ids ? std::string(found.id) : report::OneLine(found.query, kQueryColumns);
  std::string lines;
  size_t rank = 0;
  for (const ShownHit& hit : found.hits) {
    lines += fmt::format("{}\t{}\t{}\t{}", query, ++rank, hit.id, static_cast<float>(hit.score));
    if (hit.probability) lines += fmt::format("\t{}", *hit.probability);
    if (hit.highlight) lines.append("\t").append(report::OneLine(PassageOf(hit), kAll));
    if (!hit.passage.empty()) lines.append("\t").append(hit.passage);
    lines += '\n';
  }
  write_(lines);
}

void HitsOutput::AddTrec(const HitsOfQuery& found) {
  data::Run run;
  data::QueryResults& results = run.AddQuery(found.id);
  for (const ShownHit& hit : found.hits) results.results.push_back({hit.id, hit.score});
  data::WriteTrecRun(write_, style_.file, run, kTag);
}

}  // namespace tandem::app
