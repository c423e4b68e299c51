// A command of `tandem`.
//
// A command is one file, NAME_command.cc: an options struct, its flags, the function that runs it,
// and the descriptor. The work of one that computes with tensors is in a second file, NAME_run.cc,
// in a function that NAME_command.h declares. NAME_command.cc calls WaitBriefly
// (cli/process/short_waits.h) before it, and that function begins with tensor::SetUpProcess (or
// LoadModel, which calls it).
#pragma once

#include <functional>
#include <span>

#include "cli/example.h"
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
  std::span<const Example> examples = {};  // shown in its help: two or more
  // Returns commands that follow this one's name, as in `tandem index build`. Null: none.
  std::span<const Command* const> (*parts)() = nullptr;
};

}  // namespace tandem::app
