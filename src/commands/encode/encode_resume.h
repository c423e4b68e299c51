// What an earlier process of `tandem encode` has left.
#pragma once

#include <cstddef>
#include <string>

#include "commands/encode/encode_journal.h"
#include "commands/encode/encode_paths.h"

namespace tandem::app {

struct EncodeLeft {
  EncodeJournal journal;  // of the blocks that are whole; complete only where all are
  bool finished = false;  // the files have their names already
};

// `has_part`: whether there is a part of the embeddings, whose rows are `width` numbers. Reads all
// blocks and compares their hashes; says (Note) where nothing can be used. Throws what
// CheckSameSettings throws; UsageError where finished files have no journal, DataError where they
// have changed since.
EncodeLeft FindEncodeLeft(const EncodePaths& paths, const std::string& settings, size_t width,
                          bool has_part);

}  // namespace tandem::app
