#include "commands/loss/loss_command.h"

#include <memory>

#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "cli/process/short_waits.h"

namespace tandem::app {
namespace {

CommandBody ConfigureLoss(Flags& flags) {
  const auto options = std::make_shared<LossOptions>();
  flags
      .Add("cases", options->cases,
           "JSON list of cases: objective, parameters, queries, documents, positive, masks")
      .Required();
  flags.Add("--dtype", options->dtype, "Type of the embeddings and their gradients")
      .OneOf({"float64", "float32"})
      .ShowDefault();
  flags.AddSwitch(
      "--check", options->check,
      "Compare with the expected loss and gradients of each case; exit 6 when one is out "
      "of bounds");
  flags.Add("--format", options->format, "Format of the table that --check prints")
      .OneOf({"text", "json", "tsv"})
      .ShowDefault();
  return [options](const Globals& globals) {
    options->globals = globals;
    WaitBriefly();
    RunLoss(*options);
  };
}

constexpr Example kLossExamples[] = {
    {"tandem loss cases.json", "Print losses and gradients as JSON"},
    {"tandem loss cases.json --check", "Compare with those that the cases carry"},
};

}  // namespace

extern const Command kLossCommand{
    {.name = "loss", .summary = "Evaluate objectives on given embeddings, with gradients"},
    ConfigureLoss,
    kLossExamples};

}  // namespace tandem::app
