#include "tensor/kernels/cpu/attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/attention.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/isa.h"
#include "tensor/kernels/cpu/attention_pairs-inl.h"
#include "tensor/kernels/cpu/attention_rows-inl.h"
#include "tensor/kernels/cpu/attention_scores-inl.h"
#include "tensor/kernels/cpu/attention_task.h"
#include "tensor/kernels/cpu/attention_tiles-inl.h"
#include "tensor/kernels/cpu/scratch.h"
#include "tensor/kernels/cpu/small_product-inl.h"
#include "tensor/kernels/cpu/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <typename A>
void ForwardTask(const AttentionTask<A>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16);
  Carver carver(workspace);
  float* values = carver.Take(padded * width);
  float* keys = carver.Take(padded * width);  // transposed
  float* queries = carver.Take(kForwardBlock * width);
  float* scores = carver.Take(kForwardBlock * padded);
  DropoutRow dropout[kForwardBlock];
  SoftmaxSums sums[kForwardBlock];
  LoadRows(task.qkv + task.hidden, stride, length, length, width, values);
  Transpose({values, width * sizeof(float), length, width}, padded,
            reinterpret_cast<uint32_t*>(keys));
  LoadRows(task.qkv + 2 * task.hidden, stride, length, length, width, values);
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t begin = 0; begin < length; begin += kForwardBlock) {
    const auto [first, rows] = BlockAt(begin, length);
    FetchForNext(task, begin, kForwardBlock);
    FetchForLater(task.out, task.out_stride, first, first + rows, width);
    LoadRows(task.qkv + first * stride, stride, rows, rows, width, queries);
    for (size_t r = 0; r < rows; ++r) dropout[r] = DropoutOf(task, first + r);
    const ScoreBlock<float> block{.rows = rows,
                                  .length = length,
                                  .padded = padded,
                                  .depth = width,
                                  .queries = {queries, width},
                                  .keys = {keys, padded},
                                  .factor = score_scale,
                                  .dropout = dropout,
                                  .wants_log_sums = task.log_sums != nullptr,
                                  .scores = scores};
    SoftmaxOfBlock<false>(block, sums, StoreFloats{scores, padded});
    StoreLogSums(task, sums, first, rows);
    float* mixed = queries;  // which the block no longer needs
    SmallProduct(rows, width, length, Along<float>{scores, padded}, {values, width},
                 {mixed, width, false});
    StoreScaled(task, mixed, sums, first, rows);
  }
}

template <typename A>
void BackwardTask(const AttentionTask<A>& task, float* workspace) {
  const size_t length = task.length, width = task.head_width, stride = task.qkv_stride;
  const size_t padded = RoundUp(length, 16), row_bytes = width * sizeof(float);
  Carver carver(workspace);
  float* keys = carver.Take(padded * width);
  float* keys_transposed = carver.Take(padded * width);
  float* values_transposed = carver.Take(padded * width);
  float* grad_keys = carver.Take(padded * width);
  float* grad_values = carver.Take(padded * width);
  float* queries = carver.Take(kBackwardBlock * width);
  float* grad_out = carver.Take(kBackwardBlock * width);
  float* grad_queries = carver.Take(kBackwardBlock * width);
  float* scores = carver.Take(kBackwardBlock * padded);
  float* grad_scores = carver.Take(kBackwardBlock * padded);
  LoadRows(task.qkv + 2 * task.hidden, stride, length, length, width, keys);
  Transpose({keys, row_bytes, length, width}, padded,
            reinterpret_cast<uint32_t*>(values_transposed));
  LoadRows(task.qkv + task.hidden, stride, length, length, width, keys);
  Transpose({keys, row_bytes, length, width}, padded, reinterpret_cast<uint32_t*>(keys_transposed));
  const float score_scale = 1.0F / std::sqrt(static_cast<float>(width));
  for (size_t first = 0; first < length; first += kBackwardBlock) {
    const size_t rows = std::min(kBackwardBlock, length - first);
    FetchForNext(task, first, kBackwardBlock);
    FetchGradients(task, first, rows);
    const A* grad_rows = task.grad_out + first * task.out_stride;
    const A* out_rows = task.saved_out + first * task.out_stride;
    LoadRows(task.qkv + first * stride, stride, rows, length - first, width, queries);
    LoadRows(grad_rows, task.out_stride, rows, length - first, width, grad_out);
    SmallProduct(rows, padded, width, Along<float>{queries, width}, {keys_transposed, padded},
                 {scores, padded, false});
    SmallProduct(rows, padded, width, Along<float>{grad_out, width}, {values_transposed, padded},
                 {grad_scores, padded, false});
    for (size_t r = 0; r < rows; ++r) {
      const float delta =
          RowDot(grad_rows + r * task.out_stride, out_rows + r * task.out_stride, width);
      float* score_row = scores + r * padded;
      float* grad_row = grad_scores + r * padded;
      BackwardRow<false>(score_row, grad_row, length, padded,
                         {score_scale, task.log_sums[first + r], delta}, DropoutOf(task, first + r),
                         [=](size_t j, FloatVec kept, FloatVec grad) HWY_ATTR {
                           hn::StoreU(kept, FloatTag(), score_row + j);
                           hn::StoreU(grad, FloatTag(), grad_row + j);
                         });
    }
    SmallProduct(length, width, rows, Across<float>{scores, padded}, {grad_out, width},
                 {grad_values, width, first > 0});
    SmallProduct(length, width, rows, Across<float>{grad_scores, padded}, {queries, width},
                 {grad_keys, width, first > 0});
    SmallProduct(rows, width, length, Along<float>{grad_scores, padded}, {keys, width},
                 {grad_queries, width, false});
    StoreRows(grad_queries, rows, width, score_scale, task.grad_qkv + first * stride, stride);
  }
  StoreRows(grad_keys, length, width, score_scale, task.grad_qkv + task.hidden, stride);
  StoreRows(grad_values, length, width, 1.0F, task.grad_qkv + 2 * task.hidden, stride);
}

void ForwardFloat(const AttentionTask<float>& task, float* workspace) {
  ForwardTask(task, workspace);
}
void ForwardBf16(const AttentionTask<Bf16>& task, float* workspace) {
  ForwardTask(task, workspace);
}
void BackwardFloat(const AttentionTask<float>& task, float* workspace) {
  BackwardTask(task, workspace);
}
void BackwardBf16(const AttentionTask<Bf16>& task, float* workspace) {
  BackwardTask(task, workspace);
}
#if HWY_TARGET <= HWY_AVX3
void ForwardPairs(const AttentionTask<Bf16>& task, float* workspace) {
  ForwardTaskOnPairs(task, workspace);
}
void BackwardPairs(const AttentionTask<Bf16>& task, float* workspace) {
  BackwardTaskOnPairs(task, workspace);
}
void ForwardTiles(const AttentionTask<Bf16>& task, float* workspace) {
  ForwardTaskOnTiles(task, workspace);
}
void BackwardTiles(const AttentionTask<Bf16>& task, float* workspace) {
  BackwardTaskOnTiles(task, workspace);
}
#else  // never asked for
void ForwardPairs(const AttentionTask<Bf16>& task, float* workspace) {
  ForwardTask(task, workspace);
}
void BackwardPairs(const AttentionTask<Bf16>& task, float* workspace) {
  BackwardTask(task, workspace);
}
void ForwardTiles(const AttentionTask<Bf16>& task, float* workspace) {
  ForwardTask(task, workspace);
}
void BackwardTiles(const AttentionTask<Bf16>& task, float* workspace) {
  BackwardTask(task, workspace);
}
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

void Forward(const AttentionTask<float>& task, float* workspace) {
  HWY_DYNAMIC_DISPATCH(ForwardFloat)(task, workspace);
}
// What multiplies bf16 values: floats, the processor's products of pairs, or its tiles, which take
// 32 channels at a time.
enum class Bf16Products { kOfFloats, kOfPairs, kOfTiles };
Bf16Products ProductsFor(size_t head_width) {
  if (CurrentIsa() >= Isa::kAmx && head_width % 32 == 0) return Bf16Products::kOfTiles;
  return CurrentIsa() >= Isa::kAvx512Bf16 ? Bf16Products::kOfPairs : Bf16Products::kOfFloats;
}

void Forward(const AttentionTask<Bf16>& task, float* workspace) {
  switch (ProductsFor(task.head_width)) {
    case Bf16Products::kOfFloats:
      return HWY_DYNAMIC_DISPATCH(ForwardBf16)(task, workspace);
    case Bf16Products::kOfPairs:
      return HWY_DYNAMIC_DISPATCH(ForwardPairs)(task, workspace);
    case Bf16Products::kOfTiles:
      return HWY_DYNAMIC_DISPATCH(ForwardTiles)(task, workspace);
  }
}
void Backward(const AttentionTask<float>& task, float* workspace) {
  HWY_DYNAMIC_DISPATCH(BackwardFloat)(task, workspace);
}
void Backward(const AttentionTask<Bf16>& task, float* workspace) {
  switch (ProductsFor(task.head_width)) {
    case Bf16Products::kOfFloats:
      return HWY_DYNAMIC_DISPATCH(BackwardBf16)(task, workspace);
    case Bf16Products::kOfPairs:
      return HWY_DYNAMIC_DISPATCH(BackwardPairs)(task, workspace);
    case Bf16Products::kOfTiles:
      return HWY_DYNAMIC_DISPATCH(BackwardTiles)(task, workspace);
  }
}

// Texts by falling length: the long ones start first, so that the threads end together.
std::vector<size_t> LongestFirst(const int32_t* starts, size_t texts) {
  std::vector<size_t> order(texts);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return starts[a + 1] - starts[a] > starts[b + 1] - starts[b];
  });
  return order;
}

float* Workspace(size_t floats) {
  struct OfAttention;
  return Scratch::Reserve<OfAttention>(floats * sizeof(float)).Take<float>(floats);
}

template <typename A>
A* Moved(A* from, size_t elements) {
  return from == nullptr ? nullptr : from + elements;
}

// The task of a text and head; `whole` has the arrays of the pass where a task has its part.
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
  task.position_keys = Moved(input.position_keys, first);
  task.threshold = input.dropout.active() ? KeepThreshold(input.dropout.rate) : 0;
  task.keep_scale = KeepScale(input.dropout.rate);
  task.out = Moved(whole.out, of_hidden);
  task.saved_out = Moved(whole.saved_out, of_hidden);
  task.grad_out = Moved(whole.grad_out, of_hidden);
  task.out_stride = hidden;
  task.log_sums = Moved(whole.log_sums, head * tokens + first);
  task.grad_qkv = Moved(whole.grad_qkv, of_qkv);
  return task;
}

// Runs the tasks of all texts and heads on threads. One thread has the heads whose rows share what
// processors fetch from memory together, two lines of 64 bytes.
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
      if (task.length == 0) continue;
      // When groups take equally long, a thread's next one is `threads` further on.
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
void RunAttentionForward(const AttentionInput<A>& input, A* out, float* log_sums, int threads) {
  AttentionTask<A> whole{};
  whole.out = out;
  whole.log_sums = log_sums;
  RunTasks(input, whole, threads, [](const AttentionTask<A>& task) {
    Forward(task, Workspace(ForwardWorkspace(task.length, task.head_width)));
  });
}

template <typename A>
void RunAttentionBackward(const AttentionInput<A>& input, const A* out, const A* grad_out,
                          const float* log_sums, A* grad_qkv, int threads) {
  AttentionTask<A> whole{};
  whole.saved_out = out;
  whole.grad_out = grad_out;
  whole.log_sums = const_cast<float*>(log_sums);  // read only here
  whole.grad_qkv = grad_qkv;
  RunTasks(input, whole, threads, [](const AttentionTask<A>& task) {
    Backward(task, Workspace(BackwardWorkspace(task.length, task.head_width)));
  });
}

template void RunAttentionForward(const AttentionInput<float>&, float*, float*, int);
template void RunAttentionForward(const AttentionInput<Bf16>&, Bf16*, float*, int);
template void RunAttentionBackward(const AttentionInput<float>&, const float*, const float*,
                                   const float*, float*, int);
template void RunAttentionBackward(const AttentionInput<Bf16>&, const Bf16*, const Bf16*,
                                   const float*, Bf16*, int);

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE
