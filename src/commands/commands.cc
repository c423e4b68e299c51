#include "commands/commands.h"

#include <fmt/format.h>

#include <string>

namespace tandem::app {

config::Catalogue CommandCatalogue() {
  return {.name = "commands",
          .entry = "command",
          .table = "",
          .summary = "what tandem does: tandem COMMAND --help",
          .entries = config::EntriesOf(Commands()),
          .details = [](const config::EntryInfo& entry) {
            std::string text;
            const Command* command = config::FindEntry(Commands(), entry.name);
            if (command != nullptr && command->parts != nullptr) {
              for (const Command* part : command->parts()) {
                text += fmt::format("tandem {} {}: {}\n", entry.name, part->name, part->summary);
              }
            }
            return text + fmt::format("flags: tandem {} --help\n", entry.name);
          }};
}

}  // namespace tandem::app
