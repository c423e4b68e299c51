// What `tandem serve` answers with: a model, and perhaps an index of it.
#pragma once

#include <memory>

#include "commands/serve/serve_command.h"
#include "serve/backend.h"

namespace tandem::app {

// Opens the folder as it is now. Throws ModelError, DataError, UsageError.
std::shared_ptr<serve::Backend> OpenServeBackend(const ServeCommandOptions& options);

}  // namespace tandem::app
