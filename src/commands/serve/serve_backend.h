// The backend of `tandem serve`: a model, and perhaps an index that was made with it.
#pragma once

#include <memory>

#include "commands/serve/serve_command.h"
#include "serve/backend.h"

namespace tandem::app {

// Opens the folder in its present state. Throws ModelError, DataError, UsageError.
std::shared_ptr<serve::Backend> OpenServeBackend(const ServeCommandOptions& options);

}  // namespace tandem::app
