// The work of `tandem search`.
#include <fmt/format.h>

#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/hits_text.h"
#include "app/load_model.h"
#include "app/output_style.h"
#include "app/search_command.h"
#include "base/files.h"
#include "base/log.h"
#include "data/beir.h"
#include "data/judged_data.h"
#include "data/texts_file.h"
#include "data/trec_run.h"
#include "report/one_line.h"
#include "search/retrieve.h"

namespace tandem::app {
namespace {

constexpr size_t kQueryColumns = 100;  // of a query that stands before its hits, as TSV

std::vector<ShownHit> HitsOf(const search::QueryHits& found, const data::Texts& documents) {
  std::vector<ShownHit> hits;
  for (const search::Hit& hit : found.hits) {
    hits.push_back({hit.score, documents.id(hit.document), documents.text(hit.document)});
  }
  return hits;
}

void PrintTsv(const std::string& query, const search::QueryHits& found,
              const data::Texts& documents) {
  size_t rank = 0;
  for (const search::Hit& hit : found.hits) {
    std::cout << fmt::format("{}\t{}\t{}\t{}\n", report::OneLine(query, kQueryColumns), ++rank,
                             documents.id(hit.document), hit.score);
  }
}

nlohmann::ordered_json ToJson(const std::string& query, const search::QueryHits& found,
                              const data::Texts& documents) {
  nlohmann::ordered_json hits = nlohmann::ordered_json::array();
  for (const search::Hit& hit : found.hits) {
    hits.push_back({{"document", documents.id(hit.document)},
                    {"score", hit.score},
                    {"text", documents.text(hit.document)}});
  }
  return {{"query", query}, {"hits", hits}};
}

void SearchFreeText(const SearchOptions& options, const search::RetrieveOptions& retrieve) {
  const auto model = LoadModel(options.model);
  const data::Texts documents = data::LoadBeirCorpus(options.dataset);
  const std::vector<search::QueryHits> found =
      search::RetrieveForTexts(*model, documents, options.queries, retrieve);
  const size_t columns = OutputStyle().columns;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t q = 0; q < found.size(); ++q) {
    if (options.format == "json") {
      all.push_back(ToJson(options.queries[q], found[q], documents));
    } else if (options.format == "tsv") {
      PrintTsv(options.queries[q], found[q], documents);
    } else {
      std::cout << (q > 0 ? "\n" : "") << options.queries[q] << "\n"
                << HitsText(HitsOf(found[q], documents), columns);
    }
  }
  using Json = nlohmann::ordered_json;
  if (options.format == "json") {
    std::cout << all.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  }
}

// What is searched for: all queries of a file, or those of the split that are judged.
data::Dataset ReadQueries(const SearchOptions& options) {
  if (options.queries_file.empty()) {
    return std::move(data::LoadJudgedData(options.dataset, options.split).dataset);
  }
  data::Dataset dataset;
  dataset.queries = data::ReadTexts(options.queries_file, data::TextRole::kQuery);
  dataset.documents = data::LoadBeirCorpus(options.dataset);
  for (uint32_t q = 0; q < dataset.queries.size(); ++q) dataset.judged.push_back({.query = q});
  return dataset;
}

// Checks the ids before anything is encoded: any of them may become a line of the run.
void CheckIds(const data::Dataset& dataset, const std::string& file) {
  for (const data::JudgedQuery& query : dataset.judged) {
    data::CheckTrecId(file, dataset.queries.id(query.query));
  }
  for (size_t d = 0; d < dataset.documents.size(); ++d) {
    data::CheckTrecId(file, dataset.documents.id(d));
  }
}

void WriteRun(const std::string& output, const data::Run& run) {
  constexpr std::string_view kTag = "tandem";
  if (output != "-") return data::WriteTrecRun(output, run, kTag);
  const auto print = [](std::string_view text) { std::cout << text; };
  data::WriteTrecRun(print, "standard output", run, kTag);
}

void SearchQueries(const SearchOptions& options, const search::RetrieveOptions& retrieve) {
  std::optional<AtomicFile> writable;  // fails before the work where the path cannot be written
  if (options.output != "-") writable.emplace(options.output);
  const auto model = LoadModel(options.model);
  const data::Dataset dataset = ReadQueries(options);
  CheckIds(dataset, options.output);
  const search::Retrieved retrieved = search::Retrieve(*model, dataset, retrieve);
  WriteRun(options.output, retrieved.run);
  Note(fmt::format("{} queries against {} documents -> {}", retrieved.run.queries().size(),
                   dataset.documents.size(),
                   options.output == "-" ? "standard output" : options.output));
}

}  // namespace

void RunSearch(const SearchOptions& options) {
  const search::RetrieveOptions retrieve{
      .top_k = options.top_k, .encode = BulkOptions(), .embeddings = options.embeddings};
  if (options.queries.empty()) {
    SearchQueries(options, retrieve);
  } else {
    SearchFreeText(options, retrieve);
  }
}

}  // namespace tandem::app
