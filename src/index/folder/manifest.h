// index.json: what an index is and which files belong to it.
//
//   {
//     "format": "tandem index", "version": 2, "generation": 3,
//     "model": {"path": ..., "fingerprint": ..., "similarity": ..., "width": ..., ...},
//     "kind": "fp32", "parameters": {}, "fields": [{"name": "year", "type": "number"}],
//     "texts": true, "min_probability": 0.8,
//     "segments": [{"name": "segment-000001", "rows": 10, "removed": 1, "kind": "fp32",
//                   "parameters": {}, "removal": "removed-000003.bits",
//                   "files": [{"name": "vectors.f32", "bytes": 15360, "checksum": ...}, ...]}],
//     "model_files": [],
//     "checksum": "..."
//   }
//
// "min_probability" is there only where the index has one. The last member is the checksum of the
// text before it. docs/indexes.md describes the members.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hashes/checksum.h"
#include "config/params.h"
#include "data/texts/metadata.h"
#include "index/document_index.h"
#include "index/vector_index.h"

namespace tandem::index {

inline constexpr std::string_view kManifestName = "index.json";
inline constexpr int64_t kFormatVersion = 2;
inline constexpr int64_t kOldestVersion = 1;  // had another checksum
// Fields that an index can have.
inline constexpr size_t kMostFields = 256;
// Documents are numbered with 32 bits over all segments, those removed counted.
inline constexpr uint64_t kMostRows = UINT32_MAX;

struct IndexFile {
  std::string name;  // in its segment's folder, or, for the model's, below the index's folder
  uint64_t bytes = 0;
  Checksum checksum;
};

struct KindChoice {
  const IndexKindInfo* kind = nullptr;
  config::Params params;  // of *kind
};

struct SegmentRecord {
  std::string name;  // its folder
  uint64_t rows = 0;
  uint64_t removed = 0;  // of them
  KindChoice choice;
  std::string removal;  // the file with the marks of what is removed; "": nothing is
  std::vector<IndexFile> files;

  uint64_t live() const { return rows - removed; }
};

struct Manifest {
  uint64_t generation = 0;  // counts changes; names of new files carry it
  IndexModel model;         // `path` as in the file: relative where the model was copied in
  KindChoice choice;        // of the whole index; small segments may be of another kind
  std::vector<data::MetadataField> fields;
  bool texts = true;
  std::optional<double> min_probability;  // of hits, where a search asks for none; from 0 to 1
  std::vector<SegmentRecord> segments;
  std::vector<IndexFile> model_files;  // "model/config.json"

  uint64_t rows() const;
  uint64_t removed() const;
  uint64_t file_bytes() const;  // of all files, index.json not counted
};

// Says whether a file of the model's folder can be one of `model_files`: plain names between
// slashes, which may have blanks and letters of any script, as UTF-8. Names that begin with a dot
// are left out.
bool IsModelPath(std::string_view path);

// The text of index.json, and back. `file` is what errors name. Throws DataError for whatever is
// not such a text: a later version, another checksum, an unknown kind, names that leave the folder,
// sizes out of range. Any bytes may be given.
std::string FormatManifest(const Manifest& manifest);
Manifest ParseManifest(std::string_view text, std::string_view file);

// Throws DataError also where there is no index.
Manifest ReadManifest(const std::filesystem::path& folder);
// Flushes the folder, then replaces index.json in one step and flushes again. Throws OutputError,
// and DataError for what ParseManifest would not read again: the old index.json then stays.
void WriteManifest(const std::filesystem::path& folder, const Manifest& manifest);

// "m=32, ef_construction=200": as IndexInfo and messages show parameters.
std::string FormatParams(const config::Params& params);

}  // namespace tandem::index
