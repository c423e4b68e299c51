// The flags of commands that make splits.
#pragma once

#include <optional>
#include <string>

#include "import/splits/holdout.h"

namespace tandem::app {

class Flags;  // cli/flags.h

struct HoldoutFlags {
  std::optional<std::string> share;  // "15%"; none: the flag was not given
  std::string default_share;
  std::string split_by;  // "documents" or "queries"
};

// Adds --holdout, whose default is `share`, and --split-by.
void AddHoldoutFlags(Flags& flags, HoldoutFlags& holdout, const char* share);

// Throws UsageError for what is no share.
import_data::HoldoutOptions HoldoutOptionsOf(const HoldoutFlags& holdout, uint64_t seed);

}  // namespace tandem::app
