// The text of `tandem --version`.
#pragma once

#include <string>

namespace tandem::app {

// Returns the version alone: "0.1.0".
std::string Version();

// Returns several lines: Tandem's version, the libraries it was built with, where the plug-in for
// GPUs and several processes is (it is not loaded), the processor's features, and the instructions
// among them that the kernels use. Throws UsageError if TANDEM_ISA does not fit the processor.
std::string VersionText();

}  // namespace tandem::app
