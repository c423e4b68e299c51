// The two halves of the program.
//
// `tandem` holds everything that needs no tensors and starts in milliseconds. `tandem-torch` holds
// everything, links libtorch (285 libraries, half a second), and takes the place of `tandem` for
// the commands that need it. Both programs compile the same command files.
//
// A command that needs tensors does its work in a function that NAME_command.h declares and
// NAME_run.cc defines; only `tandem-torch` has that source. NAME_command.cc defines the function
// too, as a weak symbol, which the linker takes where there is no other, that is in `tandem`:
//
//   [[gnu::weak]] void RunEncode(const EncodeCommandOptions&) { ReplaceByTorchHalf(); }
//
// The function in NAME_run.cc starts with tensor::SetUpProcess (or LoadModel, which calls it),
// because libtorch begins with one thread.
#pragma once

namespace tandem::app {

// Starts tandem-torch in the place of this process, with the same arguments; never returns. Throws
// UsageError when this build has no torch half, and std::logic_error in tandem-torch itself, which
// then lacks the command's NAME_run.cc.
[[noreturn]] void ReplaceByTorchHalf();

// The arguments that main was called with.
void RememberArguments(int argc, char** argv);

}  // namespace tandem::app
