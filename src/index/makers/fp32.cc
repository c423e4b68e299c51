#include <cstring>
#include <vector>

#include "index/exact/batch_product.h"
#include "index/exact/exact_index.h"
#include "index/exact/row_codes.h"
#include "index/exact/row_file.h"
#include "index/exact/score_errors.h"

namespace tandem::index {
namespace {

constexpr RowFileShape kFp32Shape{.kind = "fp32"};
constexpr const char* kFp32File = "vectors.fp32-bounds";

class FloatQuery final : public PreparedQuery {
 public:
  FloatQuery(const VectorRows& rows, const RowBounds& bounds, const float* query)
      : rows_(rows), query_(query) {
    bound_ = BoundOf(rows.width, RowLength(query, rows.width) * bounds.longest, 0);
    offset_ = bound_.span / 2;
  }
  void Score(size_t first, size_t count, float* upper) const override {
    ScoreFloatRows(rows_.values + first * rows_.width, rows_.width, count, query_, offset_, upper);
  }

 private:
  VectorRows rows_;
  const float* query_;
  float offset_;
};

class FloatBatch final : public PreparedBatch {
 public:
  FloatBatch(const VectorRows& rows, const RowBounds& bounds, const float* queries, size_t count)
      : rows_(rows), product_(queries, count, rows.width, rows.width, tensor::cpu::Type::kFloat) {
    columns_ = product_.columns();
    for (size_t q = 0; q < count; ++q) {
      const double length = RowLength(queries + q * rows.width, rows.width);
      bounds_.push_back(BoundOf(rows.width, length * bounds.longest, 0));
      product_.SetOffset(q, bounds_.back().span / 2);
    }
  }
  void Score(const RowBlock& block, float* upper) const override {
    const float* rows = rows_.values + block.first * rows_.width;
    thread_local std::vector<float> gathered;
    if (block.list != nullptr) {
      gathered.resize(block.count * rows_.width);
      for (size_t i = 0; i < block.count; ++i) {
        std::memcpy(gathered.data() + i * rows_.width, rows_.values + block[i] * rows_.width,
                    rows_.width * sizeof(float));
      }
      rows = gathered.data();
    }
    product_.Multiply(rows, block.count, upper);
  }

 private:
  VectorRows rows_;
  BatchProduct product_;
};

class FloatVectors final : public StoredVectors {
 public:
  FloatVectors(const VectorRows& rows, const RowBounds& bounds) : rows_(rows), bounds_(bounds) {}
  std::unique_ptr<PreparedQuery> Prepare(const float* query) const override {
    return std::make_unique<FloatQuery>(rows_, bounds_, query);
  }
  std::unique_ptr<PreparedBatch> PrepareBatch(const float* queries, size_t count) const override {
    return std::make_unique<FloatBatch>(rows_, bounds_, queries, count);
  }
  double longest() const override { return bounds_.longest; }
  size_t row_bytes() const override { return rows_.width * sizeof(float); }
  uint64_t resident_bytes() const override { return rows_.count * row_bytes(); }
  size_t least_batch() const override { return 3; }

 private:
  VectorRows rows_;
  RowBounds bounds_;
};

std::vector<std::string> BuildFp32(const VectorRows& rows, const config::Params&,
                                   const std::filesystem::path& folder,
                                   const BuildOptions& options) {
  WriteRowFile(folder / kFp32File, kFp32Shape, rows, options,
               [](const float*, std::byte*, float*, RowBounds&) {});
  return {kFp32File};
}

std::unique_ptr<VectorIndex> OpenFp32(const VectorRows& rows, const config::Params&,
                                      const std::filesystem::path& folder) {
  const RowFile file(folder / kFp32File, kFp32Shape, rows);
  return MakeExactIndex(rows, std::make_unique<FloatVectors>(rows, file.bounds()));
}

}  // namespace

extern const IndexKindInfo kFp32;
extern const IndexKindMaker kFp32Maker{&kFp32, BuildFp32, OpenFp32};

}  // namespace tandem::index
