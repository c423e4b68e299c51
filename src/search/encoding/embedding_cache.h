// Embeddings of many texts, made once and found again by later runs.
//
// The cache is a folder (base/files/cache_folder.h); a set of texts has one file in its
// `embeddings/` (embeddings/layouts/cache_file.h), whose name is a hash of its provenance: the
// model (weights, settings), the tokenizer, the kind of texts, prompt and length, the texts in
// their order, precision, instruction sets, thread count and version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/dual_encoder.h"
#include "search/encode.h"
#include "tensor/core/tensor.h"

namespace tandem::search {

struct CacheOptions {
  // The cache (CacheFolder()). Empty: nothing is kept, and the embeddings are in memory.
  std::filesystem::path folder;
  // Bytes of all files of the cache; a new one takes the place of those unused for longest. None:
  // CacheLimit().
  std::optional<uint64_t> limit;
  EncodeOptions encode;  // its window is for EmbedInOrder's sink alone; with a folder, `stop` is
                         // asked between blocks
  // Called between blocks and while another process is waited for. It may throw, to stop: blocks
  // that are finished stay in the cache.
  std::function<void()> between_blocks;
  // Called by all processes of a group after each block that they have encoded together. It may
  // throw where it throws on all of them.
  std::function<void()> between_shared_blocks;
  // Told after each block how many texts this call has encoded. It may throw too.
  std::function<void(size_t texts)> progress;
};

struct CachedEmbeddings {
  // float32 [distinct texts, E], not normalised. A cache gives the pages of its file: they may be
  // read only, and need no memory of their own.
  tensor::Tensor rows;
  std::vector<uint32_t> row_of;  // [count]: the row of each text; empty: text i has row i
  EncodeCounts counts;           // of the texts that this call encoded
  std::filesystem::path file;    // in the cache; empty: none

  size_t distinct() const { return static_cast<size_t>(rows.size(0)); }
  // Copies of the rows of texts first to first + count - 1, float32 [count, E].
  tensor::Tensor RowsOf(size_t first, size_t count) const;
};

// In a group of processes (options.encode.group) only rank 0 uses the cache; the others get all
// rows into their memory.
//
// The embeddings of the distinct texts among `count`, in the order in which they first occur, from
// the cache or encoded with it. Says (Note, Warn) how many came from the cache, and how many of
// these texts were cut; where options.encode has a label, also how many texts are copies of others.
// Warns of files that are not what they should be (cache_file.h). Needs memory for a block of
// texts, besides 40 bytes a text. `text` must keep the views that it returned valid. The bytes are
// the same whether texts are encoded in one go, after an interruption, or without a cache. Where
// the cache cannot be written, or has too little room, this is said (Warn), and the embeddings are
// in memory. Throws what EncodeTexts throws.
CachedEmbeddings EmbedDistinct(model::DualEncoder& model, model::TextKind kind, size_t count,
                               const TextSource& text, const CacheOptions& options);

// Gives the embeddings of all `count` texts in their order to `sink`, in windows of
// options.encode.window_texts; `rows` may be memory that is used again for the next window. They
// have the bytes of EmbedDistinct's, and come from the cache as there. Where nothing can be kept,
// memory holds a window, and the rows of texts that occur again later. Processes of a group use no
// cache. Returns the counts of the texts that were encoded.
EncodeCounts EmbedInOrder(model::DualEncoder& model, model::TextKind kind, size_t count,
                          const TextSource& text, const CacheOptions& options,
                          const EmbeddingSink& sink);

// The embeddings that EmbedDistinct would find for the same texts.
struct CacheState {
  size_t distinct = 0;         // texts
  size_t kept = 0;             // of them, in whole blocks of the cache
  std::filesystem::path file;  // that keeps them; empty: none
};

// Reads the file in the cache, if there is one; changes nothing in it. Warns where EmbedDistinct
// could not make the file: nobody may write there, or the disk has too little room.
CacheState LookIntoCache(model::DualEncoder& model, model::TextKind kind, size_t count,
                         const TextSource& text, const CacheOptions& options);

// The embeddings of `count` texts, where the cache has all of them; else nothing. Where no text
// comes twice they have the bytes that EncodeTexts gives in windows of kBlockRows; else those that
// EmbedDistinct gives, which differ by rounding. Reads texts only where the cache has a file that
// this model made in the same way, each once or twice; memory is 20 bytes a text where that file
// has fewer texts, else it does not grow with `count`. Changes nothing in the cache. Says (Note,
// Warn) that embeddings are from it, as EmbedDistinct does, or, where it has others of this model,
// why none are.
std::optional<CachedEmbeddings> FindInCache(model::DualEncoder& model, model::TextKind kind,
                                            size_t count, const TextSource& text,
                                            const CacheOptions& options);

}  // namespace tandem::search
