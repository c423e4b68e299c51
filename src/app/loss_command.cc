#include "app/loss_command.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "app/commands.h"
#include "app/torch_half.h"

namespace tandem::app {
namespace {

std::function<void()> Configure(CLI::App& app) {
  const auto options = std::make_shared<LossOptions>();
  app.add_option("cases", options->cases,
                 "JSON list of cases: objective, parameters, queries, documents, positive, masks")
      ->required();
  app.add_option("--dtype", options->dtype, "Type of the embeddings and their gradients")
      ->check(CLI::IsMember({"float64", "float32"}))
      ->capture_default_str();
  app.add_flag("--check", options->check,
               "Compare with the expected loss and gradients of each case; exit 6 when one is out "
               "of bounds");
  app.add_option("--format", options->format, "Format of the table that --check prints")
      ->check(CLI::IsMember({"text", "json", "tsv"}))
      ->capture_default_str();
  return [options] { RunLoss(*options); };
}

}  // namespace

const Command kLossCommand = {"loss", "Evaluate objectives on given embeddings, with gradients",
                              Configure};

}  // namespace tandem::app
