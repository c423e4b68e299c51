#include "index/segments/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace tandem::index {
namespace {

// There are no bits after the last row's.
void CheckMarks(const std::filesystem::path& path, std::span<const uint64_t> words, size_t rows,
                uint64_t removed) {
  uint64_t count = 0;
  for (const uint64_t word : words) count += static_cast<uint64_t>(__builtin_popcountll(word));
  const bool beyond = rows % 64 != 0 && (words.back() >> (rows % 64)) != 0;
  if (count == removed && !beyond) return;
  throw DataError(path.native(), 0, "",
                  fmt::format("marks {} rows as removed, expected {}", count, removed));
}

}  // namespace

DocumentWriter::DocumentWriter(const std::filesystem::path& folder,
                               const std::vector<data::MetadataField>& fields)
    : folder_(folder),
      ids_(folder, kIdColumn),
      texts_(folder, kTextColumn),
      titles_(folder / kTitleLengths),
      metadata_(folder, fields) {}

void DocumentWriter::Add(const SegmentDocument& document) {
  if (rows_ == kMostRows) {
    throw DataError(folder_.native(), 0, document.id,
                    fmt::format("an index can have {} documents, and there are more", kMostRows));
  }
  ids_.Add(document.id);
  texts_.Add(document.text);
  const auto title = static_cast<uint32_t>(document.title_bytes);
  titles_.Write(BytesOf(std::span<const uint32_t>(&title, 1)));
  metadata_.Add(document.metadata);
  ++rows_;
}

void DocumentWriter::Commit(const IdLookupOptions& lookup) {
  ids_.Commit();
  texts_.Commit();
  titles_.Commit();
  metadata_.Commit();
  WriteIdLookup(folder_, TextColumn(folder_, kIdColumn, rows_), rows_, lookup);
}

std::vector<std::string> DocumentFiles(const std::vector<data::MetadataField>& fields, bool texts) {
  std::vector<std::string> names = {std::string(kVectorsName)};
  const auto add = [&](const std::vector<std::string>& more) {
    names.insert(names.end(), more.begin(), more.end());
  };
  add(TextColumnFiles(kIdColumn));
  add(IdLookupFiles());
  if (texts) add(TextColumnFiles(kTextColumn));
  if (texts) names.emplace_back(kTitleLengths);
  add(MetadataFiles(fields));
  return names;
}

std::vector<IndexFile> DescribeFiles(const std::filesystem::path& folder,
                                     const std::vector<std::string>& names, int threads) {
  std::vector<IndexFile> files;
  for (const std::string& name : names) {
    const uint64_t bytes = std::filesystem::file_size(folder / name);
    files.push_back({name, bytes, ChecksumOfFile(folder / name, bytes, threads)});
  }
  return files;
}

void CheckFiles(const std::filesystem::path& folder, const std::vector<IndexFile>& files,
                bool checksums, int threads) {
  constexpr std::string_view kWhatToDo =
      "the index is damaged; bring it back from a copy, or build it again";
  for (const IndexFile& file : files) {
    const std::filesystem::path path = folder / file.name;
    std::error_code error;
    const uintmax_t bytes = std::filesystem::file_size(path, error);
    if (error) {
      throw DataError(path.native(), 0, "",
                      fmt::format("cannot be read: {}; {}", error.message(), kWhatToDo));
    }
    if (bytes != file.bytes) {
      throw DataError(path.native(), 0, "",
                      fmt::format("has {} bytes, expected {}; {}", bytes, file.bytes, kWhatToDo));
    }
    if (checksums &&
        ChecksumOfFile(path, file.bytes, threads, file.checksum.kind) != file.checksum) {
      throw DataError(
          path.native(), 0, "",
          fmt::format("is not as it was written (its checksum differs); {}", kWhatToDo));
    }
  }
}

void CheckAllFiles(const std::filesystem::path& folder, const Manifest& manifest, bool checksums,
                   int threads) {
  for (const SegmentRecord& segment : manifest.segments) {
    CheckFiles(folder / segment.name, segment.files, checksums, threads);
  }
  CheckFiles(folder, manifest.model_files, checksums, threads);
}

SegmentIds::SegmentIds(const std::filesystem::path& folder, const SegmentRecord& record)
    : rows_(record.rows), ids_(folder, kIdColumn, rows_), lookup_(folder, ids_, rows_) {
  if (record.removal.empty()) return;
  removed_.emplace(folder / record.removal, BitWords(rows_));
  CheckMarks(folder / record.removal, removed_->values(), rows_, record.removed);
}

std::optional<uint32_t> SegmentIds::Find(std::string_view id) const {
  const std::optional<uint32_t> row = lookup_.Find(id);
  return row && !removed(*row) ? row : std::nullopt;
}

std::span<const uint64_t> SegmentIds::removed_words() const {
  return removed_ ? removed_->values() : std::span<const uint64_t>();
}

Segment::Segment(const std::filesystem::path& folder, const Manifest& manifest,
                 const SegmentRecord& record)
    : ids_(folder, record),
      metadata_(folder, manifest.fields, record.rows),
      vectors_(folder / kVectorsName, record.rows * manifest.model.width),
      width_(manifest.model.width) {
  if (!manifest.texts) return;
  texts_.emplace(folder, kTextColumn, record.rows);
  const bool has_titles =
      std::any_of(record.files.begin(), record.files.end(),
                  [](const IndexFile& file) { return file.name == kTitleLengths; });
  if (has_titles) titles_.emplace(folder / kTitleLengths, record.rows);
}

std::string_view Segment::text(size_t row) const {
  return texts_ ? (*texts_)[row] : std::string_view();
}

size_t Segment::title_bytes(size_t row) const {
  return titles_ ? std::min<size_t>(titles_->values()[row], text(row).size()) : 0;
}

void Segment::ReleasePages() const {
  if (texts_) texts_->ReleasePages();
  vectors_.ReleasePages();
}

}  // namespace tandem::index
