// `tandem inspect`: what a model folder, weights file or data file holds.
#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "app/commands.h"
#include "app/inspection.h"

namespace tandem::app {
namespace {

struct InspectOptions {
  std::string path;
  std::string format = "text";
};

std::function<void()> Configure(CLI::App& app) {
  const auto options = std::make_shared<InspectOptions>();
  app.add_option("path", options->path,
                 "Model folder, or a file: .safetensors, .npy, .jsonl (texts), .trec or .run, "
                 ".tsv or .qrels (judgements)")
      ->required();
  app.add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  return [options] { PrintInspection(Inspect(options->path), options->format); };
}

}  // namespace

const Command kInspectCommand{"inspect", "Show what a model folder or a file holds", Configure};

}  // namespace tandem::app
