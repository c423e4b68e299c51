// Building and searching of the kind `ivf_pq`, whose descriptor is in index/kinds/ivf_pq.cc.
#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "index/approximate.h"
#include "index/approximate_params.h"
#include "index/build_parts.h"
#include "index/calibrate.h"
#include "index/lists/ivf_lists.h"
#include "index/lists/ivf_training.h"
#include "index/lists/product_codes.h"

namespace tandem::index {
namespace {

constexpr const char* kPqFile = "ivf_pq.lists";
constexpr const char* kPqKind = "ivf_pq";
constexpr size_t kMostRefine = 128;

// A row is its list's centroid and the difference to it, which the code is of. So its dot product
// with a query is the sum of theirs.
class CodeScanner final : public ListScanner {
 public:
  CodeScanner(const VectorRows& rows, const ProductCodes& codes)
      : rows_(rows), codes_(codes), products_(codes.parts() * ProductCodes::kCentroids) {}
  void SetQuery(const float* query) override {
    query_ = query;
    codes_.Products(query, products_.data());
  }
  void Scan(const RowList& list, const RowMask* allowed, BestRows& best) const override {
    const float near = DotProduct(query_, list.centroid, rows_.width);
    const uint8_t* code = list.codes;
    for (size_t i = 0; i < list.rows.size(); ++i, code += codes_.parts()) {
      if (!MayFind(list.rows[i], rows_.count, allowed)) continue;
      best.Offer(list.rows[i], near + CodeProduct(products_.data(), code, codes_.parts()));
    }
  }

 private:
  const VectorRows& rows_;
  const ProductCodes& codes_;
  const float* query_ = nullptr;
  std::vector<float> products_;  // [parts, 256]
};

class IvfPqIndex final : public IvfLists {
 public:
  IvfPqIndex(const VectorRows& vectors, const std::filesystem::path& folder)
      : IvfLists(vectors, folder / kPqFile, kPqKind),
        codes_(Codebooks(), vectors.width, header().numbers[kCodeBytes]),
        refine_(header().numbers[kRefine]) {}

  uint64_t resident_bytes() const override {
    return IvfLists::resident_bytes() +
           ProductCodes::kCentroids * sizeof(float) * (rows().width + codes_.parts());
  }
  size_t refine() const { return refine_; }
  void set_refine(size_t refine) { refine_ = refine; }

 private:
  std::span<const float> Codebooks() const {
    const uint64_t parts = header().numbers[kCodeBytes];
    if (parts == 0 || rows().width % parts != 0) file().Damaged("its codes have another length");
    return file().Array<float>(kIvfArrays, rows().width * ProductCodes::kCentroids);
  }
  std::unique_ptr<ListScanner> MakeScanner() const override {
    return std::make_unique<CodeScanner>(rows(), codes_);
  }
  size_t Candidates(size_t k) const override { return k * std::max<size_t>(refine_, 1); }

  ProductCodes codes_;
  size_t refine_;
};

// Codebooks for the differences of rows to the centroids of their lists.
std::vector<float> TrainResidualCodebooks(const VectorRows& rows, std::span<const float> centroids,
                                          size_t parts, const BuildOptions& options) {
  constexpr size_t kSample = ProductCodes::kCentroids * 128;
  std::vector<float> sample = SampleRows(rows, kSample, "codebooks");
  const size_t count = sample.size() / rows.width;
  if (count == 0) return TrainCodebooks(sample, rows.width, parts, options.threads);
  std::vector<uint32_t> lists(count);
  ListAssigner(centroids, rows.width, options.threads).Assign(sample.data(), count, lists.data());
  for (size_t i = 0; i < sample.size(); ++i) {
    sample[i] -= centroids[lists[i / rows.width] * rows.width + i % rows.width];
  }
  return TrainCodebooks(sample, rows.width, parts, options.threads);
}

// Writes codes of the differences of rows to their centroids.
void EncodeResiduals(const ProductCodes& product, std::span<const float> centroids, size_t width,
                     std::span<const uint32_t> lists, const float* rows, uint8_t* codes) {
  std::vector<float> products(product.parts() * ProductCodes::kCentroids), residual(width);
  for (size_t i = 0; i < lists.size(); ++i) {
    const float* centroid = centroids.data() + lists[i] * width;
    for (size_t j = 0; j < width; ++j) residual[j] = rows[i * width + j] - centroid[j];
    product.Encode(residual.data(), products.data(), codes + i * product.parts());
  }
}

// Measures the effort that the recall takes, with as many exactly scored rows as it takes.
MeasuredRecall MeasureEffort(IvfPqIndex& index, const RecallProbe& probe, double recall,
                             const BuildOptions& options) {
  while (true) {
    const MeasuredRecall measured = Calibrate(
        probe, index, EffortsBetween(1, std::max<size_t>(index.lists(), 1)), recall, options);
    if (measured.recall >= recall || index.refine() >= kMostRefine) return measured;
    index.set_refine(std::min(2 * index.refine(), kMostRefine));
  }
}

}  // namespace

std::vector<std::string> BuildIvfPq(const VectorRows& rows, const config::Params& params,
                                    const std::filesystem::path& folder,
                                    const BuildOptions& options) {
  FindIndexKind(kPqKind).check(rows.width, params);
  const size_t parts =
      ProductCodeBytes(rows.width, static_cast<size_t>(params.Integer("code_bytes")));
  const size_t lists = ListCount(rows.count, static_cast<size_t>(params.Integer("lists")));
  const std::vector<float> centroids = TrainCentroids(rows, lists, PartOf(options, 0, 0.5));
  const std::vector<float> codebooks = TrainResidualCodebooks(rows, centroids, parts, options);
  const ProductCodes product(codebooks, rows.width, parts);
  const auto encode = [&](const float* values, const uint32_t* list_of_row, size_t count,
                          uint8_t* codes) {
    EncodeResiduals(product, centroids, rows.width, {list_of_row, count}, values, codes);
  };
  WriteIvfFile(rows,
               {.centroids = centroids,
                .code_bytes = parts,
                .encode = encode,
                .refine = static_cast<uint64_t>(params.Integer("refine")),
                .codebooks = codebooks},
               folder / kPqFile, kPqKind, PartOf(options, 0.5, 0.95));
  IvfPqIndex index(rows, folder);
  KindHeader header = index.header();
  header.measured = MeasureEffort(index, MakeRecallProbe(rows, kProbeQueries, options),
                                  params.Number("recall"), options);
  header.numbers[kRefine] = index.refine();
  WarnOfRecall(kPqKind, header.measured, "a larger code_bytes finds more");
  ReplaceHeader(folder / kPqFile, header);
  if (options.progress) options.progress(1);
  return {kPqFile};
}

std::unique_ptr<VectorIndex> OpenIvfPq(const VectorRows& rows, const config::Params&,
                                       const std::filesystem::path& folder) {
  return std::make_unique<IvfPqIndex>(rows, folder);
}

}  // namespace tandem::index
