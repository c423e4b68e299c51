#include "commands/score/score_command.h"

#include <memory>

#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

void AddDataFlags(Flags& flags, ScoreOptions& options) {
  flags
      .Add("--pairs", options.dataset,
           "BEIR folder, or file of training lines (JSON, CSV or TSV, also gzipped): each query is "
           "scored with "
           "each of its judged documents")
      .Required();
  flags
      .Add("--as", options.as,
           "What the scores become: grades in [0, 1] (for bixse), or a teacher's scores as the "
           "model computes them (for margin_mse and kl_distillation)")
      .OneOf({"grades", "teacher"})
      .Required();
  flags
      .Add("--output", options.output,
           "Folder (beir) or file to write; gzipped where its name ends in .gz; must not exist")
      .Required();
  flags.Add("--to", options.to, "Format to write; beir holds grades only")
      .OneOf({"beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .ShowDefault("the format of the data");
  flags
      .Add("--from", options.from, "Format of the data; auto: a folder is beir, a file by its keys")
      .OneOf({"auto", "beir", "sentence_transformers", "flag_embedding", "tevatron"})
      .ShowDefault();
  flags.Add("--split", options.split, "Split of a BEIR folder, that is read or written")
      .ShowDefault("train");
  AddLineFlags(flags, options.lines);
}

CommandBody ConfigureScore(Flags& flags) {
  const auto options = std::make_shared<ScoreOptions>();
  flags
      .Add("--model", options->model.model,
           "Model folder that scores the pairs: a bi-encoder, or a cross-encoder as "
           "sentence-transformers' CrossEncoder loads it")
      .Required();
  AddDataFlags(flags, *options);
  AddCacheFlag(flags, options->no_cache);
  flags.Add("--format", options->format, "Format of the report: text or json")
      .OneOf({"text", "json"})
      .ShowDefault();
  AddLengthFlags(flags, options->model);
  flags.Add("--max-pair-tokens", options->max_pair_tokens,
            "Of a cross-encoder: cut pairs at this many tokens, the longer text first; 0: what the "
            "encoder takes (default: the model's)");
  flags.Add("--label", options->label,
            "Of a cross-encoder with several labels: the one that is the score, by name or number");
  return [options](const Globals& globals) {
    options->globals = globals;
    WaitBriefly();
    RunScore(*options);
  };
}

constexpr Example kScoreExamples[] = {
    {"tandem score --model models/base --pairs data/mine --as grades --output data/graded",
     "Grade pairs for bixse"},
    {"tandem score --model models/cross --pairs mined.jsonl --as teacher --output taught.jsonl",
     "Let a cross-encoder teach"},
};

}  // namespace

extern const Command kScoreCommand{
    {.name = "score",
     .summary = "Grade the pairs of a data set by a model, or score them as a teacher"},
    ConfigureScore,
    kScoreExamples};

}  // namespace tandem::app
