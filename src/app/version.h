// What `tandem --version` prints.
#pragma once

#include <string>

namespace tandem::app {

// "0.1.0".
std::string Version();

// Tandem's version, the libraries it was built with and the processor's features, one per line.
std::string VersionText();

}  // namespace tandem::app
