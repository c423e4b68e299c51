#include "app/encode_command.h"

#include <memory>

#include "app/command.h"
#include "app/flags.h"
#include "app/torch_half.h"

namespace tandem::app {
namespace {

std::function<void()> Configure(Flags& flags) {
  const auto options = std::make_shared<EncodeCommandOptions>();
  flags.Add("--model", options->model.model, "Model folder").Required();
  flags
      .Add("--input", options->input,
           "JSON lines {\"_id\", \"text\"[, \"title\"]}, also .gz; - for standard input")
      .Required();
  flags
      .Add("--output", options->output,
           "Folder for embeddings.npy (float32 [N, E]) and ids.txt, in input order")
      .Folder("embeddings and ids are two files")
      .Required();
  flags
      .Add("--kind", options->kind,
           "document or query: which encoder, prompt and length limit texts get")
      .OneOf({"document", "query"})
      .ShowDefault();
  AddPromptFlag(flags, options->model, "the texts");
  AddLengthFlags(flags, options->model);
  return [options] {
    options->model.prompts_documents = options->kind == "document";
    RunEncode(*options);
  };
}

}  // namespace

[[gnu::weak]] void RunEncode(const EncodeCommandOptions&) { ReplaceByTorchHalf(); }

extern const Command kEncodeCommand{{.name = "encode", .summary = "Turn texts into embeddings"},
                                    Configure};

}  // namespace tandem::app
