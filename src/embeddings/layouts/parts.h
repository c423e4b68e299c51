// A folder of embeddings in parts (embeddings/layouts/part_record.h), read part by part.
//
//   const EmbeddingParts parts("embeddings");
//   for (size_t i = 0; i < parts.size(); ++i) {
//     const EmbeddingPart part = parts.Open(i, threads);
//     part.CheckTexts(documents);
//     ... part.values() ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/files.h"
#include "embeddings/layouts/npy_paths.h"
#include "embeddings/layouts/part_record.h"
#include "embeddings/mapped_rows.h"

namespace tandem::embeddings {

// The texts that a folder should have the embeddings of, in their order.
struct ExpectedTexts {
  uint64_t count = 0;
  std::function<std::string_view(size_t index)> id;
  std::function<std::string_view(size_t index)> text;
};

// A part whose values and ids stay in their files: the system reads them when they are looked at.
class EmbeddingPart {
 public:
  const PartRecord& record() const { return record_; }
  std::span<const float> values() const { return matrix_.values; }  // [rows, E]
  // Lets the system take back the memory of the rows that were read.
  void ReleasePages() const { matrix_.file.ReleasePages(); }

  // Calls `body` with each row, counted over all parts, and its id.
  void ForEachId(const std::function<void(uint64_t row, std::string_view id)>& body) const;
  // Throws DataError where a row is not of the text with its number, by id, or where an id or a
  // text is another than when it was encoded. Reads all ids and texts of the part.
  void CheckTexts(const ExpectedTexts& texts) const;

 private:
  friend class EmbeddingParts;
  EmbeddingPart(const std::filesystem::path& folder, const PartRecord& record, int threads);

  PartRecord record_;
  std::filesystem::path ids_path_;
  MappedRows matrix_;
  MappedFile ids_;
};

class EmbeddingParts {
 public:
  // Says whether the folder holds a file of a part, complete or not.
  static bool AreIn(const std::filesystem::path& folder);

  // Reads the records and looks at the files' sizes, not at what they hold. Throws DataError where
  // it holds no parts, where one is missing (naming all that are, and how to make them), where
  // parts belong to different numbers of shards, models, settings or inputs, where rows do not
  // follow each other, and where a file is gone or has another size.
  explicit EmbeddingParts(std::filesystem::path folder);

  const std::filesystem::path& folder() const { return folder_; }
  size_t size() const { return records_.size(); }  // parts
  uint64_t rows() const { return records_.front().total_rows; }
  uint64_t width() const { return records_.front().width; }  // E
  const std::vector<PartRecord>& records() const { return records_; }
  // Tells folders of other parts apart: a hash of what all records say.
  uint64_t hash() const;

  // Throws what CheckSame throws where the embeddings mean anything else than those that `wanted`
  // and "width E" make.
  void CheckMadeWith(const Provenance& wanted) const;
  // Throws DataError where the folder has not one row for each of `count` texts; `what` names them
  // ("documents of data/mine").
  void CheckCount(uint64_t count, std::string_view what) const;

  // Compares both files of a part with their checksums, on so many threads, and maps them. Throws
  // DataError naming the file that is damaged.
  EmbeddingPart Open(size_t part, int threads) const;

 private:
  std::filesystem::path folder_;
  std::vector<PartRecord> records_;  // of each shard, in order
};

// The files of a part while they are filled (embeddings/layouts/npy_output.h).
NpyPaths PathsOfPart(const std::filesystem::path& folder, const Shard& shard);

// Throws UsageError where the folder holds embeddings of one process, or parts of another number of
// shards; and what CheckSame throws where another part was made with another provenance.
void CheckPartsFolder(const std::filesystem::path& folder, const Shard& shard,
                      const Provenance& provenance);
// Throws UsageError where the folder holds parts, for embeddings of one process.
void CheckNoParts(const std::filesystem::path& folder);

// Takes the record away, before the files that it describes are replaced.
void RemovePartRecord(const std::filesystem::path& folder, const Shard& shard);
// Writes the record of files that are complete, and reads them for their checksums. The names,
// sizes and checksums of `record` are filled in.
void WritePartRecord(const std::filesystem::path& folder, PartRecord record, int threads);

}  // namespace tandem::embeddings
