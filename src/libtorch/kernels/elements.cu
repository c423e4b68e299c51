// Dropout of rows of any width, and pooling.
//
// The compiler's option: IN, the type of activations (Number).
namespace tandem::libtorch::kernels {

using In = Number<IN>::Stored;

// out [rows, width] = residual + drop(x); residual may be null. `width` is a multiple of 4.
extern "C" __global__ void __launch_bounds__(kDropThreads)
    DropForward(const In* x, const In* residual, const long long* row_keys, long long rows,
                int width, DropoutArguments dropout, In* out) {
  const int fours = width / 4;
  const long long place = blockIdx.x * static_cast<long long>(kDropThreads) + threadIdx.x;
  const long long row = place / fours;
  if (row >= rows) return;
  const unsigned channel = static_cast<unsigned>(place - row * fours) * 4;
  const Key key = RowKey(SiteKey(dropout, 0), row_keys[row]);
  float values[4], other[4] = {};
  LoadFour<IN>(x + place * 4, values);
  if (residual != nullptr) LoadFour<IN>(residual + place * 4, other);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const bool kept = Kept(key, channel + i, dropout.threshold);
    values[i] = (kept ? values[i] * dropout.scale : 0) + other[i];
  }
  StoreFour<IN>(values, out + place * 4);
}

// The rows of a text that are pooled, and what they are divided by.
struct Pooled {
  long long start, first, next;
  float divisor;

  __device__ Pooled(const int* starts, const int* prompts, int kind) {
    const int text = blockIdx.x;
    start = starts[text];
    next = starts[text + 1];
    first = prompts == nullptr ? start : min(start + prompts[text], next);
    const float count = static_cast<float>(next - first);
    divisor = kind == kMeanSqrtLen ? sqrtf(count) : count;
    if (kind == kWeightedMean) {
      // The weights of positions n + 1 .. m are n + 1 .. m.
      const double n = static_cast<double>(first - start), m = static_cast<double>(next - start);
      divisor = static_cast<float>((m * (m + 1) - n * (n + 1)) / 2);
    }
    if (divisor == 0) divisor = 1;
  }
  __device__ float Weight(long long row, int kind) const {
    return kind == kWeightedMean ? static_cast<float>(row - start + 1) : 1;
  }
};

// out [texts, width]; a block pools kPoolColumns columns of a text. A text of which no row is pooled gives
// zeros.
extern "C" __global__ void __launch_bounds__(kPoolColumns)
    PoolForward(const In* x, const int* starts, const int* prompts, int width, int kind,
                float* out) {
  const int column = blockIdx.y * kPoolColumns + threadIdx.x;
  if (column >= width) return;
  const Pooled text(starts, prompts, kind);
  float sum = 0;
#pragma unroll 8
  for (long long row = text.first; row < text.next; ++row) {
    sum += Number<IN>::ToFloat(x[row * width + column]) * text.Weight(row, kind);
  }
  out[static_cast<long long>(blockIdx.x) * width + column] = sum / text.divisor;
}

// Writes all rows of grad_x [rows, width].
extern "C" __global__ void __launch_bounds__(kPoolColumns)
    PoolBackward(const float* grad, const int* starts, const int* prompts, int width, int kind,
                 In* grad_x) {
  const int column = blockIdx.y * kPoolColumns + threadIdx.x;
  if (column >= width) return;
  const Pooled text(starts, prompts, kind);
  const float part = grad[static_cast<long long>(blockIdx.x) * width + column] / text.divisor;
#pragma unroll 4
  for (long long row = text.start; row < text.next; ++row) {
    const float own = row < text.first ? 0 : part * text.Weight(row, kind);
    grad_x[row * width + column] = Number<IN>::FromFloat(own);
  }
}

}  // namespace tandem::libtorch::kernels
