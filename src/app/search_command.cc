#include "app/search_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/torch_half.h"
#include "base/error.h"

namespace tandem::app {
namespace {

constexpr size_t kRunDepth = 100;
constexpr size_t kFreeTextDepth = 10;

void RunChecked(SearchOptions options) {
  const bool free_text = !options.queries.empty();
  if (free_text && !options.output.empty()) {
    throw UsageError("--query prints its hits; it excludes --output");
  }
  if (free_text && !options.split.empty()) {
    throw UsageError("--query searches for the text given; it excludes --split");
  }
  if (!free_text && options.output.empty()) {
    throw UsageError("give --output RUN.trec for the split's queries, or --query \"free text\"");
  }
  if (options.split.empty()) options.split = "test";
  if (options.top_k == 0) options.top_k = free_text ? kFreeTextDepth : kRunDepth;
  RunSearch(options);
}

std::function<void()> Configure(CLI::App& app) {
  const auto options = std::make_shared<SearchOptions>();
  app.add_option("--model", options->model.model, "Model folder")->required();
  app.add_option("--dataset", options->dataset, "BEIR folder with the corpus")->required();
  app.add_option("--split", options->split, "Whose judged queries are searched (default test)");
  app.add_option("--query", options->queries,
                 "Search for this text instead and print the hits; may be given several times")
      ->take_all();
  app.add_option("--top-k", options->top_k, "Hits per query (default 100; 10 with --query)")
      ->check(CLI::Range(1, 1'000'000'000));
  app.add_option("--output", options->output, "TREC run to write");
  app.add_option("--embeddings", options->embeddings,
                 "Folder that keeps the corpus's embeddings, so that nothing is encoded twice");
  app.add_option("--format", options->format, "Of the hits for --query: text, json or tsv")
      ->check(CLI::IsMember({"text", "json", "tsv"}))
      ->capture_default_str();
  AddLengthFlags(app, options->model);
  return [options] { RunChecked(*options); };
}

}  // namespace

const Command kSearchCommand{"search", "Find the best documents for queries", Configure};

}  // namespace tandem::app
