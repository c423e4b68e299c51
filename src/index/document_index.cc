#include "index/document_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/process/threads.h"
#include "index/folder/index_info.h"
#include "index/folder/manifest.h"
#include "index/segments/row_masks.h"
#include "index/segments/segment.h"

namespace tandem::index {
namespace {

constexpr int kMostOpenings = 5;  // of an index that is changed again and again meanwhile

// A segment with its kind.
struct OpenSegment {
  OpenSegment(const std::filesystem::path& folder, const Manifest& manifest,
              const SegmentRecord& record, uint32_t first_document)
      : segment(folder, manifest, record),
        first(first_document),
        vectors(MakerOf(*record.choice.kind).open(segment.rows(), record.choice.params, folder)) {}

  Segment segment;
  uint32_t first;  // document
  std::unique_ptr<VectorIndex> vectors;
};

// The rows of a cosine model that has no Normalize have any length. One of zeros stays: its cosine
// is 0 with all. One whose length is 1 but for rounding stays too, to the bit.
std::vector<float> RowsOfLengthOne(const DocumentQuery& query, size_t width) {
  std::vector<float> rows(query.queries, query.queries + query.count * width);
  for (auto row = rows.begin(); row != rows.end(); row += static_cast<std::ptrdiff_t>(width)) {
    const auto end = row + static_cast<std::ptrdiff_t>(width);
    double squares = 0;
    for (auto value = row; value != end; ++value) squares += static_cast<double>(*value) * *value;
    if (squares == 0 || std::abs(squares - 1) < 1e-5)
      continue;  // rounding: scores stay what they were
    const double factor = 1 / std::sqrt(squares);
    std::transform(row, end, row, [&](float x) { return static_cast<float>(x * factor); });
  }
  return rows;
}

class FolderIndex final : public DocumentIndex {
 public:
  FolderIndex(const std::filesystem::path& folder, const Manifest& manifest)
      : info_(InfoOf(folder, manifest)) {
    uint32_t first = 0;
    info_.resident_bytes = 0;
    for (const SegmentRecord& record : manifest.segments) {
      segments_.push_back(
          std::make_unique<OpenSegment>(folder / record.name, manifest, record, first));
      live_.push_back(LiveRows(segments_.back()->segment.ids()));
      first += static_cast<uint32_t>(record.rows);
      info_.resident_bytes +=
          segments_.back()->vectors->resident_bytes() + live_.back().size() * sizeof(uint64_t);
    }
  }

  const IndexInfo& info() const override { return info_; }

  std::vector<std::vector<DocumentHit>> Search(const DocumentQuery& given) const override {
    DocumentQuery query = given;
    std::vector<float> unit;
    if (info_.model.similarity == "cosine") {
      unit = RowsOfLengthOne(given, info_.model.width);
      query.queries = unit.data();
    }
    const ResolvedFilter filter(query.filter, info_.fields);
    std::vector<std::vector<DocumentHit>> all(query.count);
    for (size_t s = 0; s < segments_.size(); ++s) {
      const std::vector<uint64_t> filtered =
          filter.empty() ? std::vector<uint64_t>()
                         : filter.Rows(segments_[s]->segment, live_[s], query.threads);
      const std::vector<uint64_t>& words = filter.empty() ? live_[s] : filtered;
      SearchSegment(*segments_[s], query, words, &all);
    }
    for (std::vector<DocumentHit>& hits : all) KeepBest(query.k, &hits);
    return all;
  }

  std::string_view id(uint32_t document) const override {
    const OpenSegment& segment = SegmentOf(document);
    return segment.segment.ids().id(document - segment.first);
  }
  std::string_view text(uint32_t document) const override {
    const OpenSegment& segment = SegmentOf(document);
    return segment.segment.text(document - segment.first);
  }
  std::string_view title(uint32_t document) const override {
    const OpenSegment& segment = SegmentOf(document);
    const size_t row = document - segment.first;
    return segment.segment.text(row).substr(0, segment.segment.title_bytes(row));
  }
  data::MetadataValue metadata(uint32_t document, size_t field) const override {
    const OpenSegment& segment = SegmentOf(document);
    return segment.segment.metadata(document - segment.first, field);
  }

 private:
  const OpenSegment& SegmentOf(uint32_t document) const {
    const auto after = std::upper_bound(
        segments_.begin(), segments_.end(), document,
        [](uint32_t value, const auto& segment) { return value < segment->first; });
    return **std::prev(after);
  }

  // The best k of `hits`, in order: equal scores by id, descending in bytes.
  void KeepBest(size_t k, std::vector<DocumentHit>* hits) const {
    std::sort(hits->begin(), hits->end(), [&](const DocumentHit& a, const DocumentHit& b) {
      return a.score != b.score ? a.score > b.score : id(a.document) > id(b.document);
    });
    if (hits->size() > k) hits->resize(k);
  }

  // Adds the segment's best hits of every query to `all`: at least k where there are so many, and
  // all that score like the last of them, since ids decide which of these count.
  void SearchSegment(const OpenSegment& segment, const DocumentQuery& query,
                     const std::vector<uint64_t>& words,
                     std::vector<std::vector<DocumentHit>>* all) const {
    const RowMask mask{words};
    const size_t width = info_.model.width, rows = segment.segment.rows().count;
    const size_t k = std::min(query.k, rows);
    std::vector<size_t> open(query.count);  // queries whose hits are not complete
    std::iota(open.begin(), open.end(), size_t{0});
    std::vector<float> gathered;
    for (size_t depth = k + 1; !open.empty() && k > 0; depth *= 2) {
      VectorQuery request{.queries = query.queries,
                          .count = open.size(),
                          .k = std::min(depth, rows),
                          .allowed = words.empty() ? nullptr : &mask,
                          .threads = query.threads,
                          .effort = query.effort};
      if (open.size() < query.count) {
        gathered.clear();
        for (const size_t q : open) {
          gathered.insert(gathered.end(), query.queries + q * width,
                          query.queries + (q + 1) * width);
        }
        request.queries = gathered.data();
      }
      std::vector<std::vector<RowHit>> found(open.size());
      segment.vectors->Search(request, found);
      std::vector<size_t> still_open;
      for (size_t i = 0; i < open.size(); ++i) {
        const std::vector<RowHit>& hits = found[i];
        const bool complete =
            hits.size() < depth || request.k == rows || hits.back().score < hits[k - 1].score;
        if (!complete) {
          still_open.push_back(open[i]);
          continue;
        }
        for (const RowHit& hit : hits) {
          (*all)[open[i]].push_back({segment.first + hit.row, hit.score});
        }
      }
      open = std::move(still_open);
    }
  }

  IndexInfo info_;
  std::vector<std::unique_ptr<OpenSegment>> segments_;
  std::vector<std::vector<uint64_t>> live_;  // of each segment; empty: nothing is removed
};

}  // namespace

std::shared_ptr<const DocumentIndex> DocumentIndex::Open(const std::filesystem::path& folder,
                                                         bool verify) {
  for (int opening = 1;; ++opening) {
    const Manifest manifest = ReadManifest(folder);
    try {
      CheckAllFiles(folder, manifest, verify, UsableThreads());
      return std::make_shared<FolderIndex>(folder, manifest);
    } catch (const DataError&) {
      // Files go when the index is changed: then there is another index.json.
      if (opening == kMostOpenings || ReadManifest(folder).generation == manifest.generation) throw;
    }
  }
}

}  // namespace tandem::index
