#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "index/exact/exact_index.h"
#include "index/exact/row_codes.h"
#include "index/exact/row_file.h"
#include "index/exact/score_errors.h"

namespace tandem::index {
namespace {

constexpr const char* kInt8File = "vectors.int8";

RowFileShape Int8Shape(const VectorRows& rows) {
  return {.kind = "int8", .row_bytes = PaddedWidth(rows.width), .scales = true};
}

struct StoredCodes {
  CodeRows rows;  // padded
  size_t width;   // of the float32 rows
  RowBounds bounds;
};

// A query as factor * query, rounded to 16 bits: so many that its rounding costs next to nothing
// beside that of the rows, and so few that no sum of products with codes leaves 32 bits.
struct CodeQuery {
  double factor = 1;
  double length = 0;    // of factor * query
  double residual = 0;  // length of what rounding took from that

  // Writes codes [padded], which are zeros before.
  CodeQuery(const float* query, size_t width, int16_t* codes) {
    constexpr double kLargest = 32767, kLargestSum = 2147483647.0 / 127;
    double largest = 0, sum = 0;
    for (size_t i = 0; i < width; ++i) {
      largest = std::max(largest, std::fabs(static_cast<double>(query[i])));
      sum += std::fabs(static_cast<double>(query[i]));
    }
    if (largest == 0) return;
    // Rounding may add half a unit to each.
    factor = std::min(kLargest / largest, (kLargestSum - static_cast<double>(width)) / sum);
    double lost = 0;
    for (size_t i = 0; i < width; ++i) {
      const double wanted = query[i] * factor;
      codes[i] = static_cast<int16_t>(std::lrint(wanted));
      lost += (wanted - codes[i]) * (wanted - codes[i]);
    }
    residual = std::sqrt(lost);
    length = RowLength(query, width) * factor;
  }

  // The float32 score times `factor` is at most scale * (sum of products of codes + span / 2).
  ScoreBound BoundFor(const StoredCodes& stored) const {
    const RowBounds& b = stored.bounds;
    const double error = b.residual * length + b.codes * residual;
    const double rounding = SumError(stored.width) * (b.codes + b.residual) * length;
    return {.factor = factor,
            .span = 2 * RoundedUp((error + rounding) * (1 + 1e-6)),
            .slack = VanishingError(stored.width) * (factor + 1)};
  }
};

class CodesQuery final : public PreparedQuery {
 public:
  CodesQuery(const StoredCodes& stored, const float* query)
      : stored_(stored), codes_(stored.rows.width) {
    bound_ = CodeQuery(query, stored.width, codes_.data()).BoundFor(stored);
  }
  void Score(size_t first, size_t count, float* upper) const override {
    const CodeRows rows{stored_.rows.codes + first * stored_.rows.width,
                        stored_.rows.scales + first, stored_.rows.width};
    ScoreCodeRows(rows, count, codes_.data(), bound_.span / 2, upper);
  }

 private:
  StoredCodes stored_;
  std::vector<int16_t> codes_;  // [padded]
};

class CodesBatch final : public PreparedBatch {
 public:
  CodesBatch(const StoredCodes& stored, const float* queries, size_t count) : stored_(stored) {
    std::vector<int16_t> codes(count * stored.rows.width);
    for (size_t q = 0; q < count; ++q) {
      const CodeQuery query(queries + q * stored.width, stored.width,
                            codes.data() + q * stored.rows.width);
      bounds_.push_back(query.BoundFor(stored));
    }
    packed_ = std::make_unique<PackedCodeQueries>(codes.data(), count, stored.rows.width);
    columns_ = packed_->columns();
    offsets_.resize(columns_);
    for (size_t q = 0; q < count; ++q) offsets_[q] = bounds_[q].span / 2;
  }
  void Score(const RowBlock& block, float* upper) const override {
    ScoreCodeBlock(stored_.rows, block, *packed_, offsets_.data(), upper);
  }

 private:
  StoredCodes stored_;
  std::unique_ptr<PackedCodeQueries> packed_;
  std::vector<float> offsets_;  // [columns]
};

class CodeVectors final : public StoredVectors {
 public:
  CodeVectors(const VectorRows& rows, RowFile file)
      : file_(std::move(file)),
        stored_{{reinterpret_cast<const int8_t*>(file_.rows()), file_.scales(),
                 PaddedWidth(rows.width)},
                rows.width,
                file_.bounds()},
        count_(rows.count) {}
  std::unique_ptr<PreparedQuery> Prepare(const float* query) const override {
    return std::make_unique<CodesQuery>(stored_, query);
  }
  std::unique_ptr<PreparedBatch> PrepareBatch(const float* queries, size_t count) const override {
    return std::make_unique<CodesBatch>(stored_, queries, count);
  }
  const float* weights() const override { return stored_.rows.scales; }
  double longest() const override { return stored_.bounds.longest; }
  size_t row_bytes() const override { return stored_.rows.width; }
  uint64_t resident_bytes() const override { return count_ * (row_bytes() + sizeof(float)); }
  size_t least_batch() const override { return 5; }

 private:
  RowFile file_;
  StoredCodes stored_;
  size_t count_;
};

std::vector<std::string> BuildInt8(const VectorRows& rows, const config::Params&,
                                   const std::filesystem::path& folder,
                                   const BuildOptions& options) {
  const auto encode = [&rows](const float* from, std::byte* row, float* scale, RowBounds& bounds) {
    const RowCode code =
        EncodeRow(from, rows.width, PaddedWidth(rows.width), reinterpret_cast<int8_t*>(row));
    *scale = code.scale;
    bounds.residual = std::max(bounds.residual, code.residual);
    bounds.codes = std::max(bounds.codes, code.length);
  };
  WriteRowFile(folder / kInt8File, Int8Shape(rows), rows, options, encode);
  return {kInt8File};
}

std::unique_ptr<VectorIndex> OpenInt8(const VectorRows& rows, const config::Params&,
                                      const std::filesystem::path& folder) {
  return MakeExactIndex(rows, std::make_unique<CodeVectors>(
                                  rows, RowFile(folder / kInt8File, Int8Shape(rows), rows)));
}

}  // namespace

extern const IndexKindInfo kInt8;
extern const IndexKindMaker kInt8Maker{&kInt8, BuildInt8, OpenInt8};

}  // namespace tandem::index
