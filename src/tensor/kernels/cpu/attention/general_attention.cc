#include "tensor/kernels/cpu/attention/general_attention.h"

#include <algorithm>
#include <numbers>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tensor/kernels/cpu/attention/general_attention.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#include "tensor/isa/isa.h"
#include "tensor/kernels/cpu/attention/general_attention_backward-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_forward-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_task.h"
#include "tensor/kernels/cpu/attention/general_attention_tiles-inl.h"
#include "tensor/kernels/cpu/attention/general_attention_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tandem::tensor::cpu::HWY_NAMESPACE {

template <typename Products, typename A>
HWY_INLINE void ForwardTask(const GeneralTask<A>& task) {
  Products products;
  GeneralForward<Products>(task, products).Run();
}

void ForwardFloat(const GeneralTask<float>& task) {
  ForwardTask<VectorProducts<OfFloats<float>>>(task);
}
void BackwardFloat(const GeneralTask<float>& task) { GeneralBackward<OfFloats<float>>(task).Run(); }
void ForwardBf16(const GeneralTask<Bf16>& task) {
  ForwardTask<VectorProducts<OfFloats<Bf16>>>(task);
}
void BackwardBf16(const GeneralTask<Bf16>& task) { GeneralBackward<OfFloats<Bf16>>(task).Run(); }
#if HWY_TARGET <= HWY_AVX3
void ForwardPairs(const GeneralTask<Bf16>& task) { ForwardTask<VectorProducts<OfPairs>>(task); }
void BackwardPairs(const GeneralTask<Bf16>& task) { GeneralBackward<OfPairs>(task).Run(); }
void ForwardTiles(const GeneralTask<Bf16>& task) { ForwardTask<TileProducts>(task); }
void BackwardTiles(const GeneralTask<Bf16>& task) { GeneralBackwardOnTiles(task).Run(); }
#else  // KernelsFor never chooses these at this target
void ForwardPairs(const GeneralTask<Bf16>& task) { ForwardBf16(task); }
void BackwardPairs(const GeneralTask<Bf16>& task) { BackwardBf16(task); }
void ForwardTiles(const GeneralTask<Bf16>& task) { ForwardBf16(task); }
void BackwardTiles(const GeneralTask<Bf16>& task) { BackwardBf16(task); }
#endif

}  // namespace tandem::tensor::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tandem::tensor::cpu {
namespace {

HWY_EXPORT(ForwardFloat);
HWY_EXPORT(BackwardFloat);
HWY_EXPORT(ForwardBf16);
HWY_EXPORT(BackwardBf16);
HWY_EXPORT(ForwardPairs);
HWY_EXPORT(BackwardPairs);
HWY_EXPORT(ForwardTiles);
HWY_EXPORT(BackwardTiles);

void Forward(const GeneralTask<float>& task) { HWY_DYNAMIC_DISPATCH(ForwardFloat)(task); }
void Backward(const GeneralTask<float>& task) { HWY_DYNAMIC_DISPATCH(BackwardFloat)(task); }
// AMX takes 32 channels at a time.
bool OnTiles(size_t width) { return CurrentIsa() >= Isa::kAmx && width % 32 == 0; }
void Forward(const GeneralTask<Bf16>& task) {
  if (OnTiles(task.width)) return HWY_DYNAMIC_DISPATCH(ForwardTiles)(task);
  if (CurrentIsa() >= Isa::kAvx512Bf16) return HWY_DYNAMIC_DISPATCH(ForwardPairs)(task);
  HWY_DYNAMIC_DISPATCH(ForwardBf16)(task);
}
void Backward(const GeneralTask<Bf16>& task) {
  if (OnTiles(task.width)) return HWY_DYNAMIC_DISPATCH(BackwardTiles)(task);
  if (CurrentIsa() >= Isa::kAvx512Bf16) return HWY_DYNAMIC_DISPATCH(BackwardPairs)(task);
  HWY_DYNAMIC_DISPATCH(BackwardBf16)(task);
}

ScoreUnits UnitsOf(float scale, float soft_cap) {
  if (soft_cap <= 0) return {.factor = scale * std::numbers::log2e_v<float>};
  return {
      .factor = 1, .cap_in = scale / soft_cap, .cap_out = soft_cap * std::numbers::log2e_v<float>};
}

// `from` moved by `elements`; null where it is null.
template <typename A>
A* Advance(A* from, size_t elements) {
  return from == nullptr ? nullptr : from + elements;
}

// The part of the work that a task does: queries `range` of the text that read key head `head`.
struct Place {
  size_t text;
  size_t head;
  TokenRange range;
};

// The pairs of queries and keys that a task multiplies, about.
template <typename A>
size_t PairsOf(const GeneralAttentionInput<A>& input, const Place& place) {
  const auto length = static_cast<size_t>(input.starts[place.text + 1] - input.starts[place.text]);
  const size_t first = input.mask.KeysOf(place.range.begin, length).size();
  const size_t last = input.mask.KeysOf(place.range.end - 1, length).size();
  return place.range.size() * (first + last);
}

// All tasks, the most expensive ones first: then threads all end at about the same time.
template <typename A>
std::vector<Place> Places(const GeneralAttentionInput<A>& input, bool in_stretches) {
  std::vector<Place> places;
  for (size_t text = 0; text < input.texts; ++text) {
    const auto length = static_cast<size_t>(input.starts[text + 1] - input.starts[text]);
    if (length == 0 || length < input.min_length) continue;
    const size_t stretch = in_stretches ? kStretch : length;
    for (size_t head = 0; head < input.key_value_heads; ++head) {
      for (size_t first = 0; first < length; first += stretch) {
        places.push_back({text, head, {first, std::min(first + stretch, length)}});
      }
    }
  }
  std::stable_sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    return PairsOf(input, a) > PairsOf(input, b);
  });
  return places;
}

// The task of a place. `whole` points to the arrays of the pass, the task to its part of them.
template <typename A>
GeneralTask<A> TaskOf(const GeneralAttentionInput<A>& input, const GeneralTask<A>& whole,
                      const Place& place) {
  const size_t width = input.head_width, group = input.heads / input.key_value_heads;
  const size_t stride = (input.heads + 2 * input.key_value_heads) * width;
  const size_t head = place.head * group;
  const auto first = static_cast<size_t>(input.starts[place.text]);
  const size_t of_queries = first * stride + head * width;
  const size_t of_keys = first * stride + (input.heads + place.head) * width;
  const size_t of_values = of_keys + input.key_value_heads * width;
  const size_t of_out = first * input.heads * width + head * width;
  GeneralTask<A> task = whole;
  task.queries = input.qkv + of_queries;
  task.keys = input.qkv + of_keys;
  task.values = input.qkv + of_values;
  task.length = static_cast<size_t>(input.starts[place.text + 1]) - first;
  task.range = place.range;
  task.bias = Advance(whole.bias, head * whole.bias_stride);
  task.first_head = head;
  task.position_keys = Advance(whole.position_keys, first);
  task.out = Advance(whole.out, of_out);
  task.saved_out = Advance(whole.saved_out, of_out);
  task.grad_out = Advance(whole.grad_out, of_out);
  task.log_sums = Advance(whole.log_sums, head * whole.log_sums_stride + first);
  task.grad_queries = Advance(whole.grad_queries, of_queries);
  task.grad_keys = Advance(whole.grad_keys, of_keys);
  task.grad_values = Advance(whole.grad_values, of_values);
  task.grad_bias = Advance(whole.grad_bias, (place.text * input.heads + head) * whole.bucket_count);
  return task;
}

// Returns the fields that all tasks have in common.
template <typename A>
GeneralTask<A> WholeOf(const GeneralAttentionInput<A>& input) {
  GeneralTask<A> whole{};
  whole.qkv_stride = (input.heads + 2 * input.key_value_heads) * input.head_width;
  whole.width = input.head_width;
  whole.group = input.heads / input.key_value_heads;
  whole.mask = input.mask;
  whole.units = UnitsOf(input.scale, input.soft_cap);
  whole.scale = input.scale;
  whole.bias = Advance(input.bias.values, input.bias.origin);
  whole.bias_stride = input.bias.stride;
  whole.buckets = Advance(input.bias.buckets, input.bias.origin);
  whole.bucket_count = input.bias.bucket_count;
  whole.dropout = input.dropout;
  whole.position_keys = input.position_keys;
  whole.out_stride = input.heads * input.head_width;
  whole.log_sums_stride = static_cast<size_t>(input.starts[input.texts]);
  return whole;
}

// The rows that a task begins with, at most those of a chunk.
template <typename A>
UpcomingTask<A> UpcomingOf(const GeneralTask<A>& task) {
  const size_t query = task.range.begin;
  const size_t key = task.mask.KeysOf(query, task.length).begin;
  return {.queries = task.queries + query * task.qkv_stride,
          .keys = task.keys + key * task.qkv_stride,
          .values = task.values + key * task.qkv_stride,
          .saved_out = Advance(task.saved_out, query * task.out_stride),
          .grad_out = Advance(task.grad_out, query * task.out_stride),
          .length = std::min({task.range.size(), task.length - key, ChunkKeys(task.width)})};
}

template <typename A, typename Run>
void RunTasks(const GeneralAttentionInput<A>& input, const GeneralTask<A>& whole,
              const std::vector<Place>& places, int threads, const Run& run) {
  // If all tasks take equally long, a thread's next task is `threads` further on.
  const auto ahead = static_cast<size_t>(threads);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (size_t i = 0; i < places.size(); ++i) {
    GeneralTask<A> task = TaskOf(input, whole, places[i]);
    if (i + ahead < places.size()) {
      task.next = UpcomingOf(TaskOf(input, whole, places[i + ahead]));
    }
    run(task);
  }
}

}  // namespace

template <typename A>
void RunGeneralForward(const GeneralAttentionInput<A>& input,
                       const GeneralAttentionOutput<A>& output, int threads) {
  GeneralTask<A> whole = WholeOf(input);
  whole.out = output.out;
  whole.log_sums = output.log_sums;
  RunTasks(input, whole, Places(input, /*in_stretches=*/true), threads,
           [](const GeneralTask<A>& task) { Forward(task); });
}

template <typename A>
void RunGeneralBackward(const GeneralAttentionInput<A>& input,
                        const GeneralAttentionGradient<A>& gradient, int threads) {
  GeneralTask<A> whole = WholeOf(input);
  whole.saved_out = gradient.out;
  whole.grad_out = gradient.grad_out;
  whole.log_sums = const_cast<float*>(gradient.log_sums);  // the backward pass only reads it
  whole.grad_queries = whole.grad_keys = whole.grad_values = gradient.grad_qkv;
  whole.grad_bias = gradient.grad_bias;
  RunTasks(input, whole, Places(input, /*in_stretches=*/false), threads,
           [](const GeneralTask<A>& task) { Backward(task); });
}

#define TANDEM_INSTANTIATE(A)                                             \
  template void RunGeneralForward(const GeneralAttentionInput<A>&,        \
                                  const GeneralAttentionOutput<A>&, int); \
  template void RunGeneralBackward(const GeneralAttentionInput<A>&,       \
                                   const GeneralAttentionGradient<A>&, int)
TANDEM_INSTANTIATE(float);
TANDEM_INSTANTIATE(Bf16);
#undef TANDEM_INSTANTIATE

}  // namespace tandem::tensor::cpu
#endif  // HWY_ONCE
