// The files of one segment: written document by document, opened by mapping.
//
//   vectors.f32                 float32 [N, E], rows of length 1 where the similarity is cosine
//   ids.bytes, ids.ends         the ids (column_files.h); ids.hashes, ids.rows find them
//   texts.bytes, texts.ends     the texts, unless the index keeps none
//   titles.lengths              uint32 [N]: how many bytes of each text are its title; with the
//   texts,
//                               but not in segments of earlier versions
//   field-*                     metadata (metadata_columns.h)
//   removed-G.bits              uint64 words, a bit a row: what has been removed
//   and the files of the segment's kind
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/texts/metadata.h"
#include "index/folder/manifest.h"
#include "index/segments/column_files.h"
#include "index/segments/id_lookup.h"
#include "index/segments/metadata_columns.h"

namespace tandem::index {

inline constexpr std::string_view kVectorsName = "vectors.f32";
inline constexpr std::string_view kTextColumn = "texts";
inline constexpr std::string_view kTitleLengths = "titles.lengths";

// Everything of a document but its vector.
struct SegmentDocument {
  std::string_view id;
  std::string_view text;
  size_t title_bytes = 0;                         // of `text`, as in data::Texts
  std::span<const data::MetadataValue> metadata;  // [fields]
};

// Writes ids, texts and metadata of a new segment. Memory does not grow with their number.
class DocumentWriter {
 public:
  DocumentWriter(const std::filesystem::path& folder,
                 const std::vector<data::MetadataField>& fields);
  // Throws OutputError, and DataError for more documents than an index can number.
  void Add(const SegmentDocument& document);
  // Throws OutputError, and what on_copy throws where an id is there twice.
  void Commit(const IdLookupOptions& lookup);

  uint64_t rows() const { return rows_; }
  uint64_t text_bytes() const { return texts_.bytes(); }

 private:
  std::filesystem::path folder_;
  TextColumnWriter ids_;
  TextColumnWriter texts_;
  AtomicFile titles_;
  MetadataWriter metadata_;
  uint64_t rows_ = 0;
};

// The files that a segment has besides those of its kind and the marks of what is removed.
std::vector<std::string> DocumentFiles(const std::vector<data::MetadataField>& fields, bool texts);

// Sizes and checksums of files in `folder`. Throws DataError for one that cannot be read.
std::vector<IndexFile> DescribeFiles(const std::filesystem::path& folder,
                                     const std::vector<std::string>& names, int threads);
// Throws DataError where a file is missing, of another size or, with `checksums`, altered.
void CheckFiles(const std::filesystem::path& folder, const std::vector<IndexFile>& files,
                bool checksums, int threads);

// Checks all files of an index.
void CheckAllFiles(const std::filesystem::path& folder, const Manifest& manifest, bool checksums,
                   int threads);

// Ids, and what is removed: all that removing needs.
class SegmentIds {
 public:
  SegmentIds(const std::filesystem::path& folder, const SegmentRecord& record);
  SegmentIds(const SegmentIds&) = delete;  // the look-up refers to the ids
  SegmentIds& operator=(const SegmentIds&) = delete;

  size_t rows() const { return rows_; }
  std::string_view id(size_t row) const { return ids_[row]; }
  bool removed(size_t row) const { return removed_ && BitOf(removed_->values(), row); }
  // The row of an id that is not removed.
  std::optional<uint32_t> Find(std::string_view id) const;
  // Finds one that may be removed, too.
  std::optional<uint32_t> FindAny(std::string_view id) const { return lookup_.Find(id); }
  // [BitWords(rows)]: marks; empty where nothing is removed.
  std::span<const uint64_t> removed_words() const;

 private:
  size_t rows_;
  TextColumn ids_;
  IdLookup lookup_;
  std::optional<ArrayFile<uint64_t>> removed_;
};

// A segment, but for its kind's files. Does not move: parts refer to each other.
class Segment {
 public:
  // `manifest` says fields, width and whether there are texts. Throws DataError.
  Segment(const std::filesystem::path& folder, const Manifest& manifest,
          const SegmentRecord& record);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  const SegmentIds& ids() const { return ids_; }
  std::string_view text(size_t row) const;  // "" where texts are not kept
  // How many bytes of the text are its title; 0 without one.
  size_t title_bytes(size_t row) const;
  data::MetadataValue metadata(size_t row, size_t field) const {
    return metadata_.Value(row, field);
  }
  VectorRows rows() const { return {vectors_.values().data(), ids_.rows(), width_}; }
  void ReleasePages() const;

 private:
  SegmentIds ids_;
  std::optional<TextColumn> texts_;
  std::optional<ArrayFile<uint32_t>> titles_;
  MetadataColumns metadata_;
  ArrayFile<float> vectors_;
  size_t width_;
};

}  // namespace tandem::index
