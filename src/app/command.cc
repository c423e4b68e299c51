#include "app/command.h"

#include <iterator>

#include "app/commands.h"

namespace tandem::app {
namespace {

// In the order of `tandem --help`: from data to serving.
const Command* const kCommands[] = {
    &kTrainCommand, &kEncodeCommand,   &kSearchCommand, &kEvaluateCommand, &kInspectCommand,
    &kLossCommand,  &kTokenizeCommand, &kListCommand,   &kExplainCommand,
};

}  // namespace

std::span<const Command* const> Commands() { return {kCommands, std::size(kCommands)}; }

}  // namespace tandem::app
