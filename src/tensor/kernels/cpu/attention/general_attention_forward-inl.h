// The forward task of general attention, for any kind of products. Included once per target by
// general_attention.cc.
#if defined(TANDEM_TENSOR_GENERAL_ATTENTION_FORWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GENERAL_ATTENTION_FORWARD_INL_H_
#undef TANDEM_TENSOR_GENERAL_ATTENTION_FORWARD_INL_H_
#else
#define TANDEM_TENSOR_GENERAL_ATTENTION_FORWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Exponentials of a block of scores, whose rows fill register tiles.
template <bool kForBf16, typename Element, typename Store>
HWY_INLINE void ExponentialsOf(const ScoreBlock<Element>& block, UnshiftedSums& sums,
                               const Store& store) {
  for (size_t first = 0; first < block.rows;) {
    const size_t left = block.rows - first;
    if (left >= kProductRows) {
      ExponentialRows<kForBf16, kProductRows>(block, first, sums, store);
      first += kProductRows;
    } else if (left >= 2 * kTileUnit) {
      ExponentialRows<kForBf16, 2 * kTileUnit>(block, first, sums, store);
      first += 2 * kTileUnit;
    } else {
      ExponentialRows<kForBf16, kTileUnit>(block, first, sums, store);
      first += kTileUnit;
    }
  }
}

// Products: VectorProducts or TileProducts.
template <typename Products>
class GeneralForward {
 public:
  using A = typename Products::Activation;
  using Element = typename Products::Element;
  using Probability = typename Products::Probability;

  GeneralForward(const GeneralTask<A>& task, Products& products)
      : task_(task),
        products_(products),
        width_(task.width),
        chunk_keys_(std::min(ChunkKeys(task.width), RoundUp(task.length, kKeyUnit))),
        m_(Allocate(task, chunk_keys_)) {}

  void Run() {
    const TokenRange keys = task_.mask.KeysOf(task_.range, task_.length);
    for (size_t key = keys.begin / chunk_keys_ * chunk_keys_; key < keys.end; key += chunk_keys_) {
      AddChunk({key, std::min(key + chunk_keys_, task_.length)});
    }
  }

 private:
  static constexpr size_t kRows = Products::kForwardRows;
  static_assert(kStretch % kRows == 0);
  static_assert(!Products::kFuses || kRows % kForwardBlock == 0);

  struct Arrays {
    Element* keys;               // of a chunk
    Element* values;             // of a chunk
    Element* queries;            // of a block, [kRows, width]
    float* products;             // of a block with a chunk, [kRows, chunk]
    Probability* probabilities;  // of a block with a chunk; floats replace the products
    RunningSums* sums;           // of the task's queries, [group, queries]
    float* mixed;                // their sums of values, [group, queries, width]
  };

  static size_t PaddedQueries(const GeneralTask<A>& task) {
    return RoundUp(task.range.size(), kRows);
  }

  static Arrays Allocate(const GeneralTask<A>& task, size_t chunk) {
    const size_t width = task.width, queries = task.group * PaddedQueries(task);
    return AllocateScratch<GeneralAttentionScratch>([=](Scratch& scratch) {
      Arrays m{.keys = scratch.Allocate<Element>(chunk * width),
               .values = scratch.Allocate<Element>(chunk * width),
               .queries = scratch.Allocate<Element>(kRows * width),
               .products = scratch.Allocate<float>(kRows * chunk),
               .probabilities = nullptr,
               .sums = scratch.Allocate<RunningSums>(queries),
               .mixed = scratch.Allocate<float>(queries * width)};
      if constexpr (std::is_same_v<Probability, float>) {
        m.probabilities = m.products;
      } else {
        m.probabilities = scratch.Allocate<Probability>(kRows * chunk);
      }
      return m;
    });
  }

  void AddChunk(TokenRange chunk) {
    const size_t count = chunk.size(), padded = RoundUp(count, kKeyUnit);
    const size_t stride = task_.qkv_stride, first = chunk.begin * stride;
    Products::PackPanels({task_.keys + first, stride, width_}, count, padded, m_.keys);
    Products::PackRows({task_.values + first, stride, width_}, count, padded, m_.values);
    const TokenRange readers = task_.mask.QueriesOf(chunk, task_.length);
    const size_t begin = std::max(readers.begin, task_.range.begin) / kRows * kRows;
    const size_t end = std::min(readers.end, task_.range.end);
    for (size_t head = 0; head < task_.group; ++head) {
      for (size_t query = begin; query < end; query += kRows) {
        const TokenRange block{query, std::min(query + kRows, task_.range.end)};
        PrefetchBehind(task_, head, block, chunk, query - begin);
        AddBlock(head, block, chunk);
      }
    }
  }

  // Adds what a block of queries reads of a chunk.
  void AddBlock(size_t head, TokenRange block, TokenRange chunk) {
    const TokenRange keys = task_.mask.KeysOf(block, task_.length);
    const TokenRange span = SpanOf(task_.mask, block, chunk, task_.length);
    const bool fresh = keys.begin >= chunk.begin, done = keys.end <= chunk.end;
    const size_t rows = block.size();
    const size_t place = head * PaddedQueries(task_) + block.begin - task_.range.begin;
    float* mixed = m_.mixed + place * width_;
    if (done) {
      PrefetchToL2(task_.out + head * width_, task_.out_stride, block.begin, block.end, width_);
    }
    const A* queries = task_.queries + head * width_ + block.begin * task_.qkv_stride;
    Products::PackLeft({queries, task_.qkv_stride, width_}, rows, m_.queries);
    const Part part{head, block, span, span.begin - chunk.begin, span.size(), 0};
    RunningSums* sums = m_.sums + place;
    if (fresh) std::fill_n(sums, rows, RunningSums{});
    if (shifted_ || !SoftmaxUnshifted(part, sums, fresh)) SoftmaxShifted(part, sums, mixed, fresh);
    products_.MultiplyValues({rows, width_, span.size()}, m_.probabilities, span.size(), m_.values,
                             part.in_chunk, {mixed, width_, !fresh});
    if (done) StoreBlock(head, block, sums, mixed);
  }

  // A block of queries and the part of a chunk that it reads.
  struct Part {
    size_t head;
    TokenRange block;
    TokenRange span;
    size_t in_chunk;  // the span's first key in the chunk
    size_t stride;    // of the rows of products and probabilities
    size_t column;    // the span's first key in these rows

    // A span within this one.
    Part Within(TokenRange inner) const {
      const size_t skipped = inner.begin - span.begin;
      return {head, block, inner, in_chunk + skipped, stride, column + skipped};
    }
    size_t At(size_t r) const { return r * stride + column; }
  };

  // Probabilities of the part, above running maxima. Scales `mixed` where they rise.
  void SoftmaxShifted(const Part& part, RunningSums* sums, float* mixed, bool fresh) {
    MultiplyKeys(part);
    for (size_t r = 0; r < part.block.size(); ++r) {
      Probability* row = m_.probabilities + part.At(r);
      const float rescale = AddSpan<Products::kForBf16>(
          Row(part, r), task_.units, Drop(part, r), sums[r],
          [row](size_t j, FloatVec e) HWY_ATTR { Products::StoreProbability(e, row + j); });
      if (!fresh && rescale != 1) ScaleRow(mixed + r * width_, width_, rescale);
    }
  }

  // Unshifted probabilities of the part. Returns false, and then never tries again, where a score
  // is too large for that; what was stored is then not valid.
  bool SoftmaxUnshifted(const Part& part, RunningSums* sums, bool fresh) {
    // The keys that all queries of the block read.
    const TokenRange first = task_.mask.KeysOf(part.block.begin, task_.length);
    const TokenRange last = task_.mask.KeysOf(part.block.end - 1, task_.length);
    TokenRange inner{RoundUp(last.begin, kKeyUnit), first.end / kKeyUnit * kKeyUnit};
    inner.begin = std::clamp(inner.begin, part.span.begin, part.span.end);
    inner.end = std::clamp(inner.end, inner.begin, part.span.end);
    float totals[kRows] = {};
    auto largest = hn::Zero(WordTag());
    const bool fuses = Products::kFuses && task_.bias == nullptr && task_.units.cap_in == 0;
    if (!fuses) inner.end = inner.begin;
    if constexpr (Products::kFuses) {
      if (inner.size() > 0) AddInner(part.Within(inner), totals, largest);
    }
    AddBorder(part.Within({part.span.begin, inner.begin}), totals, largest);
    AddBorder(part.Within({inner.end, part.span.end}), totals, largest);
    const float factor = task_.bias == nullptr ? task_.units.factor : 1;
    if (!FitsUnshifted(largest, factor)) {
      shifted_ = true;
      return false;
    }
    for (size_t r = 0; r < part.block.size(); ++r) {
      sums[r] = {.shift = 0, .sum = (fresh ? 0 : sums[r].sum) + totals[r]};
    }
    return true;
  }

  // Keys that some queries of the block do not read.
  void AddBorder(const Part& part, float* totals, WordVec& largest) {
    if (part.span.size() == 0) return;
    MultiplyKeys(part);
    for (size_t r = 0; r < part.block.size(); ++r) {
      Probability* row = m_.probabilities + part.At(r);
      totals[r] += AddUnshifted<Products::kForBf16>(
          Row(part, r), task_.units, Drop(part, r), largest,
          [row](size_t j, FloatVec e) HWY_ATTR { Products::StoreProbability(e, row + j); });
    }
  }

  // Keys that all queries of the block read, where scores are exponents without further steps: they
  // become exponentials while they are in registers.
  void AddInner(const Part& inner, float* totals, WordVec& largest) {
    const FloatTag d;
    UnshiftedSums sums[kRows / kForwardBlock];
    for (UnshiftedSums& of_rows : sums) {
      of_rows.largest = largest;
      std::fill_n(of_rows.totals, kForwardBlock, hn::Zero(d));
    }
    for (size_t key = 0; key < inner.span.size(); key += kKeyUnit) {
      for (size_t r = 0; r < inner.block.size(); r += kForwardBlock) {
        ExponentialsOfRows(inner, r, key, sums[r / kForwardBlock]);
      }
    }
    for (size_t r = 0; r < inner.block.size(); ++r) {
      const UnshiftedSums& of_rows = sums[r / kForwardBlock];
      largest = hn::Max(largest, of_rows.largest);
      totals[r] += hn::GetLane(hn::SumOfLanes(d, of_rows.totals[r % kForwardBlock]));
      if (task_.dropout.active()) DropRow(inner, r);
    }
  }

  // Exponentials of kForwardBlock queries, from `r` of the block on, with the kKeyUnit keys from
  // `key` of the part on. They replace the products where there will be dropout.
  void ExponentialsOfRows(const Part& part, size_t r, size_t key, UnshiftedSums& sums) {
    const size_t at = part.At(r) + key;
    const size_t depth = Products::Depth(width_), stride = part.stride;
    const size_t rows = RoundUp(part.block.size() - r, kTileUnit);
    const ScoreBlock<Element> scores{.rows = std::min(kForwardBlock, rows),
                                     .length = kKeyUnit,
                                     .padded = kKeyUnit,
                                     .depth = depth,
                                     .queries = {m_.queries + r * depth, depth},
                                     .keys = {m_.keys + (part.in_chunk + key) * depth, kKeyUnit},
                                     .factor = task_.scale};
    if (task_.dropout.active()) {
      ExponentialsOf<Products::kForBf16>(scores, sums, StoreFloats{m_.products + at, stride});
    } else {
      ExponentialsOf<Products::kForBf16>(
          scores, sums, typename Products::StoreRows{m_.probabilities + at, stride});
    }
  }

  // Exponentials in the products of a row become probabilities after dropout.
  void DropRow(const Part& part, size_t r) {
    const SpanRow row = Row(part, r);
    Probability* to = m_.probabilities + part.At(r);
    DropoutOfRow drop(Drop(part, r));
    for (size_t j = 0; j < row.size; j += hn::Lanes(FloatTag())) {
      const auto e = hn::LoadU(FloatTag(), row.products + j);
      Products::StoreProbability(drop.Apply(e, row.first_key + j), to + j);
    }
  }

  // Products of the block with the part's keys.
  void MultiplyKeys(const Part& part) {
    products_.MultiplyKeys({part.block.size(), part.span.size(), width_}, m_.queries, m_.keys,
                           part.in_chunk, {m_.products + part.column, part.stride, false});
  }
  SpanRow Row(const Part& part, size_t r) const {
    return RowOf(task_, part.head, part.block.begin + r, part.span, m_.products + part.At(r));
  }
  DropoutRow Drop(const Part& part, size_t r) const {
    const uint64_t site_key =
        SiteKey(task_.dropout, static_cast<uint32_t>(task_.first_head + part.head + 1));
    return DropoutOf(task_, site_key, part.block.begin + r);
  }

  void StoreBlock(size_t head, TokenRange block, const RunningSums* sums, const float* mixed) {
    const FloatTag d;
    const bool has_bias = task_.bias != nullptr;
    for (size_t r = 0; r < block.size(); ++r) {
      const size_t query = block.begin + r;
      const auto scale = hn::Set(d, 1.0F / sums[r].sum);
      A* out = task_.out + query * task_.out_stride + head * width_;
      for (size_t c = 0; c < width_; c += hn::Lanes(d)) {
        StoreAs<Products::kForBf16>(hn::Mul(hn::LoadU(d, mixed + r * width_ + c), scale), d,
                                    out + c);
      }
      if (task_.log_sums == nullptr) continue;
      task_.log_sums[head * task_.log_sums_stride + query] = LogSum(sums[r], task_.units, has_bias);
    }
  }

  const GeneralTask<A>& task_;
  Products& products_;
  size_t width_, chunk_keys_;
  Arrays m_;
  bool shifted_ = false;  // a score was too large for unshifted exponentials
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
