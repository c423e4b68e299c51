// What a command of `tandem` is, and the explicit table of all of them.
//
// A command is one file: an options struct, its flags, and a Run function. Flags and help of every
// command live in the torch-free program, so that `tandem train --help` starts at once; a Run
// function that needs tensors is declared in `torch_half.h`.
#pragma once

#include <functional>
#include <span>
#include <string_view>

namespace tandem::app {

class Flags;  // app/flags.h

struct Command {
  std::string_view name;
  std::string_view summary;  // one line, for `tandem --help`
  // Adds the command's flags and returns what runs once they are parsed.
  std::function<void()> (*configure)(Flags& flags);
};

std::span<const Command* const> Commands();

}  // namespace tandem::app
