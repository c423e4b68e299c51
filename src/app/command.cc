#include "app/command.h"

#include <fmt/format.h>

namespace tandem::app {

config::Catalogue CommandCatalogue() {
  return {.name = "commands",
          .entry = "command",
          .table = "",
          .summary = "what tandem does: tandem COMMAND --help",
          .entries = config::EntriesOf(Commands()),
          .details = [](const config::EntryInfo& entry) {
            return fmt::format("flags: tandem {} --help\n", entry.name);
          }};
}

}  // namespace tandem::app
