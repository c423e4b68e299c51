#include "index/building/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/error.h"
#include "base/progress.h"
#include "index/folder/index_folder.h"
#include "index/segments/segment.h"

namespace tandem::index {
namespace {

using Segments = std::vector<std::unique_ptr<Segment>>;

constexpr uint64_t kRowsBetweenLooks = 4096;  // at signals and progress

// Calls `body(segment, row)` for each row that is not removed.
template <typename Body>
void ForLiveRows(const Segments& segments, std::string_view label, uint64_t total,
                 const ChangeOptions& options, const Body& body) {
  Progress progress({.label = std::string(label), .unit = "documents", .total = total});
  uint64_t done = 0;
  for (const auto& segment : segments) {
    for (size_t row = 0; row < segment->ids().rows(); ++row) {
      if (segment->ids().removed(row)) continue;
      body(*segment, row);
      if (++done % kRowsBetweenLooks != 0) continue;
      progress.Update(done);
      segment->ReleasePages();
      ThrowIfStopped(options.stop);
    }
  }
}

void WriteVectors(const std::filesystem::path& work, const Segments& segments, uint64_t rows,
                  const ChangeOptions& options) {
  AtomicFile vectors(work / kVectorsName);
  ForLiveRows(segments, "copy vectors", rows, options, [&](const Segment& segment, size_t row) {
    const VectorRows all = segment.rows();
    vectors.Write(BytesOf(std::span<const float>(all.values + row * all.width, all.width)));
  });
  vectors.Commit();
}

void WriteDocuments(const std::filesystem::path& work, const Segments& segments,
                    const Manifest& manifest, uint64_t rows, const ChangeOptions& options) {
  DocumentWriter writer(work, manifest.fields);
  std::vector<data::MetadataValue> metadata(manifest.fields.size());
  ForLiveRows(segments, "copy documents", rows, options, [&](const Segment& segment, size_t row) {
    for (size_t n = 0; n < metadata.size(); ++n) metadata[n] = segment.metadata(row, n);
    writer.Add({.id = segment.ids().id(row),
                .text = segment.text(row),
                .title_bytes = segment.title_bytes(row),
                .metadata = metadata});
  });
  writer.Commit({.on_copy = [&](size_t first, size_t) {
    throw DataError(work.parent_path().native(), 0, "",
                    fmt::format("has two documents of one id (row {} of what is merged); build the "
                                "index again",
                                first));
  }});
}

// Throws OutputError where what is copied does not fit, before anything is.
void CheckRoom(const std::filesystem::path& folder, const Manifest& manifest,
               const std::vector<size_t>& chosen) {
  uint64_t bytes = 0;
  for (const size_t s : chosen) {
    for (const IndexFile& file : manifest.segments[s].files) bytes += file.bytes;
  }
  const std::filesystem::space_info space = std::filesystem::space(folder);
  if (space.available >= bytes) return;
  throw OutputError(folder.native(),
                    fmt::format("cannot have the {} that a new segment may need; {} are free",
                                FormatByteSize(bytes), FormatByteSize(space.available)),
                    ENOSPC);
}

// Replaces the segments with these places by one, in the place of the first.
MergeReport Merge(const std::filesystem::path& folder, const Manifest& before,
                  const std::vector<size_t>& chosen, const ChangeOptions& options) {
  Manifest manifest = before;
  ++manifest.generation;
  MergeReport report{.segments = chosen.size()};
  CheckRoom(folder, before, chosen);
  Segments segments;
  for (const size_t s : chosen) {
    const SegmentRecord& record = before.segments[s];
    CheckFiles(folder / record.name, record.files, true, options.threads);
    segments.push_back(std::make_unique<Segment>(folder / record.name, before, record));
    report.documents += record.live();
    report.dropped += record.removed;
  }
  if (report.documents == 0) {
    throw DataError(folder.native(), 0, "",
                    "all documents have been removed; an index has at least one: add documents "
                    "first, or remove the folder");
  }
  UnfinishedChange unfinished(false, nullptr);
  const std::filesystem::path work = MakeWorkFolder(folder);
  unfinished.Made(work);
  unfinished.Made(folder / SegmentName(manifest.generation));
  WriteDocuments(work, segments, before, report.documents, options);
  WriteVectors(work, segments, report.documents, options);
  const bool whole = chosen.size() == before.segments.size();
  const KindChoice choice =
      whole ? before.choice : ChoiceForSegment(before.choice, report.documents);
  SegmentRecord record = FinishSegment(folder, work, manifest, {report.documents, choice}, options);
  manifest.segments[chosen.front()] = std::move(record);
  for (size_t i = chosen.size(); i-- > 1;) {
    manifest.segments.erase(manifest.segments.begin() + static_cast<std::ptrdiff_t>(chosen[i]));
  }
  WriteManifest(folder, manifest);
  unfinished.Finish();
  RemoveUnnamed(folder, manifest);
  return report;
}

}  // namespace

MergeReport CompactIndex(const std::filesystem::path& folder, const ChangeOptions& options) {
  ReadManifest(folder);  // throws where there is no index, so that the lock makes no folder
  const IndexLock lock(folder);
  const Manifest manifest = ReadManifest(folder);
  const std::vector<SegmentRecord>& segments = manifest.segments;
  if (segments.size() == 1 && segments.front().removed == 0 &&
      segments.front().choice.kind == manifest.choice.kind) {
    RemoveUnnamed(folder, manifest);  // files of a process that was killed after its last step
    return {};
  }
  std::vector<size_t> all(segments.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return Merge(folder, manifest, all, options);
}

MergeReport JoinSmallSegments(const std::filesystem::path& folder, size_t most,
                              const ChangeOptions& options) {
  const IndexLock lock(folder);
  const Manifest manifest = ReadManifest(folder);
  std::vector<size_t> small;
  uint64_t live = 0;
  for (size_t s = 0; s < manifest.segments.size(); ++s) {
    if (manifest.segments[s].rows >= kSmallSegmentRows) continue;
    small.push_back(s);
    live += manifest.segments[s].live();
  }
  if (small.size() <= most || live == 0) return {};
  return Merge(folder, manifest, small, options);
}

}  // namespace tandem::index
