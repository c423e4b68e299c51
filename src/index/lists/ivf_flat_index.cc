// Building and searching of the kind `ivf_flat`, whose descriptor is in index/kinds/ivf_flat.cc.
#include <cstring>

#include "index/approximate.h"
#include "index/approximate_params.h"
#include "index/build_parts.h"
#include "index/calibrate.h"
#include "index/lists/ivf_lists.h"
#include "index/lists/ivf_training.h"

namespace tandem::index {
namespace {

constexpr const char* kFlatFile = "ivf_flat.lists";
constexpr const char* kFlatKind = "ivf_flat";

class Float32Scanner final : public ListScanner {
 public:
  explicit Float32Scanner(const VectorRows& rows) : rows_(rows) {}
  void SetQuery(const float* query) override { query_ = query; }
  void Scan(const RowList& list, const RowMask* allowed, BestRows& best) const override {
    const float* row = reinterpret_cast<const float*>(list.codes);
    for (size_t i = 0; i < list.rows.size(); ++i, row += rows_.width) {
      if (!MayFind(list.rows[i], rows_.count, allowed)) continue;
      best.Offer(list.rows[i], DotProduct(query_, row, rows_.width));
    }
  }

 private:
  const VectorRows& rows_;
  const float* query_ = nullptr;
};

// A code is a scale and the row's numbers.
class Int8Scanner final : public ListScanner {
 public:
  explicit Int8Scanner(const VectorRows& rows) : rows_(rows) {}
  void SetQuery(const float* query) override { query_ = Int8Query(query, rows_.width); }
  void Scan(const RowList& list, const RowMask* allowed, BestRows& best) const override {
    const uint8_t* code = list.codes;
    for (size_t i = 0; i < list.rows.size(); ++i, code += sizeof(float) + rows_.width) {
      if (!MayFind(list.rows[i], rows_.count, allowed)) continue;
      float scale = 0;
      std::memcpy(&scale, code, sizeof scale);
      best.Offer(list.rows[i],
                 query_.Score(reinterpret_cast<const int8_t*>(code + sizeof scale), scale));
    }
  }

 private:
  const VectorRows& rows_;
  Int8Query query_;
};

class IvfFlatIndex final : public IvfLists {
 public:
  IvfFlatIndex(const VectorRows& vectors, const std::filesystem::path& folder)
      : IvfLists(vectors, folder / kFlatFile, kFlatKind),
        int8_(header().numbers[kCodeBytes] != vectors.width * sizeof(float)) {
    if (int8_ && header().numbers[kCodeBytes] != vectors.width + sizeof(float)) {
      file().Damaged("its codes have another length");
    }
  }

 private:
  std::unique_ptr<ListScanner> MakeScanner() const override {
    if (int8_) return std::make_unique<Int8Scanner>(rows());
    return std::make_unique<Float32Scanner>(rows());
  }
  // Rows that int8 ranks after so many better ones are not among the best k.
  size_t Candidates(size_t k) const override { return int8_ ? 3 * k + 10 : k; }

  bool int8_;
};

void EncodeInt8(const float* rows, size_t count, size_t width, uint8_t* codes) {
  for (size_t i = 0; i < count; ++i, codes += sizeof(float) + width) {
    const float scale =
        QuantizeRow(rows + i * width, width, reinterpret_cast<int8_t*>(codes + sizeof(float)));
    std::memcpy(codes, &scale, sizeof scale);
  }
}

}  // namespace

std::vector<std::string> BuildIvfFlat(const VectorRows& rows, const config::Params& params,
                                      const std::filesystem::path& folder,
                                      const BuildOptions& options) {
  const size_t lists = ListCount(rows.count, static_cast<size_t>(params.Integer("lists")));
  const std::vector<float> centroids = TrainCentroids(rows, lists, PartOf(options, 0, 0.6));
  const bool int8 = params.String("codes") == "int8";
  const auto encode = [&](const float* values, const uint32_t*, size_t count, uint8_t* codes) {
    if (int8) {
      EncodeInt8(values, count, rows.width, codes);
    } else {
      std::memcpy(codes, values, count * rows.width * sizeof(float));
    }
  };
  WriteIvfFile(rows,
               {.centroids = centroids,
                .code_bytes = int8 ? rows.width + sizeof(float) : rows.width * sizeof(float),
                .encode = encode},
               folder / kFlatFile, kFlatKind, PartOf(options, 0.6, 0.95));
  const IvfFlatIndex index(rows, folder);
  KindHeader header = index.header();
  header.measured =
      Calibrate(MakeRecallProbe(rows, kProbeQueries, options), index,
                EffortsBetween(1, std::max<size_t>(lists, 1)), params.Number("recall"), options);
  WarnOfRecall(kFlatKind, header.measured, int8 ? "codes = fp32 finds more" : "that is all lists");
  ReplaceHeader(folder / kFlatFile, header);
  if (options.progress) options.progress(1);
  return {kFlatFile};
}

std::unique_ptr<VectorIndex> OpenIvfFlat(const VectorRows& rows, const config::Params&,
                                         const std::filesystem::path& folder) {
  return std::make_unique<IvfFlatIndex>(rows, folder);
}

}  // namespace tandem::index
