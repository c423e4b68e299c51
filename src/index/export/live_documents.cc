#include "index/export/live_documents.h"

#include "index/segments/segment.h"

namespace tandem::index {
namespace {

constexpr size_t kRowsBetweenReleases = 4096;  // 6 MB of 384 numbers a row

}  // namespace

void ForLiveDocuments(const std::filesystem::path& folder, const Manifest& manifest,
                      const std::function<void(const LiveDocument&)>& body) {
  std::vector<data::MetadataValue> metadata(manifest.fields.size());
  for (const SegmentRecord& record : manifest.segments) {
    const Segment segment(folder / record.name, manifest, record);
    const VectorRows all = segment.rows();
    for (size_t row = 0; row < all.count; ++row) {
      if (segment.ids().removed(row)) continue;
      for (size_t n = 0; n < metadata.size(); ++n) metadata[n] = segment.metadata(row, n);
      body({.id = segment.ids().id(row),
            .text = segment.text(row),
            .vector = {all.values + row * all.width, all.width},
            .metadata = metadata});
      if (row % kRowsBetweenReleases == kRowsBetweenReleases - 1) segment.ReleasePages();
    }
  }
}

}  // namespace tandem::index
