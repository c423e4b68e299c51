// The error that ends the program, for the program that has started it.
#pragma once

#include <string_view>

#include "base/error.h"
#include "base/json/json.h"

namespace tandem::app {

// Returns `message`, "error"; `text`; `class` as base/error.h names it; `exit_code`; and of `file`,
// `line`, `column`, `key`, `id`, `tensor` and `errno` those that the error knows.
// docs/cli/README.md describes it for users.
Json ErrorRecord(std::string_view text, const Error& error);

}  // namespace tandem::app
