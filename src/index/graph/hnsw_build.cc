#include <faiss/IndexHNSW.h>
#include <faiss/impl/DistanceComputer.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "base/error.h"
#include "base/process/threads.h"
#include "index/build_parts.h"
#include "index/faiss_threads.h"
#include "index/graph/hnsw.h"
#include "index/graph/row_products.h"
#include "index/kind_file.h"

namespace tandem::index {
namespace {

// FAISS compares rows with what this says. Its own stores would hold the vectors a second time, and
// Debian's build of it multiplies without AVX2.
class Int8Store final : public faiss::Index {
 public:
  Int8Store(const VectorRows& rows, int threads)
      : faiss::Index(static_cast<int>(rows.width), faiss::METRIC_L2),
        rows_(rows),
        codes_(rows.count * rows.width),
        scales_(rows.count) {
    ParallelFor(rows.count, 4096, threads, [&](size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row) {
        scales_[row] = QuantizeRow(rows.values + row * rows.width, rows.width,
                                   codes_.data() + row * rows.width);
      }
    });
  }
  void add(int64_t n, const float*) override { ntotal += n; }
  void reset() override { ntotal = 0; }
  void search(int64_t, const float*, int64_t, float*, int64_t*,
              const faiss::SearchParameters*) const override {
    throw std::logic_error("rows are stored for building only");
  }
  faiss::DistanceComputer* get_distance_computer() const override { return new Distance(*this); }

  std::span<const int8_t> codes() const { return codes_; }
  std::span<const float> scales() const { return scales_; }

 private:
  // The negative dot product: FAISS takes the smaller for the nearer.
  class Distance final : public faiss::DistanceComputer {
   public:
    explicit Distance(const Int8Store& store) : store_(store) {}
    // FAISS asks with the rows that it was given, so that their codes are there.
    void set_query(const float* row) override {
      query_ = static_cast<size_t>(row - store_.rows_.values) / store_.rows_.width;
    }
    float operator()(int64_t row) override {
      return symmetric_dis(static_cast<int64_t>(query_), row);
    }
    float symmetric_dis(int64_t a, int64_t b) override {
      const size_t i = static_cast<size_t>(a), j = static_cast<size_t>(b);
      const size_t width = store_.rows_.width;
      const int32_t product =
          DotProduct(store_.codes_.data() + i * width, store_.codes_.data() + j * width, width);
      return -static_cast<float>(product) * store_.scales_[i] * store_.scales_[j];
    }

   private:
    const Int8Store& store_;
    size_t query_ = 0;
  };

  VectorRows rows_;
  std::vector<int8_t> codes_;  // [N, E]
  std::vector<float> scales_;  // [N]
};

void AddRows(faiss::IndexHNSW& index, const VectorRows& rows, const BuildOptions& options) {
  // FAISS makes a lock and a mark of every row for each call, so that there should not be many.
  const size_t block = std::max<size_t>(10000, rows.count / 50);
  for (size_t begin = 0; begin < rows.count; begin += block) {
    ThrowIfBuildStopped(options);
    const size_t count = std::min(block, rows.count - begin);
    index.add(static_cast<int64_t>(count), rows.values + begin * rows.width);
    if (options.progress) {
      options.progress(static_cast<double>(begin + count) / static_cast<double>(rows.count));
    }
  }
}

// Appends the links of one row on one layer, kNoLink after the last, to `links`.
void AppendLinks(const faiss::HNSW& graph, size_t row, int layer, std::vector<uint32_t>& links) {
  size_t begin = 0, end = 0;
  graph.neighbor_range(static_cast<int64_t>(row), layer, &begin, &end);
  for (size_t i = begin; i < end; ++i) {
    links.push_back(graph.neighbors[i] < 0 ? RowGraph::kNoLink
                                           : static_cast<uint32_t>(graph.neighbors[i]));
  }
}

void WriteGraph(const faiss::HNSW& graph, const Int8Store& store, const VectorRows& rows,
                const std::filesystem::path& path) {
  KindFileWriter file(path, "hnsw", rows);
  file.WriteArray(store.codes());
  file.WriteArray(store.scales());
  std::vector<uint32_t> links, starts(1, 0);
  file.Begin();
  for (size_t row = 0; row < rows.count; ++row) {
    links.clear();
    AppendLinks(graph, row, 0, links);
    file.Write(std::span<const uint32_t>(links));
    starts.push_back(starts.back() + static_cast<uint32_t>(graph.levels[row] - 1));
  }
  file.WriteArray(std::span<const uint32_t>(starts));
  file.Begin();
  for (size_t row = 0; row < rows.count; ++row) {
    links.clear();
    for (int layer = 1; layer < graph.levels[row]; ++layer) AppendLinks(graph, row, layer, links);
    file.Write(std::span<const uint32_t>(links));
  }
  const uint64_t entry = rows.count == 0 ? 0 : static_cast<uint64_t>(graph.entry_point);
  const uint64_t layers = rows.count == 0 ? 0 : static_cast<uint64_t>(graph.max_level);
  file.Commit({static_cast<uint64_t>(graph.nb_neighbors(1)), entry, layers, starts.back()});
}

}  // namespace

void BuildHnswGraph(const VectorRows& rows, const config::Params& params,
                    const std::filesystem::path& path, const BuildOptions& options) {
  if (rows.count > size_t{1} << 31) {
    throw UsageError(
        fmt::format("hnsw holds at most 2^31 documents, found {}; use ivf_pq", rows.count));
  }
  const FaissThreads threads(options.threads);
  Int8Store store(rows, options.threads);
  faiss::IndexHNSW index(&store, static_cast<int>(params.Integer("m")));
  index.hnsw.efConstruction = static_cast<int>(params.Integer("ef_construction"));
  AddRows(index, rows, options);
  WriteGraph(index.hnsw, store, rows, path);
}

}  // namespace tandem::index
