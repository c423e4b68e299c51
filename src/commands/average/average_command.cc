// `tandem average`: makes a model whose weights lie between those of a base and a tuned model.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "base/log.h"
#include "cli/command.h"
#include "cli/example.h"
#include "cli/flags.h"
#include "weights/folders/average_models.h"

namespace tandem::app {
namespace {

struct AverageOptions {
  std::string base;
  std::string tuned;
  double weight = 0.5;
  std::string output;
};

void RunAverage(const AverageOptions& options) {
  weights::AverageModels(options.base, options.tuned, options.weight, options.output);
  Note(fmt::format("wrote {}: {:g} of {} and {:g} of {}", options.output, 1 - options.weight,
                   options.base, options.weight, options.tuned));
}

CommandBody ConfigureAverage(Flags& flags) {
  const auto options = std::make_shared<AverageOptions>();
  flags.Add("base", options->base, "Model folder that the other model was trained from").Required();
  flags.Add("tuned", options->tuned, "Model folder of the trained model").Required();
  flags
      .Add("--weight", options->weight,
           "Weight of the tuned model, from 0 (the base) to 1 (the tuned model)")
      .ShowDefault();
  flags
      .Add("-o,--output", options->output,
           "Model folder to write, which must not exist; averaged weights are float32, those that "
           "are the same in both keep their type")
      .Required();
  return [options](const Globals&) { RunAverage(*options); };
}

constexpr Example kAverageExamples[] = {
    {"tandem average models/base runs/mine/model --weight 0.5 --output models/between",
     "Half of what training changed: often nearly its gain, at less loss elsewhere"},
    {"tandem average models/base runs/mine/model --weight 0.9 --output models/nearly",
     "Nearly the tuned model"},
};

}  // namespace

extern const Command kAverageCommand{
    {.name = "average", .summary = "Average the weights of a base and a tuned model"},
    ConfigureAverage,
    kAverageExamples};

}  // namespace tandem::app
