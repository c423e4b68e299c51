// The backward task of general attention in vector registers. Included once per target by
// general_attention.cc.
#if defined(TANDEM_TENSOR_GENERAL_ATTENTION_BACKWARD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TANDEM_TENSOR_GENERAL_ATTENTION_BACKWARD_INL_H_
#undef TANDEM_TENSOR_GENERAL_ATTENTION_BACKWARD_INL_H_
#else
#define TANDEM_TENSOR_GENERAL_ATTENTION_BACKWARD_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/attention/general_attention_vectors-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

// Distances of a text's tokens, and biases of padding after them.
inline size_t DistancesOf(size_t length) { return 2 * length - 1 + kBiasPadding; }

// SavedRow (with logs of base 2) for each query head of the group and each query.
template <typename A>
HWY_INLINE void SaveRows(const GeneralTask<A>& task, SavedRow* saved) {
  for (size_t head = 0; head < task.group; ++head) {
    for (size_t r = 0; r < task.length; ++r) {
      const size_t place = r * task.out_stride + head * task.width;
      saved[head * task.length + r] = {
          task.log_sums[head * task.log_sums_stride + r],
          RowDot(task.grad_out + place, task.saved_out + place, task.width)};
    }
  }
}

template <typename Layout>
class GeneralBackward {
 public:
  using A = typename Layout::Activation;
  using Element = typename Layout::Element;
  using Probability = typename Layout::Probability;

  explicit GeneralBackward(const GeneralTask<A>& task)
      : task_(task),
        width_(task.width),
        chunk_keys_(std::min(ChunkKeys(task.width), RoundUp(task.length, kKeyUnit))),
        m_(Allocate(task, chunk_keys_)) {}

  void Run() {
    SaveRows(task_, m_.saved);
    if (task_.grad_bias != nullptr) {
      std::fill_n(m_.grad_bias, task_.group * DistancesOf(task_.length), 0.0F);
    }
    for (size_t key = 0; key < task_.length; key += chunk_keys_) {
      AddChunk({key, std::min(key + chunk_keys_, task_.length)});
    }
    for (size_t head = 0; head < task_.group; ++head) {
      StoreRows<Layout::kForBf16>(
          m_.grad_queries + head * task_.length * width_, task_.length, task_.scale,
          StridedRows<A>{task_.grad_queries + head * width_, task_.qkv_stride, width_});
      if (task_.grad_bias != nullptr) {
        SumBuckets(task_, head, m_.grad_bias + head * DistancesOf(task_.length));
      }
    }
  }

 private:
  static constexpr size_t kRows = Layout::kBackwardRows;

  struct Arrays {
    Element *key_panels, *value_panels, *key_rows;  // of a chunk
    float *grad_keys, *grad_values;                 // of a chunk, [chunk, width]
    Element *queries, *grads;                       // of a block, as left factors
    Element *query_rows, *grad_rows;                // of a block, its tokens along the depth
    float *products, *grad_probabilities;           // of a block with a chunk, [kRows, chunk]
    Probability *probabilities, *grad_products;     // the same; floats replace the arrays above
    Element* work;                                  // [kRows, chunk]
    SavedRow* saved;                                // [group, length]
    float* grad_queries;                            // [group, length, width]
    float* grad_bias;                               // [group, DistancesOf(length)]
  };

  static Arrays Allocate(const GeneralTask<A>& task, size_t chunk) {
    const size_t width = task.width, rows = task.group * task.length;
    return AllocateScratch<GeneralAttentionScratch>([&](Scratch& scratch) {
      Arrays m{};
      for (Element** array : {&m.key_panels, &m.value_panels, &m.key_rows}) {
        *array = scratch.Allocate<Element>(chunk * width);
      }
      m.grad_keys = scratch.Allocate<float>(chunk * width);
      m.grad_values = scratch.Allocate<float>(chunk * width);
      m.query_rows = scratch.Allocate<Element>(kRows * width);
      m.grad_rows = scratch.Allocate<Element>(kRows * width);
      m.queries = Layout::kRowsAreLeft ? m.query_rows : scratch.Allocate<Element>(kRows * width);
      m.grads = Layout::kRowsAreLeft ? m.grad_rows : scratch.Allocate<Element>(kRows * width);
      m.products = scratch.Allocate<float>(kRows * chunk);
      m.grad_probabilities = scratch.Allocate<float>(kRows * chunk);
      if constexpr (std::is_same_v<Probability, float>) {
        m.probabilities = m.products;
        m.grad_products = m.grad_probabilities;
      } else {
        m.probabilities = scratch.Allocate<Probability>(kRows * chunk);
        m.grad_products = scratch.Allocate<Probability>(kRows * chunk);
        m.work = scratch.Allocate<Element>(kRows / 2 * chunk);
      }
      m.saved = scratch.Allocate<SavedRow>(rows);
      m.grad_queries = scratch.Allocate<float>(rows * width);
      if (task.grad_bias != nullptr) {
        m.grad_bias = scratch.Allocate<float>(task.group * DistancesOf(task.length));
      }
      return m;
    });
  }

  void AddChunk(TokenRange chunk) {
    const size_t count = chunk.size(), padded = RoundUp(count, kKeyUnit);
    const size_t stride = task_.qkv_stride, first = chunk.begin * stride;
    const StridedRows<const A> keys{task_.keys + first, stride, width_};
    const StridedRows<const A> values{task_.values + first, stride, width_};
    Layout::PackPanels(keys, count, padded, m_.key_panels);
    Layout::PackPanels(values, count, padded, m_.value_panels);
    Layout::PackRows(keys, count, padded, m_.key_rows);
    std::fill_n(m_.grad_keys, padded * width_, 0.0F);
    std::fill_n(m_.grad_values, padded * width_, 0.0F);
    const TokenRange readers = task_.mask.QueriesOf(chunk, task_.length);
    for (size_t head = 0; head < task_.group; ++head) {
      const size_t begin = readers.begin / kRows * kRows;
      for (size_t query = begin; query < readers.end; query += kRows) {
        const TokenRange block{query, std::min(query + kRows, task_.length)};
        PrefetchBehind(task_, head, block, chunk, query - begin);
        PrefetchResults(head, block, chunk, query - begin);
        AddBlock(head, block, chunk);
      }
    }
    StoreRows<Layout::kForBf16>(m_.grad_keys, count, task_.scale,
                                StridedRows<A>{task_.grad_keys + first, stride, width_});
    StoreRows<Layout::kForBf16>(m_.grad_values, count, 1.0F,
                                StridedRows<A>{task_.grad_values + first, stride, width_});
  }

  // Prefetches the gradients that a block reads next, and those that it or its chunk will write.
  void PrefetchResults(size_t head, TokenRange block, TokenRange chunk, size_t place) const {
    const size_t stride = task_.qkv_stride, at = head * width_;
    PrefetchToL2(task_.grad_out + at, task_.out_stride, block.end,
                 std::min(block.end + kRows, task_.length), width_);
    if (chunk.end == task_.length) {
      PrefetchToL2(task_.grad_queries + at, stride, block.begin, block.end, width_);
    }
    if (head > 0) return;
    const size_t begin = chunk.begin + place, end = std::min(begin + kRows, chunk.end);
    PrefetchToL2(task_.grad_keys, stride, begin, end, width_);
    PrefetchToL2(task_.grad_values, stride, begin, end, width_);
  }

  // Adds what a block of queries and a chunk give to each other's gradients.
  void AddBlock(size_t head, TokenRange block, TokenRange chunk) {
    const TokenRange span = SpanOf(task_.mask, block, chunk, task_.length);
    const bool fresh = task_.mask.KeysOf(block.begin, task_.length).begin >= chunk.begin;
    const size_t rows = block.size(), keys = span.size(), in_chunk = span.begin - chunk.begin;
    PackBlock(head, block);
    MultiplyPanels({rows, keys, width_}, m_.queries, m_.key_panels, in_chunk, m_.products);
    MultiplyPanels({rows, keys, width_}, m_.grads, m_.value_panels, in_chunk,
                   m_.grad_probabilities);
    MakeGradients(head, block, span);
    AddTransposed({keys, width_, rows}, m_.probabilities, m_.grad_rows,
                  m_.grad_values + in_chunk * width_);
    AddTransposed({keys, width_, rows}, m_.grad_products, m_.query_rows,
                  m_.grad_keys + in_chunk * width_);
    SmallProduct({rows, width_, Layout::Depth(keys)}, Layout::Left(m_.grad_products, keys),
                 Rows<Element>{m_.key_rows + Layout::Depth(in_chunk) * width_, width_},
                 {m_.grad_queries + (head * task_.length + block.begin) * width_, width_, !fresh});
  }

  void PackBlock(size_t head, TokenRange block) {
    const size_t rows = block.size(), even = rows + rows % 2;
    const StridedRows<const A> queries{
        task_.queries + block.begin * task_.qkv_stride + head * width_, task_.qkv_stride, width_};
    const StridedRows<const A> grads{
        task_.grad_out + block.begin * task_.out_stride + head * width_, task_.out_stride, width_};
    Layout::PackRows(queries, rows, even, m_.query_rows);
    Layout::PackRows(grads, rows, even, m_.grad_rows);
    if constexpr (!Layout::kRowsAreLeft) {
      Layout::PackLeft(queries, rows, m_.queries);
      Layout::PackLeft(grads, rows, m_.grads);
    }
  }

  void MakeGradients(size_t head, TokenRange block, TokenRange span) {
    const uint64_t site_key =
        SiteKey(task_.dropout, static_cast<uint32_t>(task_.first_head + head + 1));
    for (size_t r = 0; r < block.size(); ++r) {
      const size_t query = block.begin + r, at = r * span.size();
      float* grad_bias = nullptr;
      if (task_.grad_bias != nullptr) {
        grad_bias = m_.grad_bias + head * DistancesOf(task_.length) +
                    (span.begin + task_.length - 1 - query);
      }
      Probability* probabilities = m_.probabilities + at;
      Probability* grads = m_.grad_products + at;
      SpanGradients<Layout::kForBf16>(RowOf(task_, head, query, span, m_.products + at),
                                      task_.units, m_.grad_probabilities + at,
                                      m_.saved[head * task_.length + query],
                                      DropoutOf(task_, site_key, query), grad_bias,
                                      [=](size_t j, FloatVec p, FloatVec g) HWY_ATTR {
                                        Layout::StoreProbability(p, probabilities + j);
                                        Layout::StoreProbability(g, grads + j);
                                      });
    }
  }

  // to [rows, columns] = left times the chunk's panels from key `first` on.
  void MultiplyPanels(const SmallShape& shape, const Element* left, const Element* panels,
                      size_t first, float* to) {
    const size_t depth = Layout::Depth(shape.depth);
    PanelProduct({shape.rows, shape.columns, depth}, RowMajor<Element>{left, depth},
                 panels + first * depth, {to, shape.columns, false});
  }

  // to [rows, columns] += from^T rows, for `from` [depth, rows] and `rows` [depth, columns].
  void AddTransposed(const SmallShape& shape, const Probability* from, const Element* rows,
                     float* to) {
    SmallProduct({shape.rows, shape.columns, Layout::Depth(shape.depth)},
                 Layout::LeftTransposed(from, shape.rows, shape.depth, shape.rows, m_.work),
                 Rows<Element>{rows, shape.columns}, {to, shape.columns, true});
  }

  const GeneralTask<A>& task_;
  size_t width_, chunk_keys_;
  Arrays m_;
};

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
