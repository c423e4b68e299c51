// Writes the embeddings of `tandem encode` to standard output.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "embeddings/block_output.h"

namespace tandem::app {

// Makes the output. `format` is "jsonl", a line {"id": ..., "embedding": [...]} for each text,
// whose numbers are read back as the same float32; "npy", whose Begin needs the number of texts; or
// "raw", float32 [N, E], little-endian, without a header. Each block is flushed. `width` is E.
std::unique_ptr<embeddings::BlockOutput> MakeEncodeStdout(std::string_view format, size_t width);

}  // namespace tandem::app
