// The texts of `tandem list` and `tandem explain` about encoders.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace tandem::app {

// Returns the architectures of weights/architecture.h as a catalogue.
config::Catalogue EncoderCatalogue();

// Returns the reference of all architectures in Markdown: docs/models.md.
std::string EncoderReference();

}  // namespace tandem::app
