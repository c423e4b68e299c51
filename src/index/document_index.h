// An index of documents: a folder with vectors, ids, texts and metadata, opened for searching.
//
// The folder is a list of segments (index.json says which): building makes one, each `add` another;
// removing marks documents; compacting makes one segment of all. index.json is replaced atomically
// and last, so that a folder is the old index or the new one at any moment; an open index goes on
// with the files that it has mapped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/texts/metadata.h"
#include "index/query/filter.h"
#include "index/vector_index.h"

namespace tandem::index {

// The model that documents were encoded with; queries of another one are refused.
struct IndexModel {
  std::string path;          // where it was, absolute; `model/` in the index when it was copied in
  std::string name;          // of its folder, for people; "": an index of before that was kept
  uint64_t fingerprint = 0;  // of weights, settings, tokenizer, document prompt and length
  std::string similarity;    // "cosine" or "dot"
  size_t width = 0;          // E
  std::string precision;     // that documents were encoded in
  // The settings with which the model must be loaded to be the same (index/building/index_model.h):
  // the document prompt as text, the length in tokens at which documents were cut, and --dimensions
  // if it was given.
  std::string document_prompt;
  std::optional<size_t> max_document_tokens;
  std::optional<int64_t> dimensions;
};

struct IndexInfo {
  IndexModel model;
  std::string kind;        // a name of IndexKinds()
  std::string parameters;  // of the kind, as "m=32, ef_construction=200"
  std::vector<data::MetadataField> fields;
  bool texts = true;                      // whether the documents' texts are kept
  std::optional<double> min_probability;  // of hits, where a search asks for none
  uint64_t documents = 0;                 // that can be found
  uint64_t removed = 0;                   // marked, still in the files
  size_t segments = 0;
  uint64_t file_bytes = 0;
  uint64_t resident_bytes = 0;
};

struct DocumentHit {
  uint32_t document = 0;  // over all segments, those removed counted
  float score = 0;
};

struct DocumentQuery {
  const float* queries = nullptr;  // [count, E], of any length where the similarity is cosine
  size_t count = 0;
  size_t k = 10;
  const Filter* filter = nullptr;  // null: none
  int threads = 1;
  size_t effort = 0;  // VectorQuery::effort
};

// Immutable; several threads may use it at the same time.
class DocumentIndex {
 public:
  // Verifies index.json and the checksum of every file before anything parses it (`verify` false:
  // sizes only). Throws DataError for a broken, altered, truncated or later-version index.
  static std::shared_ptr<const DocumentIndex> Open(const std::filesystem::path& folder,
                                                   bool verify = true);
  virtual ~DocumentIndex() = default;

  virtual const IndexInfo& info() const = 0;
  // Best first; equal scores by document id, descending in bytes. Throws UsageError for a filter on
  // a field that is not there.
  virtual std::vector<std::vector<DocumentHit>> Search(const DocumentQuery& query) const = 0;

  // Views into mapped files, valid as long as the index.
  virtual std::string_view id(uint32_t document) const = 0;
  virtual std::string_view text(uint32_t document) const = 0;  // "" where texts are not kept
  // What the text begins with, a title and a blank after it; "" without one, and in indexes of
  // earlier versions.
  virtual std::string_view title(uint32_t document) const = 0;
  virtual data::MetadataValue metadata(uint32_t document, size_t field) const = 0;
};

// Throws ModelError unless the model is the one that the index was made with, saying which differs.
void CheckModel(const IndexInfo& index, const IndexModel& model);

}  // namespace tandem::index
