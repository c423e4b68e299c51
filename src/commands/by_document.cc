#include "commands/by_document.h"

#include "cli/flags.h"

namespace tandem::app {

void AddByDocumentFlag(Flags& flags, bool& by_document) {
  flags.AddSwitch("--by-document", by_document,
                  "Rank documents by the best of their passages, which are the texts with ids "
                  "DOCUMENT#N (tandem pairs --passage-tokens)");
}

}  // namespace tandem::app
