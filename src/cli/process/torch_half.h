// The program consists of two executables.
//
// `tandem` holds everything that needs no tensors and starts in milliseconds. `tandem-torch` holds
// everything, links libtorch (285 libraries, half a second), and takes the place of `tandem` for
// the commands that need it. Both compile the same command files.
//
// A command that needs tensors does its work in a function that NAME_command.h declares and
// NAME_run.cc defines; only `tandem-torch` has that source. NAME_command.cc defines the function
// too, as a weak symbol. The linker takes it if there is no other definition, that is, in `tandem`:
//
//   [[gnu::weak]] void RunEncode(const EncodeCommandOptions&) { ReplaceByTorchHalf(); }
//
// The function in NAME_run.cc starts with tensor::SetUpProcess (or LoadModel, which calls it),
// because libtorch begins with one thread.
#pragma once

namespace tandem::app {

// Replaces this process by tandem-torch with the same arguments; never returns. Throws UsageError
// if this build has no tandem-torch, and std::logic_error in tandem-torch itself, if it lacks the
// command's NAME_run.cc.
[[noreturn]] void ReplaceByTorchHalf();

// Remembers the arguments that main was called with.
void RememberArguments(int argc, char** argv);

}  // namespace tandem::app
