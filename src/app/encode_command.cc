#include "app/encode_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/torch_half.h"

namespace tandem::app {
namespace {

std::function<void()> Configure(CLI::App& app) {
  const auto options = std::make_shared<EncodeCommandOptions>();
  app.add_option("--model", options->model.model, "Model folder")->required();
  app.add_option("--input", options->input,
                 "JSON lines {\"_id\", \"text\"[, \"title\"]}, also .gz; - for standard input")
      ->required();
  app.add_option("--output", options->output,
                 "Folder for embeddings.npy (float32 [N, E]) and ids.txt, in input order")
      ->required();
  app.add_option("--kind", options->kind,
                 "document or query: which encoder, prompt and length limit texts get")
      ->check(CLI::IsMember({"document", "query"}))
      ->capture_default_str();
  AddLengthFlags(app, options->model);
  return [options] { RunEncode(*options); };
}

}  // namespace

const Command kEncodeCommand{"encode", "Turn texts into embeddings", Configure};

}  // namespace tandem::app
