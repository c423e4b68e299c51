#include <algorithm>
#include <utility>
#include <vector>

#include "index/exact/batch_product.h"
#include "index/exact/exact_index.h"
#include "index/exact/row_codes.h"
#include "index/exact/row_file.h"
#include "index/exact/score_errors.h"
#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/rows/rows.h"

namespace tandem::index {
namespace {

using tensor::cpu::Bf16;
using tensor::cpu::Type;

constexpr const char* kBf16File = "vectors.bf16";

RowFileShape Bf16Shape(const VectorRows& rows) {
  return {.kind = "bf16", .row_bytes = PaddedWidth(rows.width) * sizeof(Bf16)};
}

// Says whether the processor multiplies bf16 values itself. Elsewhere rows become floats on the
// way.
bool MultipliesBf16() { return tensor::CurrentIsa() >= tensor::Isa::kAvx512Bf16; }

struct Bf16Rows {
  const Bf16* values;  // [count, PaddedWidth(width)]
  size_t width;
  RowBounds bounds;

  size_t padded() const { return PaddedWidth(width); }
};

class Bf16Query final : public PreparedQuery {
 public:
  Bf16Query(const Bf16Rows& rows, const float* query) : rows_(rows), query_(rows.padded()) {
    std::copy_n(query, rows.width, query_.data());
    const double length = RowLength(query, rows.width);
    bound_ = BoundOf(rows.width, length * rows.bounds.longest, length * rows.bounds.residual);
  }
  void Score(size_t first, size_t count, float* upper) const override {
    ScoreBf16Rows(rows_.values + first * rows_.padded(), rows_.padded(), count, query_.data(),
                  bound_.span / 2, upper);
  }

 private:
  Bf16Rows rows_;
  std::vector<float> query_;  // [padded]
};

// Returns the part of the error that comes from rounding the query, and from products of values
// below 2^-126, which the processor takes for zeros.
double RoundedQueryError(const Bf16Rows& rows, const float* query) {
  std::vector<Bf16> rounded(rows.width);
  const double lost = RoundRow(query, rows.width, rows.width, rounded.data());
  const double length = RowLength(query, rows.width), longest = rows.bounds.longest;
  return lost * (longest + rows.bounds.residual) +
         0x1p-126 * static_cast<double>(rows.width) * (length + longest + 1);
}

class Bf16Batch final : public PreparedBatch {
 public:
  Bf16Batch(const Bf16Rows& rows, const float* queries, size_t count)
      : rows_(rows),
        natively_(MultipliesBf16()),
        product_(queries, count, rows.width, rows.padded(),
                 natively_ ? Type::kBf16 : Type::kFloat) {
    columns_ = product_.columns();
    for (size_t q = 0; q < count; ++q) {
      const float* query = queries + q * rows.width;
      const double length = RowLength(query, rows.width);
      double error = length * rows.bounds.residual;
      if (natively_) error += RoundedQueryError(rows, query);
      bounds_.push_back(BoundOf(rows.width, length * rows.bounds.longest, error));
      product_.SetOffset(q, bounds_.back().span / 2);
    }
  }

  void Score(const RowBlock& block, float* upper) const override {
    const size_t padded = rows_.padded();
    thread_local std::vector<Bf16> gathered;
    const Bf16* rows = rows_.values + block.first * padded;
    if (block.list != nullptr) {
      gathered.resize(block.count * padded);
      for (size_t i = 0; i < block.count; ++i) {
        std::copy_n(rows_.values + block[i] * padded, padded, gathered.data() + i * padded);
      }
      rows = gathered.data();
    }
    if (natively_) return product_.Multiply(rows, block.count, upper);
    thread_local std::vector<float> floats;
    floats.resize(block.count * padded);
    tensor::cpu::ToFloat(rows, floats.data(), floats.size());
    product_.Multiply(floats.data(), block.count, upper);
  }

 private:
  Bf16Rows rows_;
  bool natively_;
  BatchProduct product_;
};

class Bf16Vectors final : public StoredVectors {
 public:
  Bf16Vectors(const VectorRows& rows, RowFile file)
      : file_(std::move(file)),
        rows_{reinterpret_cast<const Bf16*>(file_.rows()), rows.width, file_.bounds()},
        count_(rows.count) {}
  std::unique_ptr<PreparedQuery> Prepare(const float* query) const override {
    return std::make_unique<Bf16Query>(rows_, query);
  }
  std::unique_ptr<PreparedBatch> PrepareBatch(const float* queries, size_t count) const override {
    return std::make_unique<Bf16Batch>(rows_, queries, count);
  }
  double longest() const override { return rows_.bounds.longest; }
  size_t row_bytes() const override { return rows_.padded() * sizeof(Bf16); }
  uint64_t resident_bytes() const override { return count_ * row_bytes(); }
  size_t least_batch() const override { return 4; }

 private:
  RowFile file_;
  Bf16Rows rows_;
  size_t count_;
};

std::vector<std::string> BuildBf16(const VectorRows& rows, const config::Params&,
                                   const std::filesystem::path& folder,
                                   const BuildOptions& options) {
  const auto encode = [&rows](const float* from, std::byte* row, float*, RowBounds& bounds) {
    const double lost =
        RoundRow(from, rows.width, PaddedWidth(rows.width), reinterpret_cast<Bf16*>(row));
    bounds.residual = std::max(bounds.residual, lost);
  };
  WriteRowFile(folder / kBf16File, Bf16Shape(rows), rows, options, encode);
  return {kBf16File};
}

std::unique_ptr<VectorIndex> OpenBf16(const VectorRows& rows, const config::Params&,
                                      const std::filesystem::path& folder) {
  return MakeExactIndex(rows, std::make_unique<Bf16Vectors>(
                                  rows, RowFile(folder / kBf16File, Bf16Shape(rows), rows)));
}

}  // namespace

extern const IndexKindInfo kBf16;
extern const IndexKindMaker kBf16Maker{&kBf16, BuildBf16, OpenBf16};

}  // namespace tandem::index
