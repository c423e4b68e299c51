// What the plug-in libtandem-torch.so shows to the program that loads it.
//
// The plug-in (src/libtorch) drives GPUs, computes in libtorch's operations and makes groups of
// several processes. It is compiled from the same tree as the program and links none of its rooms:
// it takes their functions and objects from the program, which exports them, so that there is one
// of each in the process. What it gives is in the registries of these rooms (tensor, objective,
// optim, dist) once `use` has been called. Both sides must therefore be made from the same
// headers.
#pragma once

namespace tandem::back_end {

// To be raised with every change of the table below. What else both know of each other is compared
// by its hash (`interface`).
inline constexpr int kBackEndVersion = 2;

struct Table {
  int version;            // kBackEndVersion of the plug-in; stays the first member for ever
  const char* release;    // the version of Tandem that it was built from: "0.1.0"
  const char* interface;  // kInterface of its build: the hash of the headers that both share
  // Registers all that the back end gives; a second call does nothing. Throws UsageError where this
  // machine has not what it needs.
  void (*use)();
};

}  // namespace tandem::back_end

// Returns the plug-in's table, which lives as long as the process.
extern "C" const tandem::back_end::Table* TandemBackEnd();
