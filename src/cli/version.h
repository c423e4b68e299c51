// What `tandem --version` prints.
#pragma once

#include <string>

namespace tandem::app {

// "0.1.0".
std::string Version();

// Lines: Tandem's version, the libraries it was built with, the processor's features, and the
// instructions that kernels take of them. Throws UsageError for a TANDEM_ISA that does not fit.
std::string VersionText();

}  // namespace tandem::app
