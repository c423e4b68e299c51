// Makes libtorch the back end of this process.
#pragma once

namespace tandem::libtorch {

// Registers everything that libtorch computes for Tandem: functions and operations of tensors on
// devices, forms of objectives and optimizers, groups of processes; and gives libtorch Tandem's
// count of threads. A program that has libtorch linked calls it at its start; the plug-in when it
// is loaded. Further calls set the count of threads alone. Thread-safe.
void UseInThisProcess();

}  // namespace tandem::libtorch
