// 64-bit hashes of texts, by which copies are found.
#pragma once

#include <cstdint>
#include <string_view>

namespace tandem {

// The hash is the same on every machine and in every run. It must stay as it is: the fingerprints
// that checkpoints and indexes hold are made of it, and so are the look-ups of ids in indexes and
// draws of pools. Among ten million different texts the chance of any collision is about 3e-6. It
// does not withstand texts made to collide.
uint64_t TextHash(std::string_view text);

}  // namespace tandem
