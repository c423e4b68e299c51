// The work of `tandem search`.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/files.h"
#include "base/log.h"
#include "cli/output_style.h"
#include "commands/evaluate/evaluation_output.h"
#include "commands/guarantees/kept_promise.h"
#include "commands/identical_ids.h"
#include "commands/model/load_model.h"
#include "commands/model/model_calibration.h"
#include "commands/search/hits_output.h"
#include "commands/search/hits_text.h"
#include "commands/search/search_command.h"
#include "commands/until_stopped.h"
#include "data/formats/beir.h"
#include "data/formats/trec_run.h"
#include "data/judgements/judged_data.h"
#include "data/texts/passage_groups.h"
#include "data/texts/texts_file.h"
#include "eval/identical_ids.h"
#include "index/query/hit_filter.h"
#include "search/retrieval/retrieve.h"

namespace tandem::app {
namespace {

// A corpus and, with --by-document, what its passages are of.
struct Corpus {
  data::Texts documents;
  std::optional<data::PassageGroups> groups;
};

Corpus ReadCorpus(const SearchOptions& options) {
  Corpus corpus{.documents = data::LoadBeirCorpus(options.dataset), .groups = {}};
  if (options.by_document) corpus.groups = data::GroupPassages(corpus.documents, options.dataset);
  return corpus;
}

// Returns the hits that `filter` keeps, with their probabilities if the model has a calibration.
std::vector<ShownHit> HitsOf(const search::QueryHits& found, const Corpus& corpus,
                             const index::HitFilter& filter) {
  std::vector<ShownHit> hits;
  for (size_t h = 0; h < found.hits.size(); ++h) {
    const search::Hit& hit = found.hits[h];
    if (!filter.Keeps(hit.score)) continue;
    ShownHit shown{.score = hit.score, .probability = filter.Probability(hit.score)};
    if (corpus.groups) {
      shown.id = corpus.groups->documents.id(hit.document);
      shown.passage = corpus.documents.id(found.passages[h]);
      shown.text = corpus.documents.text(found.passages[h]);
    } else {
      shown.id = corpus.documents.id(hit.document);
      shown.text = corpus.documents.text(hit.document);
    }
    hits.push_back(shown);
  }
  return hits;
}

// `calibration` must outlive the filter.
index::HitFilter FilterOf(const SearchOptions& options,
                          const std::optional<weights::Calibration>& calibration) {
  CheckProbabilities(calibration, options.min_probability, options.model.model);
  return {.min_score = options.min_score,
          .min_probability = options.min_probability,
          .calibration = calibration ? &*calibration : nullptr};
}

// Finds the promise that is kept, if one is asked for, and sets the threshold and the number of
// hits that it needs.
std::optional<weights::Guarantee> KeepPromiseInCorpus(model::DualEncoder& model, size_t documents,
                                                      SearchOptions* options,
                                                      search::RetrieveOptions* retrieve) {
  if (options->keep.empty()) return std::nullopt;
  weights::Guarantee kept = KeptPromise(options->keep, options->model.model, model,
                                        options->globals, {.documents = documents});
  options->min_score = kept.threshold;
  if (options->top_k == 0) options->top_k = kept.depth > 0 ? kept.depth : kMostKept;
  retrieve->top_k = options->top_k;
  return kept;
}

void SearchFreeText(SearchOptions options, search::RetrieveOptions retrieve) {
  const auto model = LoadModel(options.globals, options.model);
  const auto calibration = CalibrationOf(*model, options.model);
  const Corpus corpus = ReadCorpus(options);
  const auto kept = KeepPromiseInCorpus(*model, corpus.documents.size(), &options, &retrieve);
  const index::HitFilter filter = FilterOf(options, calibration);
  const std::vector<search::QueryHits> found =
      UntilStopped("nothing was found" + KeptInCache(options.no_cache), [&] {
        auto hits =
            corpus.groups
                ? search::RetrieveForTexts(*model, *corpus.groups, options.queries, retrieve)
                : search::RetrieveForTexts(*model, corpus.documents, options.queries, retrieve);
        StopIfAsked();
        return hits;
      });
  HitsOutput output(
      {.format = options.format, .text = OutputStyle(), .asked = WhatIsAsked(options)},
      [](std::string_view text) { std::cout << text; });
  size_t cut = 0;
  for (size_t q = 0; q < found.size(); ++q) {
    std::vector<ShownHit> hits = HitsOf(found[q], corpus, filter);
    cut += hits.size() >= retrieve.top_k ? 1 : 0;
    output.Add(
        {.id = fmt::format("q{}", q + 1), .query = options.queries[q], .hits = std::move(hits)});
  }
  output.Finish();
  if (kept) WarnOfDepth(*kept, retrieve.top_k, cut);
}

// Reads the queries: all queries of a file, or the judged queries of the split. With --by-document
// `groups` becomes the corpus, and the data set's documents are those of the passages.
data::Dataset ReadQueries(const SearchOptions& options,
                          std::optional<data::PassageGroups>* groups) {
  if (options.queries_file.empty()) {
    if (!options.by_document) {
      return std::move(data::LoadJudgedData(options.dataset, options.split).dataset);
    }
    return std::move(
        data::LoadJudgedDocuments(options.dataset, options.split, &groups->emplace()).dataset);
  }
  data::Dataset dataset;
  dataset.queries = data::ReadTexts(options.queries_file, data::TextRole::kQuery);
  Corpus corpus = ReadCorpus(options);
  *groups = std::move(corpus.groups);
  dataset.documents = *groups ? (*groups)->documents : corpus.documents;
  for (uint32_t q = 0; q < dataset.queries.size(); ++q) dataset.judged.push_back({.query = q});
  return dataset;
}

// Checks the ids before anything is encoded, because any of them may occur in a line of the run.
void CheckIds(const data::Dataset& dataset, const std::string& file) {
  for (const data::JudgedQuery& query : dataset.judged) {
    data::CheckTrecId(file, dataset.queries.id(query.query));
  }
  for (size_t d = 0; d < dataset.documents.size(); ++d) {
    data::CheckTrecId(file, dataset.documents.id(d));
  }
}

// Removes hits that the filter does not keep from `run`, and says how many these are.
void Filter(const index::HitFilter& filter, const std::string& asked, data::Run* run) {
  if (!filter.active()) return;
  size_t left_out = 0, without = 0;
  std::vector<std::string_view> queries;
  for (const data::QueryResults& results : run->queries()) queries.push_back(results.query);
  for (const std::string_view query : queries) {
    std::vector<data::ScoredDocument>& results = run->AddQuery(query).results;
    left_out += std::erase_if(results, [&](const data::ScoredDocument& hit) {
      return !filter.Keeps(static_cast<float>(hit.score));
    });
    without += results.empty();
  }
  Note(fmt::format("hits without {}, left out: {}; queries that have no other: {} of {}", asked,
                   left_out, without, queries.size()));
}

// Returns remarks on queries that are themselves documents of the corpus. A file of queries has no
// judgements, so that every document with a query's id is left out if any is.
std::vector<eval::Remark> RemarksOn(const search::RetrievalTask& task, const SearchOptions& options,
                                    data::Run& run) {
  const search::QueriesInCorpus in_corpus = search::CountQueriesInCorpus(task);
  std::vector<eval::Remark> remarks =
      options.ignore_identical_ids
          ? IdenticalIdsRemarks(true, in_corpus.by_id)
          : IdenticalIdsRemarks(false, eval::CountIdenticalIds(run, nullptr).queries);
  for (eval::Remark& remark : OwnTextRemarks(in_corpus.by_text)) {
    remarks.push_back(std::move(remark));
  }
  return remarks;
}

// Queries with as many results as there may be.
size_t CountCut(const data::Run& run, size_t top_k) {
  return static_cast<size_t>(std::count_if(
      run.queries().begin(), run.queries().end(),
      [top_k](const data::QueryResults& one) { return one.results.size() >= top_k; }));
}

void WriteRun(const std::string& output, const data::Run& run) {
  constexpr std::string_view kTag = "tandem";
  if (output != "-") return data::WriteTrecRun(output, run, kTag);
  const auto print = [](std::string_view text) { std::cout << text; };
  data::WriteTrecRun(print, "standard output", run, kTag);
}

void SearchQueries(SearchOptions options, search::RetrieveOptions retrieve) {
  std::optional<AtomicFile> writable;  // fails before the work if the path cannot be written
  if (options.output != "-") writable.emplace(options.output);
  const auto model = LoadModel(options.globals, options.model);
  const auto calibration = CalibrationOf(*model, options.model);
  std::optional<data::PassageGroups> groups;
  const data::Dataset dataset = ReadQueries(options, &groups);
  const auto kept = KeepPromiseInCorpus(*model, dataset.documents.size(), &options, &retrieve);
  const index::HitFilter filter = FilterOf(options, calibration);
  CheckIds(dataset, options.output);
  const search::RetrievalTask task =
      groups ? search::RetrievalTask(*groups, dataset.queries, dataset.judged)
             : search::RetrievalTask(dataset);
  search::Retrieved retrieved = UntilStopped(
      fmt::format("{} was not written{}", options.output == "-" ? "the run" : options.output,
                  KeptInCache(options.no_cache)),
      [&] {
        search::Retrieved found = search::Retrieve(*model, task, retrieve);
        StopIfAsked();
        return found;
      });
  PrintRemarks(RemarksOn(task, options, retrieved.run));
  Filter(filter, WhatIsAsked(options), &retrieved.run);
  if (kept) WarnOfDepth(*kept, retrieve.top_k, CountCut(retrieved.run, retrieve.top_k));
  WriteRun(options.output, retrieved.run);
  Note(fmt::format("{} queries against {} documents -> {}", retrieved.run.queries().size(),
                   dataset.documents.size(),
                   options.output == "-" ? "standard output" : options.output));
}

}  // namespace

void RunSearch(const SearchOptions& options) {
  const search::RetrieveOptions retrieve{.top_k = options.top_k,
                                         .encode = BulkOptions(options.globals),
                                         .ignore_identical_ids = options.ignore_identical_ids,
                                         .embeddings = options.embeddings,
                                         .cache = CacheUnless(options.no_cache)};
  if (options.queries.empty()) {
    SearchQueries(options, retrieve);
  } else {
    SearchFreeText(options, retrieve);
  }
}

}  // namespace tandem::app
