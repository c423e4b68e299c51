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

class Flags;  // cli/flags.h

struct Command : config::EntryInfo {  // its summary stands in `tandem --help`
  // Adds the command's flags and returns what runs once they are parsed. Null where `parts` do the
  // work.
  std::function<void()> (*configure)(Flags& flags);
  // Commands of their own behind this one's name: `tandem index build`. Null: none.
  std::span<const Command* const> (*parts)() = nullptr;
};

}  // namespace tandem::app
