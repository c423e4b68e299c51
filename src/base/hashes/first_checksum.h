// The checksum of files that version 1 of the formats of indexes and of embeddings in parts wrote.
// Such files are still read; what is written has base/hashes/checksum.h's own.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/hashes/checksum.h"

namespace tandem {

// The checksum of a piece, and the one that those of a file's pieces and its size make together.
Checksum FirstChecksumOfPiece(std::string_view bytes);
Checksum JoinedFirstChecksums(std::span<const Checksum> pieces, uint64_t bytes);

}  // namespace tandem
