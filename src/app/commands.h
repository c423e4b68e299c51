// The descriptor of every command; each is defined in its own file, NAME_command.cc.
#pragma once

#include "app/command.h"

namespace tandem::app {

extern const Command kEncodeCommand;
extern const Command kEvaluateCommand;
extern const Command kInspectCommand;
extern const Command kLossCommand;
extern const Command kSearchCommand;
extern const Command kTokenizeCommand;
extern const Command kListCommand;
extern const Command kExplainCommand;
extern const Command kTrainCommand;

}  // namespace tandem::app
