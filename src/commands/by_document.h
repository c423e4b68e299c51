// The flag of commands that rank documents by their passages (data/texts/passage_groups.h).
#pragma once

namespace tandem::app {

class Flags;  // cli/flags.h

// Adds --by-document.
void AddByDocumentFlag(Flags& flags, bool& by_document);

}  // namespace tandem::app
