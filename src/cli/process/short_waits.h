// How threads that compute wait for each other.
#pragma once

namespace tandem::app {

// Remembers the arguments that main was called with.
void RememberArguments(int argc, char** argv);

// Makes threads of libgomp that wait for others sleep soon, as it is best where the machine has
// other work too. libgomp reads from the environment, when it is loaded, how long they spin: so
// this replaces the process by the same program with the same arguments and another environment,
// and does not return then. It does nothing where OMP_WAIT_POLICY is set, by the user or by an
// earlier call. Commands call it before they compute on several threads and before they read or
// write anything. Throws Error where the program cannot be started.
void WaitBriefly();

}  // namespace tandem::app
