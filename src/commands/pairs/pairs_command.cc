#include "commands/pairs/pairs_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/line_flags.h"
#include "data/write_dataset.h"
#include "documents/pair_source.h"

namespace tandem::app {
namespace {

void CheckPairsOutput(const PairsOptions& options) {
  if (options.dry_run && !options.output.empty()) {
    throw UsageError("--dry-run writes nothing; it excludes --output");
  }
  if (options.dry_run) return;
  if (options.output.empty()) {
    throw UsageError("--output is required, or --dry-run, which shows what would be written");
  }
  data::CheckWriteRequest("beir", options.output, {.split = "train"});
}

// Checks all flags before any file is opened.
void CheckPairsOptions(const PairsOptions& options) {
  CheckPairsOutput(options);
  const bool has_model = !options.model.model.empty();
  if (options.passage_tokens && !has_model) {
    throw UsageError("--passage-tokens counts a model's tokens: name its folder with --model");
  }
  if (options.round_trip && !has_model) {
    throw UsageError("--round-trip searches with a model: name its folder with --model");
  }
  if (has_model && !options.passage_tokens && !options.round_trip) {
    throw UsageError("--model does nothing without --passage-tokens or --round-trip");
  }
  if (options.passage_overlap > 0 && !options.passage_tokens) {
    throw UsageError("--passage-overlap needs --passage-tokens");
  }
  if (options.corpus_only && (!options.sources.empty() || options.round_trip)) {
    throw UsageError(fmt::format("--corpus-only makes no pairs; it excludes {}",
                                 options.round_trip ? "--round-trip" : "--sources"));
  }
  if (!options.corpus_only && options.passage_overlap > 0) {
    throw UsageError(
        "--passage-overlap is for --corpus-only: a pair has the first passage of its text");
  }
}

CommandBody ConfigurePairs(Flags& flags) {
  const auto options = std::make_shared<PairsOptions>();
  const auto sources = std::make_shared<std::string>();
  flags
      .Add("documents", options->documents,
           "Folder of Markdown, HTML and text files, or one of these; a BEIR folder, of which only "
           "the corpus is read, or its corpus.jsonl")
      .Required();
  flags.Add("--output,-o", options->output, "BEIR folder to write; must not exist");
  flags.AddSwitch("--dry-run", options->dry_run, "Write nothing: show ten examples and the counts");
  flags.AddSwitch("--corpus-only", options->corpus_only,
                  "Write corpus.jsonl alone, with all documents, for `tandem index build`");
  flags
      .Add("--sources", *sources,
           fmt::format("What pairs are made of, separated by commas: {} (`tandem list "
                       "pair_sources`)",
                       fmt::join(config::EntryNames(documents::PairSources()), ", ")))
      .Takes("SOURCES")
      .ShowDefault("all");
  flags
      .Add("--per-document", options->per_document,
           "Most pairs of a document, drawn by --seed where there are more; 0: all")
      .Between(0, 1'000'000'000)
      .ShowDefault();
  flags.Add("--model", options->model.model,
            "Model folder: its tokens count for --passage-tokens, it searches for --round-trip");
  flags
      .Add("--passage-tokens", options->passage_tokens,
           "Cut texts into passages of at most so many tokens, title, prompt and special tokens "
           "counted; of a pair's text the first passage is kept")
      .Between(1, 1'000'000);
  flags
      .Add("--passage-overlap", options->passage_overlap,
           "With --corpus-only: a passage repeats the last sentences of the one before, so many "
           "tokens at most")
      .Between(0, 1'000'000)
      .ShowDefault();
  flags
      .Add("--round-trip", options->round_trip,
           "Keep a pair only where the model finds its text among the best so many of all texts")
      .Between(1, 1'000'000);
  flags.AddSwitch("--no-cache", options->no_cache,
                  "Neither look for embeddings in the cache nor keep them there");
  flags.Add("--format", options->format, "Format of counts and examples: text or json")
      .OneOf({"text", "json"})
      .ShowDefault();
  return [options, sources](const Globals& globals) {
    options->globals = globals;
    options->sources = SplitAtCommas(*sources);
    CheckPairsOptions(*options);
    if (options->round_trip) WaitBriefly();
    options->corpus_only ? RunCorpusOnly(*options) : RunPairs(*options);
  };
}

constexpr Example kPairsExamples[] = {
    {"tandem pairs handbook/ -o data/handbook",
     "Make training pairs of what a folder of pages holds"},
    {"tandem pairs handbook/ --corpus-only --passage-tokens 256 --model models/base -o "
     "data/handbook",
     "Cut a folder into passages, for an index"},
};

}  // namespace

extern const Command kPairsCommand{
    {.name = "pairs", .summary = "Make a data set, or a corpus, of documents alone"},
    ConfigurePairs,
    kPairsExamples};

}  // namespace tandem::app
