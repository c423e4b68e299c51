#include "index/folder/removal.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/files/files.h"
#include "base/process/threads.h"
#include "index/folder/index_folder.h"

namespace tandem::index {
namespace {

// The files that SegmentIds reads.
std::vector<IndexFile> FilesOfIds(const SegmentRecord& record) {
  std::vector<IndexFile> files;
  const std::string prefix = std::string(kIdColumn) + ".";
  for (const IndexFile& file : record.files) {
    if (file.name.starts_with(prefix) || file.name == record.removal) files.push_back(file);
  }
  return files;
}

}  // namespace

RemovalMarks::RemovalMarks(const std::filesystem::path& folder, const Manifest& manifest)
    : folder_(folder) {
  for (const SegmentRecord& record : manifest.segments) {
    const std::filesystem::path segment = folder / record.name;
    CheckFiles(segment, FilesOfIds(record), true, UsableThreads());
    segments_.push_back({.ids = std::make_unique<SegmentIds>(segment, record), .words = {}});
  }
}

std::optional<RemovalMarks::Row> RemovalMarks::Find(std::string_view id) const {
  // The newest first: a document that was replaced is in an earlier segment too.
  for (size_t s = segments_.size(); s-- > 0;) {
    const Marks& marks = segments_[s];
    const std::optional<uint32_t> row = marks.ids->Find(id);
    if (row && (marks.words.empty() || !BitOf(marks.words, *row))) return Row{s, *row};
  }
  return std::nullopt;
}

bool RemovalMarks::WasRemoved(std::string_view id) const {
  return !Find(id) && std::any_of(segments_.begin(), segments_.end(), [&](const Marks& marks) {
    return marks.ids->FindAny(id).has_value();
  });
}

void RemovalMarks::Mark(const Row& row) {
  Marks& marks = segments_[row.segment];
  if (marks.words.empty()) {
    const std::span<const uint64_t> before = marks.ids->removed_words();
    marks.words.assign(before.begin(), before.end());
    marks.words.resize(BitWords(marks.ids->rows()));
  }
  marks.words[row.row / 64] |= uint64_t{1} << (row.row % 64);
  ++marks.added;
  ++marked_;
}

void RemovalMarks::Write(Manifest* manifest) const {
  for (size_t s = 0; s < segments_.size(); ++s) {
    if (segments_[s].added == 0) continue;
    SegmentRecord& record = manifest->segments[s];
    const std::string_view bytes = BytesOf(std::span<const uint64_t>(segments_[s].words));
    std::erase_if(record.files, [&](const IndexFile& file) { return file.name == record.removal; });
    record.removal = RemovalName(manifest->generation);
    record.removed += segments_[s].added;
    WriteFileAtomically(folder_ / record.name / record.removal, bytes);
    SyncFolder(folder_ / record.name);
    record.files.push_back({record.removal, bytes.size(), ChecksumOf(bytes)});
  }
}

RemoveReport RemoveDocuments(const std::filesystem::path& folder,
                             const std::vector<std::string>& ids, bool ignore_missing) {
  ReadManifest(folder);  // throws where there is no index, so that the lock makes no folder
  const IndexLock lock(folder);
  Manifest manifest = ReadManifest(folder);
  RemovalMarks marks(folder, manifest);
  RemoveReport report;
  for (const std::string& id : ids) {
    if (const auto row = marks.Find(id)) {
      marks.Mark(*row);
      ++report.removed;
    } else if (ignore_missing) {
      ++report.missing;
    } else {
      throw DataError(folder.native(), 0, id,
                      fmt::format("{}; nothing was removed (--ignore-missing removes the others)",
                                  marks.WasRemoved(id) ? "this document has been removed already"
                                                       : "no document has this id"));
    }
  }
  if (report.removed == 0) return report;
  ++manifest.generation;
  marks.Write(&manifest);
  WriteManifest(folder, manifest);
  RemoveUnnamed(folder, manifest);
  return report;
}

}  // namespace tandem::index
