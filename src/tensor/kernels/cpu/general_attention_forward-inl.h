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

#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/general_attention_rows-inl.h"
#include "tensor/kernels/cpu/general_attention_task.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

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

  struct Arrays {
    Element* keys;               // of a chunk
    Element* values;             // of a chunk
    Element* queries;            // of a block, [kRows, width]
    float* products;             // of a block with a chunk, [kRows, chunk]
    Probability* probabilities;  // the same; floats replace the products
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
        AddBlock(head, {query, std::min(query + kRows, task_.range.end)}, chunk);
      }
    }
  }

  // Adds what a block of queries reads of a chunk.
  void AddBlock(size_t head, TokenRange block, TokenRange chunk) {
    const TokenRange keys = task_.mask.KeysOf(block, task_.length);
    const TokenRange span = SpanOf(task_.mask, block, chunk, task_.length);
    const bool fresh = keys.begin >= chunk.begin, done = keys.end <= chunk.end;
    const size_t rows = block.size(), in_chunk = span.begin - chunk.begin;
    const size_t place = head * PaddedQueries(task_) + block.begin - task_.range.begin;
    float* mixed = m_.mixed + place * width_;
    if (done) {
      PrefetchToL2(task_.out + head * width_, task_.out_stride, block.begin, block.end, width_);
    }
    const A* queries = task_.queries + head * width_ + block.begin * task_.qkv_stride;
    Products::PackLeft({queries, task_.qkv_stride, width_}, rows, m_.queries);
    products_.MultiplyKeys({rows, span.size(), width_}, m_.queries, m_.keys, in_chunk,
                           {m_.products, span.size(), false});
    const uint64_t site_key =
        SiteKey(task_.dropout, static_cast<uint32_t>(task_.first_head + head + 1));
    for (size_t r = 0; r < rows; ++r) {
      RunningSums& sums = m_.sums[place + r];
      if (fresh) sums = {};
      Probability* row = m_.probabilities + r * span.size();
      const float rescale = AddSpan<Products::kForBf16>(
          RowOf(task_, head, block.begin + r, span, m_.products + r * span.size()), task_.units,
          DropoutOf(task_, site_key, block.begin + r), sums,
          [row](size_t j, FloatVec e) HWY_ATTR { Products::StoreProbability(e, row + j); });
      if (!fresh && rescale != 1) ScaleRow(mixed + r * width_, width_, rescale);
    }
    products_.MultiplyValues({rows, width_, span.size()}, m_.probabilities, span.size(), m_.values,
                             in_chunk, {mixed, width_, !fresh});
    if (done) StoreBlock(head, block, m_.sums + place, mixed);
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
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
