#include "commands/encode/encode_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/error.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"
#include "commands/encode/encode_shard.h"

namespace tandem::app {
namespace {

constexpr int64_t kMostBlockTexts = 1'000'000'000;

// The words without a flag: first the model, unless --model names it, then inputs.
struct Words {
  std::string first;
  std::vector<std::string> others;
};

void Assign(const Words& words, EncodeCommandOptions* options) {
  std::vector<std::string> inputs;
  if (!words.first.empty()) {
    if (options->model.model.empty()) {
      options->model.model = words.first;
    } else {
      inputs.push_back(words.first);
    }
  }
  inputs.insert(inputs.end(), words.others.begin(), words.others.end());
  options->inputs.insert(options->inputs.begin(), inputs.begin(), inputs.end());
  if (options->model.model.empty()) throw UsageError("name a model, or give --model");
  if (options->inputs.empty()) throw UsageError("name files of texts, or give --input");
}

// Refuses wrong options before the model is loaded.
void Check(EncodeCommandOptions* options) {
  if (!options->shard.empty()) ParseShard(options->shard);
  const bool to_stdout = options->output == "-";
  if (options->resume && options->force) {
    throw UsageError("--resume keeps finished files and --force replaces them; give one of them");
  }
  if (!to_stdout && !options->output_format.empty()) {
    throw UsageError("--output-format is for --output -; files are .npy");
  }
  if (!to_stdout) return;
  if (options->resume) throw UsageError("--resume is for files; --output - leaves none");
  if (options->force) throw UsageError("--force is for files; --output - leaves none");
  if (options->output_format.empty()) options->output_format = "jsonl";
  if (options->output_format != "jsonl" && ::isatty(STDOUT_FILENO) != 0) {
    throw UsageError(fmt::format(
        "--output-format {} is binary, and standard output a terminal; lead it into a program or a "
        "file, or take jsonl",
        options->output_format));
  }
}

void AddEncodeInputFlags(Flags& flags, EncodeCommandOptions& options, Words& words) {
  flags.Add("model-folder", words.first, "Model folder");
  flags.Add("inputs", words.others,
            "Files of texts, also .gz, patterns as \"notes/*.jsonl\", BEIR folders, or - for "
            "standard input");
  flags.Add("--model", options.model.model, "Model folder, where it does not stand first");
  flags.Add("--input", options.inputs,
            "The same as `inputs`; lines {\"_id\", \"text\"[, \"title\"]}");
  AddTextInputFlags(flags, options.texts);
}

void AddOutputFlags(Flags& flags, EncodeCommandOptions& options) {
  flags
      .Add("--output", options.output,
           "NAME.npy (float32 [N, E], in input order) beside NAME.ids.txt; else a folder for "
           "embeddings.npy and ids.txt; - for standard output")
      .Required();
  flags
      .Add(
          "--output-format", options.output_format,
          "On standard output: jsonl ({\"id\", \"embedding\"}), npy (files only, which are counted "
          "first), or raw (float32 without a header)")
      .OneOf({"jsonl", "npy", "raw"})
      .ShowDefault("jsonl");
  flags
      .Add("--shard", options.shard,
           "I/N: encode the I-th of N shares of the input, counted from 0, into a part of the "
           "folder --output; under torchrun, srun or mpirun each process takes its rank's")
      .Takes("I/N");
  flags.AddSwitch("--resume", options.resume,
                  "Go on where an interrupted run of the same command stopped, to the same bytes");
  flags.AddSwitch("--force", options.force,
                  "Encode anew where there are finished files, and replace them in the end");
  flags
      .Add("--block-texts", options.block_texts,
           "Texts that are encoded and written together; an interruption loses one block")
      .Between(1, kMostBlockTexts)
      .ShowDefault();
}

CommandBody ConfigureEncode(Flags& flags) {
  const auto options = std::make_shared<EncodeCommandOptions>();
  const auto words = std::make_shared<Words>();
  AddEncodeInputFlags(flags, *options, *words);
  AddOutputFlags(flags, *options);
  flags
      .Add("--kind", options->kind,
           "document or query: which encoder, prompt and length limit texts get")
      .OneOf({"document", "query"})
      .ShowDefault();
  AddPromptFlag(flags, options->model, "the texts");
  AddLengthFlags(flags, options->model);
  return [options, words](const Globals& globals) {
    options->globals = globals;
    Assign(*words, options.get());
    Check(options.get());
    options->model.prompts_documents = options->kind == "document";
    WaitBriefly();
    RunEncode(*options);
  };
}

constexpr Example kEncodeExamples[] = {
    {"tandem encode runs/mine/model data/mine/corpus.jsonl --output embeddings",
     "Write embeddings.npy and ids.txt into a folder"},
    {"zcat texts.gz | tandem encode runs/mine/model - --format lines --output -",
     "Encode lines of standard input to lines of JSON"},
};

}  // namespace

extern const Command kEncodeCommand{
    {.name = "encode", .summary = "Turn texts into embeddings"}, ConfigureEncode, kEncodeExamples};

}  // namespace tandem::app
