#include "tensor/kernels/cpu/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/attention/attention.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention/attention_pairs-inl.h"
#include "tensor/kernels/cpu/attention/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention/attention_task.h"
#include "tensor/kernels/cpu/attention/attention_tiles-inl.h"
#include "tensor/kernels/cpu/attention/attention_tiles_backward-inl.h"
#include "tensor/kernels/cpu/products/small_product-inl.h"
#include "tensor/kernels/cpu/rows/transpose-inl.h"
#include "tensor/kernels/cpu/scratch.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <typename A>
void ForwardTask(const AttentionTask<A>& task) {
  const size_t length = task.length, width = task.head_width;
  const size_t padded = RoundUp(length, 16);
  struct Arrays {
    float* values;   // [padded, width]
    float* keys;     // transposed, [width, padded]
    float* queries;  // of a block, [kForwardBlock, width]; then the block's output
    float* scores;   // [kForwardBlock, padded]
  };
  const Arrays m = AllocateScratch<AttentionScratch>([&](Scratch& scratch) {
    return Arrays{.values = scratch.Allocate<float>(padded * width),
                  .keys = scratch.Allocate<float>(padded * width),
                  .queries = scratch.Allocate<float>(kForwardBlock * width),
                  .scores = scratch.Allocate<float>(kForwardBlock * padded)};
  });
  DropoutRow dropout[kForwardBlock];
  SoftmaxSums sums[kForwardBlock];
  LoadRows(InputRows(task, 1), length, length, m.values);
  Transpose({m.values, width * sizeof(float), length, width}, padded,
            reinterpret_cast<uint32_t*>(m.keys));
  LoadRows(InputRows(task, 2), length, length, m.values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t begin = 0; begin < length; begin += kForwardBlock) {
    const auto [first, rows] = BlockAt(begin, length);
    PrefetchNext(task, begin, kForwardBlock);
    PrefetchToL2(task.out, task.out_stride, first, first + rows, width);
    LoadRows(InputRows(task, 0, first), rows, rows, m.queries);
    for (size_t r = 0; r < rows; ++r) dropout[r] = DropoutOf(task, first + r);
    const ScoreBlock<float> block{.rows = rows,
                                  .length = length,
                                  .padded = padded,
                                  .depth = width,
                                  .queries = {m.queries, width},
                                  .keys = {m.keys, padded},
                                  .factor = score_scale,
                                  .dropout = dropout,
                                  .wants_log_sums = task.log_sums != nullptr,
                                  .scores = m.scores};
    SoftmaxOfBlock<false>(block, sums, StoreFloats{m.scores, padded});
    StoreLogSums(task, sums, first, rows);
    float* block_out = m.queries;  // the scores are done, so that the queries may be overwritten
    SmallProduct({rows, width, length}, RowMajor<float>{m.scores, padded}, {m.values, width},
                 {block_out, width, false});
    StoreScaled(task, block_out, sums, first, rows);
  }
}

template <typename A>
void BackwardTask(const AttentionTask<A>& task) {
  const size_t length = task.length, width = task.head_width;
  const size_t padded = RoundUp(length, 16), row_bytes = width * sizeof(float);
  struct Arrays {
    float* keys;                                 // [padded, width]
    float *keys_transposed, *values_transposed;  // [width, padded]
    float *grad_keys, *grad_values;              // [padded, width]
    float *queries, *grad_out, *grad_queries;    // of a block, [kBackwardBlock, width]
    float *scores, *grad_scores;                 // [kBackwardBlock, padded]
  };
  const Arrays m = AllocateScratch<AttentionScratch>([&](Scratch& scratch) {
    return Arrays{.keys = scratch.Allocate<float>(padded * width),
                  .keys_transposed = scratch.Allocate<float>(padded * width),
                  .values_transposed = scratch.Allocate<float>(padded * width),
                  .grad_keys = scratch.Allocate<float>(padded * width),
                  .grad_values = scratch.Allocate<float>(padded * width),
                  .queries = scratch.Allocate<float>(kBackwardBlock * width),
                  .grad_out = scratch.Allocate<float>(kBackwardBlock * width),
                  .grad_queries = scratch.Allocate<float>(kBackwardBlock * width),
                  .scores = scratch.Allocate<float>(kBackwardBlock * padded),
                  .grad_scores = scratch.Allocate<float>(kBackwardBlock * padded)};
  });
  LoadRows(InputRows(task, 2), length, length, m.keys);
  Transpose({m.keys, row_bytes, length, width}, padded,
            reinterpret_cast<uint32_t*>(m.values_transposed));
  LoadRows(InputRows(task, 1), length, length, m.keys);
  Transpose({m.keys, row_bytes, length, width}, padded,
            reinterpret_cast<uint32_t*>(m.keys_transposed));
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kBackwardBlock) {
    const size_t rows = std::min(kBackwardBlock, length - first);
    PrefetchNext(task, first, kBackwardBlock);
    PrefetchGradients(task, first, rows);
    const A* grad_rows = task.grad_out + first * task.out_stride;
    const A* out_rows = task.saved_out + first * task.out_stride;
    LoadRows(InputRows(task, 0, first), rows, length - first, m.queries);
    LoadRows(StridedRows<const A>{grad_rows, task.out_stride, width}, rows, length - first,
             m.grad_out);
    SmallProduct({rows, padded, width}, RowMajor<float>{m.queries, width},
                 {m.keys_transposed, padded}, {m.scores, padded, false});
    SmallProduct({rows, padded, width}, RowMajor<float>{m.grad_out, width},
                 {m.values_transposed, padded}, {m.grad_scores, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta =
          RowDot(grad_rows + r * task.out_stride, out_rows + r * task.out_stride, width);
      float* score_row = m.scores + r * padded;
      float* grad_row = m.grad_scores + r * padded;
      BackwardRow<false>({score_row, length, padded, score_scale}, grad_row,
                         {task.log_sums[first + r], delta}, DropoutOf(task, first + r),
                         [=](size_t j, FloatVec probabilities, FloatVec grads) HWY_ATTR {
                           hn::StoreU(probabilities, FloatTag(), score_row + j);
                           hn::StoreU(grads, FloatTag(), grad_row + j);
                         });
    }
    SmallProduct({length, width, rows}, Transposed<float>{m.scores, padded}, {m.grad_out, width},
                 {m.grad_values, width, first > 0});
    SmallProduct({length, width, rows}, Transposed<float>{m.grad_scores, padded},
                 {m.queries, width}, {m.grad_keys, width, first > 0});
    SmallProduct({rows, width, length}, RowMajor<float>{m.grad_scores, padded}, {m.keys, width},
                 {m.grad_queries, width, false});
    StoreRows(m.grad_queries, rows, score_scale, GradientRows(task, 0, first));
  }
  StoreRows(m.grad_keys, length, score_scale, GradientRows(task, 1));
  StoreRows(m.grad_values, length, 1.0F, GradientRows(task, 2));
}

void ForwardFloat(const AttentionTask<float>& task) { ForwardTask(task); }
void ForwardBf16(const AttentionTask<Bf16>& task) { ForwardTask(task); }
void BackwardFloat(const AttentionTask<float>& task) { BackwardTask(task); }
void BackwardBf16(const AttentionTask<Bf16>& task) { BackwardTask(task); }
#if HWY_TARGET <= HWY_AVX3
void ForwardPairs(const AttentionTask<Bf16>& task) { ForwardTaskOnPairs(task); }
void BackwardPairs(const AttentionTask<Bf16>& task) { BackwardTaskOnPairs(task); }
void ForwardTiles(const AttentionTask<Bf16>& task) { ForwardTaskOnTiles(task); }
void BackwardTiles(const AttentionTask<Bf16>& task) { BackwardTaskOnTiles(task); }
#else  // ProductsFor never chooses these at this target
void ForwardPairs(const AttentionTask<Bf16>& task) { ForwardTask(task); }
void BackwardPairs(const AttentionTask<Bf16>& task) { BackwardTask(task); }
void ForwardTiles(const AttentionTask<Bf16>& task) { ForwardTask(task); }
void BackwardTiles(const AttentionTask<Bf16>& task) { BackwardTask(task); }
#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {
namespace {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(ForwardBf16);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(BackwardBf16);
HWY_EXPORT(ForwardPairs);
HWY_EXPORT(BackwardPairs);
HWY_EXPORT(ForwardTiles);
HWY_EXPORT(BackwardTiles);

void Forward(const AttentionTask<float>& task) { HWY_DYNAMIC_DISPATCH(ForwardFloat)(task); }
// Says how bf16 values are multiplied: as floats, by AVX512-BF16 in pairs, or by AMX in tiles,
// which take 32 channels at a time.
enum class Bf16Products { kOfFloats, kOfPairs, kOfTiles };
Bf16Products ProductsFor(size_t head_width) {
  if (CurrentIsa() >= Isa::kAmx && head_width % 32 == 0) return Bf16Products::kOfTiles;
  return CurrentIsa() >= Isa::kAvx512Bf16 ? Bf16Products::kOfPairs : Bf16Products::kOfFloats;
}

void Forward(const AttentionTask<Bf16>& task) {
  switch (ProductsFor(task.head_width)) {
    case Bf16Products::kOfFloats:
      return HWY_DYNAMIC_DISPATCH(ForwardBf16)(task);
    case Bf16Products::kOfPairs:
      return HWY_DYNAMIC_DISPATCH(ForwardPairs)(task);
    case Bf16Products::kOfTiles:
      return HWY_DYNAMIC_DISPATCH(ForwardTiles)(task);
  }
}
void Backward(const AttentionTask<float>& task) { HWY_DYNAMIC_DISPATCH(BackwardFloat)(task); }
void Backward(const AttentionTask<Bf16>& task) {
  switch (ProductsFor(task.head_width)) {
    case Bf16Products::kOfFloats:
      return HWY_DYNAMIC_DISPATCH(BackwardBf16)(task);
    case Bf16Products::kOfPairs:
      return HWY_DYNAMIC_DISPATCH(BackwardPairs)(task);
    case Bf16Products::kOfTiles:
      return HWY_DYNAMIC_DISPATCH(BackwardTiles)(task);
  }
}

// The indices of the texts, the longest text first: when threads begin with the long texts, they
// all end at about the same time.
std::vector<size_t> LongestFirst(const int32_t* starts, size_t texts) {
  std::vector<size_t> order(texts);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return starts[a + 1] - starts[a] > starts[b + 1] - starts[b];
  });
  return order;
}

// `from` moved by `elements`; null where it is null.
template <typename A>
A* Advance(A* from, size_t elements) {
  return from == nullptr ? nullptr : from + elements;
}

// The task of a text and head. `whole` points to the arrays of the pass, the task to its part of
// them.
template <typename A>
AttentionTask<A> TaskOf(const AttentionInput<A>& input, const AttentionTask<A>& whole, size_t text,
                        size_t head) {
  const size_t hidden = input.heads * input.head_width;
  const auto tokens = static_cast<size_t>(input.starts[input.texts]);
  const auto first = static_cast<size_t>(input.starts[text]);
  const size_t of_hidden = first * hidden + head * input.head_width;
  const size_t of_qkv = first * 3 * hidden + head * input.head_width;
  AttentionTask<A> task{};
  task.qkv = input.qkv + of_qkv;
  task.qkv_stride = 3 * hidden;
  task.hidden = hidden;
  task.length = static_cast<size_t>(input.starts[text + 1]) - first;
  task.head_width = input.head_width;
  task.site_key = SiteKey(input.dropout, static_cast<uint32_t>(head + 1));
  task.position_keys = Advance(input.position_keys, first);
  task.threshold = input.dropout.active() ? KeepThreshold(input.dropout.rate) : 0;
  task.keep_scale = KeepScale(input.dropout.rate);
  task.out = Advance(whole.out, of_hidden);
  task.saved_out = Advance(whole.saved_out, of_hidden);
  task.grad_out = Advance(whole.grad_out, of_hidden);
  task.out_stride = hidden;
  task.log_sums = Advance(whole.log_sums, head * tokens + first);
  task.grad_qkv = Advance(whole.grad_qkv, of_qkv);
  return task;
}

// Runs the tasks of all texts and heads on threads. Processors fetch two lines of 64 bytes
// together; the heads whose rows share such a pair are a group, which one thread runs.
template <typename A, typename Run>
void RunTasks(const AttentionInput<A>& input, const AttentionTask<A>& whole, int threads,
              const Run& run) {
  const std::vector<size_t> order = LongestFirst(input.starts, input.texts);
  const size_t together =
      std::clamp(128 / (input.head_width * sizeof(A)), size_t{1}, std::max<size_t>(1, input.heads));
  const size_t groups = (input.heads + together - 1) / together, count = order.size() * groups;
  const auto task_at = [&](size_t group, size_t head) {
    return TaskOf(input, whole, order[group / groups], group % groups * together + head);
  };
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t group = 0; group < count; ++group) {
    const size_t heads = std::min(together, input.heads - group % groups * together);
    for (size_t head = 0; head < heads; ++head) {
      AttentionTask<A> task = task_at(group, head);
      if (task.length == 0 || task.length > input.max_length) continue;
      // If all groups take equally long, a thread's next group is `threads` further on.
      const bool last = head + 1 == heads;
      const size_t next_group = last ? group + static_cast<size_t>(threads) : group;
      if (next_group < count) {
        const AttentionTask<A> next = task_at(next_group, last ? 0 : head + 1);
        task.next = {next.qkv, next.saved_out, next.grad_out, next.length};
      }
      run(task);
    }
  }
}

}  // namespace

template <typename A>
void RunAttentionForward(const AttentionInput<A>& input, const AttentionOutput<A>& output,
                         int threads) {
  AttentionTask<A> whole{};
  whole.out = output.out;
  whole.log_sums = output.log_sums;
  RunTasks(input, whole, threads, [](const AttentionTask<A>& task) { Forward(task); });
}

template <typename A>
void RunAttentionBackward(const AttentionInput<A>& input, const AttentionGradient<A>& gradient,
                          int threads) {
  AttentionTask<A> whole{};
  whole.saved_out = gradient.out;
  whole.grad_out = gradient.grad_out;
  whole.log_sums = const_cast<float*>(gradient.log_sums);  // the backward pass only reads it
  whole.grad_qkv = gradient.grad_qkv;
  RunTasks(input, whole, threads, [](const AttentionTask<A>& task) { Backward(task); });
}

#define TANDEM_INSTANTIATE(A)                                                                  \
  template void RunAttentionForward(const AttentionInput<A>&, const AttentionOutput<A>&, int); \
  template void RunAttentionBackward(const AttentionInput<A>&, const AttentionGradient<A>&, int)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE
