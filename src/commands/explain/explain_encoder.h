// What `tandem list` and `tandem explain` say of encoders.
#pragma once

#include <string>

#include "config/catalogue.h"

namespace tandem::app {

// The architectures of weights/architecture.h as a catalogue.
config::Catalogue EncoderCatalogue();

// The reference of all architectures in Markdown: docs/models.md.
std::string EncoderReference();

}  // namespace tandem::app
