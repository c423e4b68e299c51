#include "index/lists/ivf_lists.h"

#include <algorithm>
#include <cmath>

#include "base/process/threads.h"

namespace tandem::index {

// The decisions that a search makes once for many queries.
struct IvfLists::Probe {
  size_t lists = 0;    // that each query reads
  size_t allowed = 0;  // rows
  bool scan_allowed = false;
};

IvfLists::IvfLists(const VectorRows& rows, const std::filesystem::path& path, std::string_view kind)
    : rows_(rows), file_(path, kind, rows) {
  const uint64_t lists = file_.number(kLists), n = rows.count;
  if (lists > n || (lists == 0) != (n == 0)) file_.Damaged("it has no right number of lists");
  if (file_.number(kCodeBytes) > 16 * rows.width + 16) file_.Damaged("its codes are too long");
  centroids_ = file_.Array<float>(kCentroids, lists * rows.width);
  starts_ = file_.Array<uint64_t>(kStarts, lists + 1);
  list_rows_ = file_.Array<uint32_t>(kListRows, n);
  codes_ = file_.Array<uint8_t>(kCodes, n * file_.number(kCodeBytes));
  if (starts_.front() != 0 || starts_.back() != n ||
      !std::is_sorted(starts_.begin(), starts_.end())) {
    file_.Damaged("its lists do not follow each other");
  }
  small_centroids_.resize(centroids_.size());
  scales_.resize(lists);
  for (size_t list = 0; list < lists; ++list) {
    scales_[list] = QuantizeRow(centroids_.data() + list * rows.width, rows.width,
                                small_centroids_.data() + list * rows.width);
  }
}

uint64_t IvfLists::resident_bytes() const {
  return centroids_.size_bytes() + starts_.size_bytes() + small_centroids_.size() +
         scales_.size() * sizeof(float);
}

RowList IvfLists::List(size_t list) const {
  const uint64_t begin = starts_[list], end = starts_[list + 1];
  return {.centroid = centroids_.data() + list * rows_.width,
          .rows = list_rows_.subspan(begin, end - begin),
          .codes = codes_.data() + begin * file_.number(kCodeBytes)};
}

std::vector<RowHit> IvfLists::NearestLists(const float* query, size_t count) const {
  const Int8Query codes(query, rows_.width);
  std::vector<RowHit> order;
  order.reserve(lists());
  for (size_t list = 0; list < lists(); ++list) {
    // Where rows are equal, k-means makes lists that stay empty beside the one that holds them.
    if (starts_[list] == starts_[list + 1]) continue;
    order.push_back({static_cast<uint32_t>(list),
                     codes.Score(small_centroids_.data() + list * rows_.width, scales_[list])});
  }
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(std::min(count, order.size()));
  std::partial_sort(order.begin(), middle, order.end(), Better);
  return order;
}

std::vector<RowHit> IvfLists::SearchOne(const float* query, const VectorQuery& options,
                                        const Probe& probe, ListScanner& scanner) const {
  if (probe.scan_allowed) return ScanAllowed(rows_, query, options.allowed, options.k);
  scanner.SetQuery(query);
  std::vector<RowHit> order = NearestLists(query, probe.lists);
  BestRows best(Candidates(options.k));
  const size_t wanted = std::min(options.k, probe.allowed);
  // After the lists that it was to read, a search goes on until it has found as many as wanted.
  for (size_t i = 0; i < order.size() && (i < probe.lists || best.size() < wanted); ++i) {
    if (i == probe.lists) {
      std::sort(order.begin() + static_cast<std::ptrdiff_t>(i), order.end(), Better);
    }
    scanner.Scan(List(order[i].row), options.allowed, best);
  }
  return ScoreExactly(rows_, query, best.Take(), options.k);
}

void IvfLists::Search(const VectorQuery& query, std::span<std::vector<RowHit>> found) const {
  if (lists() == 0) {
    for (std::vector<RowHit>& hits : found) hits.clear();
    return;
  }
  Probe probe{.allowed = CountAllowed(query.allowed, rows_.count)};
  const size_t effort = std::max<size_t>(query.effort ? query.effort : header().measured.effort, 1);
  // Where a share of the rows is allowed, the best of them are in more lists.
  const double spread = static_cast<double>(rows_.count) / static_cast<double>(probe.allowed + 1);
  const double lists_wanted = std::ceil(static_cast<double>(effort) * std::max(spread, 1.0));
  probe.lists = static_cast<size_t>(std::min(lists_wanted, static_cast<double>(lists())));
  // Scoring few rows one by one costs less than reading the lists for them.
  const double read = static_cast<double>(probe.lists) * static_cast<double>(rows_.count) /
                      static_cast<double>(lists());
  constexpr size_t kMostScanned = 20000;  // rows that may have to come from the disk
  probe.scan_allowed =
      probe.allowed <= kMostScanned && 3 * static_cast<double>(probe.allowed) < read;
  ParallelFor(query.count, 1 + query.count / (8 * static_cast<size_t>(query.threads)),
              query.threads, [&](size_t begin, size_t end) {
                const std::unique_ptr<ListScanner> scanner = MakeScanner();
                for (size_t q = begin; q < end; ++q) {
                  found[q] = SearchOne(query.queries + q * rows_.width, query, probe, *scanner);
                }
              });
}

}  // namespace tandem::index
