// `tandem index build`: makes an index of documents.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/index/index_command.h"
#include "commands/model/model_calibration.h"
#include "index/folder/index_folder.h"

namespace tandem::app {
namespace {

// Refuses wrong options before the model is loaded.
void Check(const IndexBuildCommandOptions& options) {
  MemoryOf(options.memory);
  if (options.recall && !(*options.recall > 0 && *options.recall <= 1)) {
    throw UsageError(
        fmt::format("--recall must be above 0 and at most 1, found {}", *options.recall));
  }
  data::ParseMetadataFields(options.input.fields);
  if (options.input.fields.size() > index::kMostFields) {
    throw UsageError(fmt::format("--field is given {} times; an index has at most {} fields",
                                 options.input.fields.size(), index::kMostFields));
  }
  CheckIsProbability(options.min_probability);
  if (!options.kind.empty()) {
    KindParamsOf(index::FindIndexKind(options.kind), options.set, options.recall);
  } else if (!options.set.empty()) {
    throw UsageError("--set gives parameters to the kind that --kind names");
  }
  index::CheckOnlyIndexFiles(options.output);
  index::CheckReplaceable(options.output, options.replace);
}

void AddKindFlags(Flags& flags, IndexBuildCommandOptions& options) {
  flags
      .Add("--kind", options.kind,
           fmt::format("{} (tandem list indexes; default: what suits --recall and --memory)",
                       fmt::join(config::EntryNames(index::IndexKinds()), ", ")))
      .Takes("KIND");
  flags.Add("--recall", options.recall,
            "Share of the best 10 documents that a search is to find, up to 1 (default: 0.95)");
  flags
      .Add("--set", options.set,
           "NAME=VALUE: a parameter of the kind (tandem explain KIND); may be given several times")
      .OneValueEachTime();
  flags
      .Add("--memory", options.memory,
           "For work, besides what the kind itself holds; without --kind, for searching too")
      .ShowDefault();
}

void AddContentFlags(Flags& flags, IndexBuildCommandOptions& options) {
  AddTextInputFlags(flags, options.input);
  AddFieldFlag(flags, options.input);
  flags.Add(
      "--min-probability", options.min_probability,
      "Searches leave out hits that are less probably right, from 0 to 1, unless they ask for "
      "another one; needs a calibrated model (tandem calibrate)");
  flags.AddSwitch("--no-texts", options.no_texts,
                  "Keep no texts: answers then have ids and scores alone");
  flags.AddSwitch("--with-model", options.with_model,
                  "Copy the model into the index, so that it can be moved alone");
}

CommandBody ConfigureBuild(Flags& flags) {
  const auto options = std::make_shared<IndexBuildCommandOptions>();
  options->model.prompts_documents = true;
  flags.Add("model", options->model.model, "Model folder").Required();
  AddDocumentsArgument(flags, options->documents);
  flags.Add("--output", options->output, "Folder of the index")
      .Folder("an index is several files")
      .Required();
  flags.AddSwitch("--replace", options->replace,
                  "Build an index anew that is there; it answers until the new one is complete");
  AddPartsFlag(flags, options->embeddings);
  AddDocumentCacheFlag(flags, options->no_cache);
  AddKindFlags(flags, *options);
  AddContentFlags(flags, *options);
  AddPromptFlag(flags, options->model, "the documents");
  AddDocumentLengthFlags(flags, options->model);
  return [options](const Globals& globals) {
    options->globals = globals;
    Check(*options);
    WaitBriefly();
    RunIndexBuild(*options);
  };
}

constexpr Example kBuildExamples[] = {
    {"tandem index build runs/mine/model data/mine/corpus.jsonl --output mine.index --with-model",
     "Make an index that holds its model"},
    {"tandem index build runs/mine/model notes/*.jsonl --output notes.index --kind bf16",
     "Search exactly, in half the bytes of fp32"},
};

}  // namespace

extern const Command kIndexBuildCommand{
    {.name = "build", .summary = "Encode documents into a new index"},
    ConfigureBuild,
    kBuildExamples};

}  // namespace tandem::app
