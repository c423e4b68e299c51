// The forward pass of attention (attention.cuh).
namespace tandem::libtorch::kernels {

// A warp's 16 queries: rows Lane() / 4 and 8 below.
struct Softmax {
  float largest[2] = {-Infinity(), -Infinity()};
  float sum[2] = {0, 0};  // of this lane's keys

  // Makes scores probabilities that are not divided by their sum yet, and gives the factors of what
  // was summed before. A query may have no key so far.
  __device__ void Update(float (&scores)[kOther / 8][4], float (&factors)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float now = largest[half];
#pragma unroll
      for (int block = 0; block < kOther / 8; ++block) {
        now = fmaxf(now, fmaxf(scores[block][2 * half], scores[block][2 * half + 1]));
      }
      now = fmaxf(now, __shfl_xor_sync(~0u, now, 1));
      now = fmaxf(now, __shfl_xor_sync(~0u, now, 2));
      const float least = now == -Infinity() ? 0 : now;
      factors[half] = Exp2(largest[half] - least);
      largest[half] = now;
      sum[half] *= factors[half];
#pragma unroll
      for (int block = 0; block < kOther / 8; ++block) {
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          scores[block][i] = Exp2(scores[block][i] - least);
          sum[half] += scores[block][i];
        }
      }
    }
  }
  __device__ float Sum(int half) const {
    float all = sum[half];
    all += __shfl_xor_sync(~0u, all, 1);
    return all + __shfl_xor_sync(~0u, all, 2);
  }
};

// Zeros for probabilities that are dropped, of the keys `first` ..: blocks two apart share bits.
__device__ void DropScores(const AttentionArguments& a, const Key (&keys)[2], int first,
                           float (&scores)[kOther / 8][4]) {
#pragma unroll
  for (int block = 0; block < kOther / 8; ++block) {
    if (block % 4 >= 2) continue;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int j = first + block * 8 + Lane() % 4 * 2 + i % 2;
      const KeptPair kept(keys[i / 2], j, a.dropout.threshold);
      if (!kept.first) scores[block][i] = 0;
      if (!kept.second) scores[block + 2][i] = 0;
    }
  }
}

// Scores of the queries i and i + 8 and the keys from `first` on, in units of log2.
__device__ void ScaleAndHide(const AttentionArguments& a, int length, int i, int first,
                             float (&scores)[kOther / 8][4]) {
  const bool whole = first + kOther <= length && !a.causal && a.window == 0;
#pragma unroll
  for (int block = 0; block < kOther / 8; ++block) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int j = first + block * 8 + Lane() % 4 * 2 + c % 2;
      const bool hidden = !whole && Hidden(a, length, i + c / 2 * 8, j);
      scores[block][c] = hidden ? -Infinity() : scores[block][c] * (a.scale * kLog2E);
    }
  }
}

// sums = factors * sums + probabilities [16, kOther] times the tile of values.
__device__ void AddValues(const float (&probabilities)[kOther / 8][4], const float (&factors)[2],
                          const Stored* values, float (&sums)[kWidth / 8][4]) {
#pragma unroll
  for (int block = 0; block < kWidth / 8; ++block) {
#pragma unroll
    for (int c = 0; c < 4; ++c) sums[block][c] *= factors[c / 2];
  }
#pragma unroll
  for (int step = 0; step < kOther / 16; ++step) {
    unsigned left[4];
    AsLeft(probabilities[2 * step], probabilities[2 * step + 1], left);
    AddProducts(left, values, step * 16, sums);
  }
}

// A block for each text, head and 64 queries. out and log_sums of them.
extern "C" __global__ void __launch_bounds__(kAttentionThreads) AttentionForward(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  const Text text(a);
  const int head = blockIdx.y, first = blockIdx.z * kTile, own = first + Warp() * 16;
  if (first >= text.length) return;
  Stored* const queries = reinterpret_cast<Stored*>(shared);
  Stored* const keys = queries + kTile * kStride;
  Stored* const values = keys + kOther * kStride;
  const KeysAndValues others(a, text, head);
  LoadTile<kTile>(text.Qkv(a, a.qkv, head), first, text.length, queries);

  const int i = own + Lane() / 4;
  const Key drop_keys[2] = {QueryKey(a, text, head, i), QueryKey(a, text, head, i + 8)};
  Softmax softmax;
  float sums[kWidth / 8][4] = {};
  const Range range(a, first, text.length, /*later=*/false, kOther);
  for (int j = range.begin; j < range.end; j += kOther) {
    others.Load(j, keys, values);
    float scores[kOther / 8][4], factors[2];
    RowProducts(queries, Warp() * 16, keys, 0, scores);
    ScaleAndHide(a, text.length, i, j, scores);
    softmax.Update(scores, factors);
    if (DROPOUT) DropScores(a, drop_keys, j, scores);
    AddValues(scores, factors, values, sums);
  }
  const float all[2] = {softmax.Sum(0), softmax.Sum(1)};
  const float kept = DROPOUT ? a.dropout.scale : 1;
  StoreRows(sums, {kept / all[0], kept / all[1]}, own, text.length, text.Out(a, a.out, head));
  if (Lane() % 4 != 0) return;
  float* const log_sums = a.log_sums + head * a.rows + text.first;
  if (i < text.length) log_sums[i] = softmax.largest[0] + log2f(all[0]);
  if (i + 8 < text.length) log_sums[i + 8] = softmax.largest[1] + log2f(all[1]);
}

}  // namespace tandem::libtorch::kernels
