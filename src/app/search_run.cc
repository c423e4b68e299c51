// The work of `tandem search`.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/load_model.h"
#include "app/search_command.h"
#include "base/files.h"
#include "base/log.h"
#include "data/beir.h"
#include "data/trec_run.h"
#include "search/retrieve.h"

namespace tandem::app {
namespace {

constexpr size_t kSnippetBytes = 100;

// The start of a text on one line, cut between characters.
std::string Snippet(std::string_view text) {
  const bool cut = text.size() > kSnippetBytes;
  size_t end = cut ? kSnippetBytes : text.size();
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line(text.substr(0, end));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  return cut ? line + "…" : line;
}

void PrintText(const std::string& query, const search::QueryHits& found,
               const data::Texts& documents) {
  fmt::print("{}\n", query);
  size_t rank = 0;
  for (const search::Hit& hit : found.hits) {
    fmt::print("{:>4}  {:.4f}  {}  {}\n", ++rank, hit.score, documents.id(hit.document),
               Snippet(documents.text(hit.document)));
  }
}

void PrintTsv(const std::string& query, const search::QueryHits& found,
              const data::Texts& documents) {
  size_t rank = 0;
  for (const search::Hit& hit : found.hits) {
    fmt::print("{}\t{}\t{}\t{}\n", Snippet(query), ++rank, documents.id(hit.document), hit.score);
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

void SearchFreeText(model::DualEncoder& model, const SearchOptions& options,
                    const search::RetrieveOptions& retrieve) {
  const data::Texts documents = data::LoadBeirCorpus(options.dataset);
  const std::vector<search::QueryHits> found =
      search::RetrieveForTexts(model, documents, options.queries, retrieve);
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (size_t q = 0; q < found.size(); ++q) {
    if (options.format == "json") {
      all.push_back(ToJson(options.queries[q], found[q], documents));
    } else if (options.format == "tsv") {
      PrintTsv(options.queries[q], found[q], documents);
    } else {
      PrintText(options.queries[q], found[q], documents);
    }
  }
  using Json = nlohmann::ordered_json;
  if (options.format == "json") {
    fmt::print("{}\n", all.dump(2, ' ', false, Json::error_handler_t::replace));
  }
}

void SearchSplit(model::DualEncoder& model, const SearchOptions& options,
                 const search::RetrieveOptions& retrieve) {
  const AtomicFile writable(options.output);  // an unwritable path shows before the work, not after
  const data::Dataset dataset = data::LoadBeir(options.dataset, options.split);
  const search::Retrieved retrieved = search::Retrieve(model, dataset, retrieve);
  data::WriteTrecRun(options.output, retrieved.run, "tandem");
  Note(fmt::format("{} queries against {} documents -> {}", retrieved.run.queries().size(),
                   dataset.documents.size(), options.output));
}

}  // namespace

void RunSearch(const SearchOptions& options) {
  const auto model = LoadModel(options.model);
  const search::RetrieveOptions retrieve{
      .top_k = options.top_k, .encode = BulkOptions(), .embeddings = options.embeddings};
  if (options.queries.empty()) {
    SearchSplit(*model, options, retrieve);
  } else {
    SearchFreeText(*model, options, retrieve);
  }
}

}  // namespace tandem::app
