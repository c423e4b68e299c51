// Finds the parts of a .npy file, its ids and its journal that an earlier process has left.
#pragma once

#include <cstddef>

#include "embeddings/layouts/npy_journal.h"
#include "embeddings/layouts/npy_paths.h"

namespace tandem::embeddings {

struct NpyLeft {
  Journal journal;        // of the blocks that are whole; complete only where all are
  bool finished = false;  // the files have their names already
};

// `has_part`: whether there is a part of the embeddings, whose rows are `width` numbers. Reads all
// blocks and compares their hashes; says (Note) where nothing can be used. Throws what
// CheckSameProvenance throws; UsageError where finished files have no journal, DataError where they
// have changed since.
NpyLeft FindNpyLeft(const NpyPaths& paths, const Provenance& provenance, size_t width,
                    bool has_part);

}  // namespace tandem::embeddings
