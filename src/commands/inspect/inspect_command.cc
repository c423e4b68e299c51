// `tandem inspect`: shows the contents of a model folder, weights file or data file.
#include <memory>
#include <string>

#include "base/json/json.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/globals.h"
#include "commands/inspect/inspection.h"
#include "commands/inspect/inspections.h"
#include "commands/line_flags.h"

namespace tandem::app {
namespace {

struct InspectOptions {
  std::string path;
  std::string format = "text";
  bool verify = false;
  LineFlags lines;
};

CommandBody ConfigureInspect(Flags& flags) {
  const auto options = std::make_shared<InspectOptions>();
  flags
      .Add("path", options->path,
           "Folder: a model, a training run, runs of several seeds, a checkpoint, a BEIR data set, "
           "an index, "
           "embeddings (also in parts), the cache (~/.cache/tandem). File: "
           ".safetensors, .npy, .jsonl (texts or training lines), .csv (training lines), .trec or "
           ".run, .tsv (judgements or training lines), .qrels (judgements), .embeddings (of the "
           "cache)")
      .Required();
  flags.Add("--format", options->format, "text or json").OneOf({"text", "json"}).ShowDefault();
  flags.AddSwitch("--verify", options->verify,
                  "Of embeddings in parts: also compare all checksums, and look for ids that come "
                  "twice");
  AddLineFlags(flags, options->lines);
  return [options](const Globals& globals) {
    const int threads = ThreadsOf(globals);
    if (options->verify) VerifyParts(options->path, threads);
    PrintInspection(Inspect(options->path, LineRulesOf(options->lines, options->path), threads),
                    options->format);
  };
}

constexpr Example kInspectExamples[] = {
    {"tandem inspect data/mine", "Say what a data set holds"},
    {"tandem inspect models/all-MiniLM-L6-v2 --format json", "Describe a model for programs"},
};

}  // namespace

extern const Command kInspectCommand{
    {.name = "inspect", .summary = "Show what a model folder or a file holds"},
    ConfigureInspect,
    kInspectExamples};

}  // namespace tandem::app
