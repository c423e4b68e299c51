#include "app/search_command.h"

#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "app/command.h"
#include "app/flags.h"
#include "app/torch_half.h"
#include "base/error.h"

namespace tandem::app {
namespace {

constexpr size_t kRunDepth = 100;
constexpr size_t kFreeTextDepth = 10;

void CheckThresholds(const SearchOptions& options) {
  const auto probability = options.min_probability;
  if (probability && !(*probability >= 0 && *probability <= 1)) {
    throw UsageError(
        fmt::format("--min-probability is {}; expected a number from 0 to 1", *probability));
  }
  if (options.min_score && !std::isfinite(*options.min_score)) {
    throw UsageError(fmt::format("--min-score is {}; expected a number", *options.min_score));
  }
}

void RunChecked(SearchOptions options) {
  const bool free_text = !options.queries.empty();
  if (free_text && !options.output.empty()) {
    throw UsageError("--query prints its hits; it excludes --output");
  }
  if (free_text && !options.split.empty()) {
    throw UsageError("--query searches for the text given; it excludes --split");
  }
  if (!options.queries_file.empty() && (free_text || !options.split.empty())) {
    throw UsageError("--queries says which queries are searched; it excludes --query and --split");
  }
  if (!free_text && options.output.empty()) {
    throw UsageError(
        "give --output RUN.trec for the queries of --split or --queries, or --query \"free text\"");
  }
  CheckThresholds(options);
  if (options.split.empty()) options.split = "test";
  if (options.top_k == 0) options.top_k = free_text ? kFreeTextDepth : kRunDepth;
  RunSearch(options);
}

std::function<void()> Configure(Flags& flags) {
  const auto options = std::make_shared<SearchOptions>();
  flags.Add("--model", options->model.model, "Model folder").Required();
  flags.Add("--dataset", options->dataset, "BEIR folder with the corpus").Required();
  flags.Add("--split", options->split, "Split whose judged queries are searched (default test)");
  flags.Add("--queries", options->queries_file,
            "Search for the queries of this file instead, judged or not: JSON lines "
            "{\"_id\", \"text\"}, also .gz");
  flags.Add("--query", options->queries,
            "Search for this text instead and print the hits; may be given several times");
  flags.Add("--top-k", options->top_k, "Hits per query (default 100; 10 with --query)")
      .Between(1, 1'000'000'000);
  flags.Add("--min-score", options->min_score,
            "Leave out hits with a lower score; a query may then have fewer hits, or none");
  flags.Add("--min-probability", options->min_probability,
            "Leave out hits that are less probably right, from 0 to 1; needs a calibrated model "
            "(tandem calibrate)");
  flags.Add("--output", options->output, "TREC run to write; - for standard output");
  AddEmbeddingsFlag(flags, options->embeddings);
  flags.Add("--format", options->format, "Format of the hits for --query: text, json or tsv")
      .OneOf({"text", "json", "tsv"})
      .ShowDefault();
  AddPromptFlag(flags, options->model, "queries");
  AddLengthFlags(flags, options->model);
  return [options] { RunChecked(*options); };
}

}  // namespace

[[gnu::weak]] void RunSearch(const SearchOptions&) { ReplaceByTorchHalf(); }

extern const Command kSearchCommand{
    {.name = "search", .summary = "Find the best documents for queries"}, Configure};

}  // namespace tandem::app
