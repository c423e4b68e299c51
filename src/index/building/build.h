// Builds an index from documents, and adds to one.
//
// A change first reads all documents, then encodes them block by block, then builds the kind. It
// can be killed at any moment: the same call goes on after the last whole block of vectors, to the
// same bytes. Memory is a block of texts and vectors, 16 bytes each for the hashes of 16 million
// ids, the model, and what the kind takes; it does not grow with the number of documents, but for
// kinds that must hold them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "embeddings/layouts/parts.h"
#include "index/building/new_segment.h"
#include "index/document_index.h"
#include "index/folder/manifest.h"
#include "index/folder/staged_documents.h"
#include "model/dual_encoder.h"
#include "search/encode.h"

namespace tandem::index {

struct DocumentSource {
  NextDocument next;
  // A hash of what decides which documents come (data::TextInput::SourceHash). 0: nobody can say,
  // so that a change is not taken up again. One that does not come to its end then stops at once,
  // not after the block under way, and leaves nothing behind.
  uint64_t hash = 0;
};

// A model that is loaded, and how it encodes.
struct IndexEncoder {
  model::DualEncoder& model;
  search::EncodeOptions encode;
  IndexModel description;  // DescribeModel
  // Embeddings of all documents, made by this model (OpenPartsFor): none is encoded then. Null: all
  // are.
  const embeddings::EmbeddingParts* parts = nullptr;
  // The cache (search/encoding/embedding_cache.h), from which the embeddings are taken where it has
  // all of them; nothing is kept there. Empty: none.
  std::filesystem::path cache = {};
  // Called once all documents have been read, before the model encodes; what it returns lives until
  // the last one is encoded: the lock of a model that others use meanwhile. Null: nobody does.
  std::function<std::shared_ptr<void>()> hold = nullptr;
};

struct NewIndex {
  std::vector<data::MetadataField> fields;
  bool texts = true;
  std::optional<double> min_probability;  // of hits, where a search asks for none
  // The kind for so many documents and numbers a vector.
  std::function<KindChoice(size_t rows, size_t width)> choose;
  bool copy_model = false;  // into the index
  bool replace = false;     // an index that is there
};

struct BuildReport {
  uint64_t documents = 0;
  uint64_t resumed = 0;         // of them, whose vectors an earlier call had made
  uint64_t updated = 0;         // that took the place of one with the same id
  search::EncodeCounts counts;  // of those that this call encoded
  KindChoice choice;            // of the new segment
};

// Throws UsageError where the folder holds an index and `replace` is false, holds other things, or
// is being changed by another process; DataError for the documents; OutputError, where the disk is
// full; Interrupted. What was in the folder then stays as it was.
BuildReport BuildIndex(IndexEncoder encoder, const std::filesystem::path& folder,
                       const DocumentSource& source, const NewIndex& index,
                       const ChangeOptions& options);

// Adds documents as a new segment. A document with the id of one that is there is a DataError that
// names both, or, with `update`, takes its place. Throws as BuildIndex, and ModelError for another
// model than the index's.
BuildReport AddDocuments(IndexEncoder encoder, const std::filesystem::path& folder,
                         const DocumentSource& source, bool update, const ChangeOptions& options);

}  // namespace tandem::index
