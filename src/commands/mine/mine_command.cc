#include "commands/mine/mine_command.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/job_flags.h"
#include "cli/process/short_waits.h"
#include "data/formats/trec_run.h"
#include "search/mining/run_mining.h"

namespace tandem::app {
namespace {

// The flags whose values are words that need more parsing.
struct Given {
  MineOptions options;
  std::string range = "10:200";
  std::string memory = "2GiB";
  bool no_cache = false;
};

search::RankRange RangeOf(const std::string& text) {
  const std::optional<search::RankRange> range = search::ParseRankRange(text);
  if (range) return *range;
  throw UsageError(fmt::format(
      "--range is {}; expected FIRST:END, two ranks that count from 0, as 10:200", text));
}

// Checks all flags before any file is opened.
MineOptions Checked(const Given& given) {
  MineOptions options = given.options;
  const bool by_model = !options.model.model.empty();
  if (by_model == !options.run.empty()) {
    throw UsageError(by_model ? "--model and --run exclude each other: one of them ranks"
                              : "nothing ranks the documents: give --model DIR or --run FILE");
  }
  if (!by_model && (options.model.max_query_tokens || options.model.max_document_tokens ||
                    options.model.dimensions)) {
    throw UsageError("the length limits and --dimensions need --model");
  }
  if (!by_model && !options.embeddings.empty()) throw UsageError("--embeddings needs --model");
  options.rules.ranks = RangeOf(given.range);
  options.rules.seed = SeedOf(options.globals);
  search::CheckRules(options.rules);
  const std::optional<uint64_t> memory = ParseByteSize(given.memory);
  if (!memory) {
    throw UsageError(
        fmt::format("--memory is {}; expected an amount as 2GiB or 500MiB", given.memory));
  }
  options.memory = *memory;
  options.cache = !given.no_cache;
  CheckMiningOutput(options.output);
  return options;
}

void RunMineByRun(const MineOptions& options) {
  const MiningData data = ReadMiningData(options.source);
  const data::Run run = data::ReadTrecRun(options.run, nullptr, ThreadsOf(options.globals));
  const search::Mined mined =
      search::MineFromRun(data.set, data.task, options.rules, run, options.run);
  FinishMining(data, options.rules, mined, options.source, options.output);
}

void AddMineInputFlags(Flags& flags, MineOptions& options) {
  flags.Add("--model", options.model.model, "Model folder that ranks the corpus");
  flags.Add("--run", options.run, "TREC run whose ranking is used instead of a model's");
  flags
      .Add("--dataset", options.source.dataset,
           "BEIR folder, or file of training lines (JSON, CSV or TSV, also gzipped)")
      .Required();
  flags
      .Add("--from", options.source.format,
           "Format of the data set; auto: a folder is beir, a file by its keys")
      .OneOf({"auto", "beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .ShowDefault();
  flags.Add("--split", options.source.split, "Split of a BEIR folder").ShowDefault();
  flags
      .Add("--positive-grade", options.source.positive_grade,
           "Lowest grade of a positive; documents of lower grades above 0 are never mined")
      .ShowDefault("1");
  flags.AddSwitch(
      "--ignore-identical-ids", options.source.ignore_identical_ids,
      "Do not mine for a query the document that has its id; one with its text is never "
      "mined");
  AddLineFlags(flags, options.source.lines);
}

void AddRuleFlags(Flags& flags, Given& given) {
  search::MiningRules& rules = given.options.rules;
  flags
      .Add("--range", given.range,
           "Ranks that negatives come from, FIRST:END; they count from 0 without known positives "
           "and their copies, and END is not in it")
      .ShowDefault();
  flags.Add("--negatives", rules.negatives, "Negatives of each query").ShowDefault();
  flags.Add("--absolute-margin", rules.absolute_margin,
            "Leave out documents that score above the query's lowest positive minus this");
  flags.Add("--relative-margin", rules.relative_margin,
            "Leave out documents that score above the query's lowest positive minus this share of "
            "its score, as 0.05");
  flags.AddSwitch("--random", rules.random,
                  "Draw the negatives from the range (by --seed), not the best of it");
}

CommandBody ConfigureMine(Flags& flags) {
  const auto given = std::make_shared<Given>();
  MineOptions& options = given->options;
  AddMineInputFlags(flags, options);
  AddRuleFlags(flags, *given);
  AddTimeoutFlag(flags, options.job);
  flags
      .Add("--memory", given->memory,
           "Memory of the search, besides data set, model and the pages of embeddings: as 500MiB")
      .ShowDefault();
  flags
      .Add("--search-precision", options.search_precision,
           "auto, fp32 or bf16: arithmetic of the search alone; bf16 computes again what it leaves "
           "in doubt")
      .OneOf({"auto", "fp32", "bf16"})
      .ShowDefault("as --precision, fp32 with int8");
  AddPartsFlag(flags, options.embeddings);
  AddCacheFlag(flags, given->no_cache);
  flags.Add("--output", options.output.path, "File (or folder, for beir) to write; must not exist")
      .Required();
  flags.Add("--to", options.output.format, "Format to write")
      .OneOf({"flag_embedding", "sentence_transformers", "beir"})
      .ShowDefault();
  flags.Add("--format", options.output.summary, "Format of the summary: text or json")
      .OneOf({"text", "json"})
      .ShowDefault();
  AddLengthFlags(flags, options.model);
  return [given](const Globals& globals) {
    given->options.globals = globals;
    const MineOptions checked = Checked(*given);
    if (checked.model.model.empty()) {
      RunMineByRun(checked);
    } else {
      WaitBriefly();
      RunMineByModel(checked);
    }
  };
}

constexpr Example kMineExamples[] = {
    {"tandem mine --model models/base --dataset data/mine --output mined.jsonl",
     "Find negatives among a model's best documents"},
    {"tandem mine --run bm25.trec --dataset data/mine --range 5:50 --output mined.jsonl",
     "Take ranks 5 to 50 of a run"},
};

}  // namespace

extern const Command kMineCommand{
    {.name = "mine", .summary = "Find hard negatives for the queries of a data set"},
    ConfigureMine,
    kMineExamples};

}  // namespace tandem::app
