// What a command of `tandem` is.
//
// A command is one file, NAME_command.cc: an options struct, its flags, what runs, and the
// descriptor. Flags and help of every command are in the torch-free program, so that `tandem train
// --help` starts at once. What a command does with tensors is in a second file, NAME_run.cc
// (cli/process/torch_half.h).
#pragma once

#include <functional>
#include <span>

#include "config/catalogue.h"

namespace tandem::app {

class Flags;     // cli/flags.h
struct Globals;  // cli/globals.h

// What a command does once its flags are parsed. Commands that need the flags of every command pass
// them on to what needs them.
using CommandBody = std::function<void(const Globals& globals)>;

struct Command : config::EntryInfo {  // its summary stands in `tandem --help`
  // Adds the command's flags and returns what runs once they are parsed. Null where `parts` do the
  // work.
  CommandBody (*configure)(Flags& flags);
  // Commands of their own after this one's name: `tandem index build`. Null: none.
  std::span<const Command* const> (*parts)() = nullptr;
};

}  // namespace tandem::app
