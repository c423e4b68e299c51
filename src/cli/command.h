// A command of `tandem`.
//
// A command is one file, NAME_command.cc: an options struct, its flags, the function that runs it,
// and the descriptor. Flags and help of every command are in the torch-free program, so that
// `tandem train --help` starts at once. Code that needs tensors is in a second file, NAME_run.cc
// (cli/process/torch_half.h).
#pragma once

#include <functional>
#include <span>

#include "config/catalogue.h"

namespace tandem::app {

class Flags;     // cli/flags.h
struct Globals;  // cli/globals.h

// Runs the command after its flags are parsed. Commands that need the global flags pass them on.
using CommandBody = std::function<void(const Globals& globals)>;

struct Command : config::EntryInfo {  // its summary is shown in `tandem --help`
  // Adds the command's flags and returns the function that runs after they are parsed. Null if
  // `parts` do the work.
  CommandBody (*configure)(Flags& flags);
  // Returns commands that follow this one's name, as in `tandem index build`. Null: none.
  std::span<const Command* const> (*parts)() = nullptr;
};

}  // namespace tandem::app
