// What a command of `tandem` is, and all commands.
//
// A command is one file, NAME_command.cc: an options struct, its flags, what runs, and the
// descriptor. Flags and help of every command are in the torch-free program, so that `tandem train
// --help` starts at once. What a command does with tensors is in a second file, NAME_run.cc
// (app/torch_half.h).
#pragma once

#include <functional>
#include <span>

#include "config/catalogue.h"

namespace tandem::app {

class Flags;  // app/flags.h

struct Command : config::EntryInfo {  // its summary stands in `tandem --help`
  // Adds the command's flags and returns what runs once they are parsed. Null where `parts` do the
  // work.
  std::function<void()> (*configure)(Flags& flags);
  // Commands of their own behind this one's name: `tandem index build`. Null: none.
  std::span<const Command* const> (*parts)() = nullptr;
};

// Every command in the order of `tandem --help`. The table is written from CMakeLists.txt.
std::span<const Command* const> Commands();
// The same for `tandem list` and `tandem explain`.
config::Catalogue CommandCatalogue();

}  // namespace tandem::app
