// Steps of encoders over rows: dropout, the residual's sum and normalisation in one pass.
//
// The compiler's options: IN and OUT, types of activations (Number); WIDTH, of a row: a multiple of
// 4, up to 1,024; RESIDUAL, 1: there is one; NORM, 1: layer norm, 2: by the root of the mean of
// squares, 3: that with 1 + gamma; BETA, 1: there is one; DROP, 0: no dropout, 1: of x, 2:
// of the normalised rows.
namespace tandem::libtorch::kernels {

using InNumber = Number<IN>;
using OutNumber = Number<OUT>;
using In = InNumber::Stored;
using Out = OutNumber::Stored;

constexpr int kParts = (WIDTH + 127) / 128;

// A lane's channels of a row: four neighbours of each 128.
struct Row {
  float of[kParts][4];
};

__device__ int Channel(int part) { return part * 128 + static_cast<int>(threadIdx.x % 32) * 4; }
__device__ bool Inside(int part) { return WIDTH % 128 == 0 || Channel(part) < WIDTH; }

// Calls function(value, part, i) for each of the lane's channels.
template <typename Function>
__device__ void ForEach(Row& row, const Function& function) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if (!Inside(part)) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i) function(row.of[part][i], part, i);
  }
}

template <int kType>
__device__ void Load(const typename Number<kType>::Stored* from, Row& row) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if (Inside(part)) LoadFour<kType>(from + Channel(part), row.of[part]);
  }
}

template <int kType>
__device__ void Store(const Row& row, typename Number<kType>::Stored* to) {
#pragma unroll
  for (int part = 0; part < kParts; ++part) {
    if (Inside(part)) StoreFour<kType>(row.of[part], to + Channel(part));
  }
}

// The sum over a warp's lanes, in all of them.
__device__ float WarpSum(float x) {
#pragma unroll
  for (int by = 16; by > 0; by /= 2) x += __shfl_xor_sync(~0u, x, by);
  return x;
}

__device__ void Drop(Row& row, Key key, const DropoutArguments& dropout) {
  ForEach(row, [&](float& value, int part, int i) {
    const unsigned channel = static_cast<unsigned>(Channel(part) + i);
    value = Kept(key, channel, dropout.threshold) ? value * dropout.scale : 0;
  });
}

// What is normalised of a row: x with its dropout, and the residual.
__device__ Row Summed(const RowArguments& a, long long row, Key key) {
  Row values;
  Load<IN>(static_cast<const In*>(a.x) + row * WIDTH, values);
  if (DROP == 1) Drop(values, key, a.dropout);
  if (RESIDUAL) {
    Row other;
    Load<IN>(static_cast<const In*>(a.residual) + row * WIDTH, other);
    ForEach(values, [&](float& value, int part, int i) { value += other.of[part][i]; });
  }
  return values;
}

__device__ Key KeyOf(const RowArguments& a, long long row) {
  return DROP ? RowKey(SiteKey(a.dropout, 0), a.row_keys[row]) : 0;
}

// The mean (0 where the norm takes none away) and the inverse deviation.
__device__ float2 MomentsOf(Row& row, float epsilon) {
  float mean = 0, square = 0;
  if (NORM == 1) {
    ForEach(row, [&](float& value, int, int) { mean += value; });
    mean = WarpSum(mean) / WIDTH;
  }
  ForEach(row, [&](float& value, int, int) { square += (value - mean) * (value - mean); });
  return {mean, rsqrtf(WarpSum(square) / WIDTH + epsilon)};
}

__device__ float Factor(const float* gamma, int channel) {
  return NORM == 3 ? 1 + gamma[channel] : gamma[channel];
}

// out = drop(norm(residual + drop(x))), and the moments for the backward pass.
extern "C" __global__ void __launch_bounds__(32 * kRowsABlock) RowsForward(RowArguments a) {
  const long long row = blockIdx.x * static_cast<long long>(kRowsABlock) + threadIdx.x / 32;
  if (row >= a.rows) return;
  const Key key = KeyOf(a, row);
  Row values = Summed(a, row, key);
  const float2 own = MomentsOf(values, a.epsilon);
  if (threadIdx.x % 32 == 0) reinterpret_cast<float2*>(a.moments)[row] = own;
  ForEach(values, [&](float& value, int part, int i) {
    const int channel = Channel(part) + i;
    value = (value - own.x) * own.y * Factor(a.gamma, channel) + (BETA ? a.beta[channel] : 0);
  });
  if (DROP == 2) Drop(values, key, a.dropout);
  Store<OUT>(values, static_cast<Out*>(a.out) + row * WIDTH);
}

// Adds the warps' sums, one after the other, and writes the block's.
__device__ void StoreSums(Row& sums, float* to) {
  __shared__ float shared[WIDTH];
  for (int warp = 0; warp < kRowsABlock; ++warp) {
    if (threadIdx.x / 32 == static_cast<unsigned>(warp)) {
      ForEach(sums, [&](float& value, int part, int i) {
        const int channel = Channel(part) + i;
        shared[channel] = warp == 0 ? value : shared[channel] + value;
      });
    }
    __syncthreads();
  }
  for (int channel = threadIdx.x; channel < WIDTH; channel += 32 * kRowsABlock) {
    to[channel] = shared[channel];
  }
  __syncthreads();
}

// Makes the gradient of a normalised row that of what was normalised, and adds to the sums of
// gamma's and beta's gradients.
__device__ void NormGradient(const RowArguments& a, long long row, Key key, Row& values,
                             Row (&sums)[2]) {
  Row normal = Summed(a, row, key);
  const float2 own = reinterpret_cast<const float2*>(a.moments)[row];
  float sum = 0, product = 0;
  ForEach(values, [&](float& value, int part, int i) {
    float& n = normal.of[part][i];
    n = (n - own.x) * own.y;
    sums[0].of[part][i] += value * n;
    sums[1].of[part][i] += value;
    value *= Factor(a.gamma, Channel(part) + i);
    sum += value;
    product += value * n;
  });
  sum = NORM == 1 ? WarpSum(sum) / WIDTH : 0;
  product = WarpSum(product) / WIDTH;
  ForEach(values, [&](float& value, int part, int i) {
    value = own.y * (value - sum - normal.of[part][i] * product);
  });
}

// The gradients of x and, where they differ from those (DROP 1), of the residual; and the block's
// part of those of gamma and beta.
extern "C" __global__ void __launch_bounds__(32 * kRowsABlock) RowsBackward(RowArguments a) {
  Row sums[2] = {};
  const long long step = gridDim.x * static_cast<long long>(kRowsABlock);
  long long row = blockIdx.x * static_cast<long long>(kRowsABlock) + threadIdx.x / 32;
  for (; row < a.rows; row += step) {
    const Key key = KeyOf(a, row);
    Row values;
    Load<OUT>(static_cast<const Out*>(a.grad) + row * WIDTH, values);
    if (DROP == 2) Drop(values, key, a.dropout);
    NormGradient(a, row, key, values, sums);
    if (RESIDUAL && DROP == 1) Store<IN>(values, static_cast<In*>(a.grad_residual) + row * WIDTH);
    if (DROP == 1) Drop(values, key, a.dropout);
    Store<IN>(values, static_cast<In*>(a.grad_x) + row * WIDTH);
  }
  StoreSums(sums[0], a.partial + blockIdx.x * 2ll * WIDTH);
  StoreSums(sums[1], a.partial + (blockIdx.x * 2ll + 1) * WIDTH);
}

}  // namespace tandem::libtorch::kernels
