#include "commands/search/search_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/by_document.h"
#include "commands/guarantees/kept_promise.h"
#include "commands/identical_ids.h"
#include "commands/model/model_calibration.h"

namespace tandem::app {
namespace {

constexpr size_t kRunDepth = 100;
constexpr size_t kFreeTextDepth = 10;
constexpr std::string_view kStandardInput = "-";  // as a text: its lines are queries

constexpr const char* kNoIds =
    "--ignore-identical-ids needs queries with ids: give --queries FILE or, with --dataset, "
    "--split";

void CheckThresholds(const SearchOptions& options) {
  CheckIsProbability(options.min_probability);
  if (!options.keep.empty()) {
    CheckKept(options.keep, options.by_document);
    if (options.min_score || options.min_probability) {
      throw UsageError(fmt::format("--keep has a threshold of its own; it excludes {}",
                                   options.min_score ? "--min-score" : "--min-probability"));
    }
  }
  if (options.min_score && !std::isfinite(*options.min_score)) {
    throw UsageError(fmt::format("--min-score is {}; expected a number", *options.min_score));
  }
}

// --- In the corpus of a data set -----------------------------------------------------------------

// Returns the given flag that only indexes support; "" if there is none.
std::string_view FlagOfIndexes(const SearchOptions& options) {
  if (!options.filters.empty()) return "--filter";
  if (options.highlight) return "--highlight";
  if (options.effort > 0) return "--effort";
  return "";
}

void RunInDataset(SearchOptions options) {
  if (options.model.model.empty() && options.dataset.empty()) {
    throw UsageError("name an index, or give --model and --dataset");
  }
  if (options.model.model.empty()) throw UsageError("--model is required");
  if (options.dataset.empty()) throw UsageError("--dataset is required");
  if (const std::string_view flag = FlagOfIndexes(options); !flag.empty()) {
    throw UsageError(fmt::format("{} needs an index (tandem index build)", flag));
  }
  const bool free_text = !options.queries.empty();
  if (free_text && !options.output.empty()) {
    throw UsageError("--query prints its hits; it excludes --output");
  }
  if (free_text && !options.split.empty()) {
    throw UsageError("--query searches for the text given; it excludes --split");
  }
  if (!free_text && !options.format.empty() && options.format != "trec") {
    throw UsageError(
        fmt::format("the queries of --split and --queries become a TREC run; --format {} is for "
                    "--query, or for an index",
                    options.format));
  }
  if (free_text && options.ignore_identical_ids) throw UsageError(kNoIds);
  if (!options.queries_file.empty() && (free_text || !options.split.empty())) {
    throw UsageError("--queries says which queries are searched; it excludes --query and --split");
  }
  if (!free_text && options.output.empty()) {
    throw UsageError(
        "give --output RUN.trec for the queries of --split or --queries, or --query \"free text\"");
  }
  CheckThresholds(options);
  if (options.split.empty()) options.split = "test";
  if (options.format.empty()) options.format = "text";
  const bool is_run = !free_text || options.format == "trec";
  if (options.top_k == 0 && options.keep.empty()) {
    options.top_k = is_run ? kRunDepth : kFreeTextDepth;
  }
  WaitBriefly();
  RunSearch(options);
}

// --- In an index ---------------------------------------------------------------------------------

// Refuses flags about settings that the index decides or has no use for.
void RefuseFlagsOfCorpora(const SearchOptions& options) {
  if (!options.dataset.empty()) {
    throw UsageError(fmt::format(
        "search either the index {} or the corpus of --dataset; what is searched for in the latter "
        "is --query \"free text\"",
        options.index));
  }
  const bool has_document_flag =
      options.model.dimensions.has_value() || options.model.max_document_tokens.has_value();
  if (has_document_flag) {
    throw UsageError(
        fmt::format("the index decides {}: it was built with it",
                    options.model.dimensions ? "--dimensions" : "--max-document-tokens"));
  }
  const std::string_view flag = !options.split.empty()        ? "--split"
                                : !options.embeddings.empty() ? "--embeddings"
                                : options.no_cache            ? "--no-cache"
                                                              : "";
  if (!flag.empty()) {
    throw UsageError(fmt::format("{} is for --dataset, not for an index", flag));
  }
}

void RunInIndex(SearchOptions options) {
  RefuseFlagsOfCorpora(options);
  options.lines = options.queries_file.empty() &&
                  (options.queries.empty() ||
                   (options.queries.size() == 1 && options.queries.front() == kStandardInput));
  if (options.lines) options.queries.clear();
  if (!options.queries_file.empty() && !options.queries.empty()) {
    throw UsageError("--queries says which queries are searched; it excludes free text");
  }
  if (options.queries_file.empty() && options.ignore_identical_ids) throw UsageError(kNoIds);
  if (options.by_document && options.highlight) {
    throw UsageError(
        "--by-document shows the best passage of each document already; it excludes --highlight");
  }
  CheckThresholds(options);
  if (options.format.empty()) options.format = options.output.empty() ? "text" : "trec";
  if (options.top_k == 0 && options.keep.empty()) {
    options.top_k = options.format == "trec" ? kRunDepth : kFreeTextDepth;
  }
  WaitBriefly();
  RunIndexSearch(options);
}

CommandBody ConfigureSearch(Flags& flags) {
  const auto options = std::make_shared<SearchOptions>();
  const auto texts = std::make_shared<std::vector<std::string>>();
  flags.Add("index", options->index, "Index to search (tandem index build), a folder");
  flags.Add("text", *texts,
            "Search the index for this text; several may be given. - or none: for each line of "
            "standard input");
  flags.Add("--model", options->model.model,
            "Model folder; of an index only where it is no longer where it was");
  flags.Add("--dataset", options->dataset,
            "In place of an index: BEIR folder with the corpus, which is encoded first");
  flags.Add("--split", options->split,
            "Split of --dataset whose judged queries are searched (default test)");
  flags.Add("--queries", options->queries_file,
            "Search for the queries of this file instead, judged or not: JSON lines "
            "{\"_id\", \"text\"}, also .gz; for an index also .tsv, and .txt with a query on each "
            "line");
  flags.Add("--query", options->queries,
            "Search for this text instead and print the hits; may be given several times");
  flags.Add("--top-k,--k", options->top_k, "Hits per query (default 100 in a TREC run, else 10)")
      .Between(1, 1'000'000'000);
  AddByDocumentFlag(flags, options->by_document);
  AddIdenticalIdsFlag(flags, options->ignore_identical_ids);
  flags.Add("--min-score", options->min_score,
            "Leave out hits with a lower score; a query may then have fewer hits, or none");
  flags.Add("--min-probability", options->min_probability,
            "Leave out hits that are less probably right, from 0 to 1; needs a calibrated model "
            "(tandem calibrate; default: what the index was built with, or none)");
  AddKeepFlag(flags, options->keep,
              "Leave out hits so that this promise of the model is kept (tandem calibrate "
              "--guarantee), such as recall=0.9 or 'recall=0.9 for lang=en'; shows as many hits as "
              "it was made for, else up to 1000");
  flags
      .Add("--filter", options->filters,
           "Only documents of the index that meet this condition, such as 'year>=2020' or "
           "lang=en, with = != < <= > >=; several must all be met")
      .OneValueEachTime();
  flags.AddSwitch("--highlight", options->highlight,
                  "Show the passage of each document of the index that is nearest to the query");
  flags
      .Add("--effort", options->effort,
           "What an approximate index may spend on a query (efSearch, nprobe; default its own)")
      .Between(1, 1'000'000'000);
  flags.Add("--output", options->output,
            "File for the hits, a TREC run unless --format says otherwise; - for standard output");
  AddEmbeddingsFlag(flags, options->embeddings);
  AddCacheFlag(flags, options->no_cache);
  flags
      .Add("--format", options->format,
           "Format of the hits (default text; trec with --output, and all that the queries of "
           "--split and --queries become with --dataset)")
      .OneOf({"text", "json", "tsv", "trec"});
  AddPromptFlag(flags, options->model, "queries");
  AddLengthFlags(flags, options->model);
  return [options, texts](const Globals& globals) {
    options->globals = globals;
    options->queries.insert(options->queries.begin(), texts->begin(), texts->end());
    options->index.empty() ? RunInDataset(*options) : RunInIndex(*options);
  };
}

constexpr Example kSearchExamples[] = {
    {"tandem search mine.index 'a question' --filter 'year>=2020' --highlight", "Ask an index"},
    {"tandem search --model runs/mine/model --dataset data/mine --output run.trec",
     "Write the run of all test queries of a data set"},
};

}  // namespace

std::string WhatIsAsked(const SearchOptions& options) {
  std::vector<std::string> asked = options.filters;
  if (options.min_score) asked.push_back(fmt::format("a score of at least {}", *options.min_score));
  if (options.min_probability) {
    asked.push_back(fmt::format("a probability of at least {}", *options.min_probability));
  }
  return fmt::format("{}", fmt::join(asked, " and "));
}

extern const Command kSearchCommand{
    {.name = "search", .summary = "Find the best documents for queries"},
    ConfigureSearch,
    kSearchExamples};

}  // namespace tandem::app
