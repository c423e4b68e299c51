// The backward pass of attention (attention.cuh): scores are computed again from the log sums. One
// kernel makes the queries' gradients, another one those of keys and values.
namespace tandem::libtorch::kernels {

// The sum of grad_out * out over the head's channels, of each of the block's queries: half of the
// channels a thread.
__device__ void GradDots(const AttentionArguments& a, const Text& text, int head, int first,
                         const Stored* grads, float* dots) {
  const int row = threadIdx.x / 2, half = threadIdx.x % 2 * (kWidth / 2);
  const bool inside = first + row < text.length;
  const Stored* const out = text.Out(a, a.out, head).of(first + row) + half;
  float sum = 0;
  if (inside) {
#pragma unroll
    for (int channel = 0; channel < kWidth / 2; channel += 4) {
      float x[4], y[4];
      LoadFour<ACTIVATION>(out + channel, x);
      LoadFour<ACTIVATION>(grads + row * kStride + half + channel, y);
      sum += x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3];
    }
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  if (half != 0) return;
  dots[row] = sum;
  if (inside) a.grad_dots[head * a.rows + text.first + first + row] = sum;
}

// Log sums of queries, infinite for those after the text's end: their probabilities are 0.
__device__ float LogSum(const AttentionArguments& a, const Text& text, int head, int i) {
  return i < text.length ? a.log_sums[head * a.rows + text.first + i] : Infinity();
}

// The queries i and i + 8 of a lane.
struct Queries {
  int i, length;
  Key drop_keys[2];
  float log_sums[2], dots[2];

  // `block_dots` are those of the queries from `first` on.
  __device__ Queries(const AttentionArguments& a, const Text& text, int head, int first,
                     const float* block_dots)
      : i(first + Warp() * 16 + Lane() / 4), length(text.length) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int own = i + 8 * half;
      drop_keys[half] = QueryKey(a, text, head, own);
      log_sums[half] = LogSum(a, text, head, own);
      dots[half] = block_dots[own - first];
    }
  }
};

// Makes products q k^T of the keys `first` .. first + 31 the gradients of q k^T, by `slopes`,
// products of grad_out and values. Keys 16 apart share bits.
__device__ void ScoreGradients(const AttentionArguments& a, const Queries& own, int first,
                               const float (&slopes)[4][4], float (&scores)[4][4]) {
  const bool whole = first + 32 <= own.length && !a.causal && a.window == 0;
#pragma unroll
  for (int block = 0; block < 2; ++block) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int j = first + block * 8 + Lane() % 4 * 2 + c % 2;
      float factors[2] = {1, 1};
      if (DROPOUT) {
        const KeptPair kept(own.drop_keys[c / 2], j, a.dropout.threshold);
        factors[0] = kept.first ? a.dropout.scale : 0;
        factors[1] = kept.second ? a.dropout.scale : 0;
      }
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        float& score = scores[block + 2 * half][c];
        const bool hidden = !whole && Hidden(a, own.length, own.i + c / 2 * 8, j + 16 * half);
        const float p = hidden ? 0 : Exp2(score * (a.scale * kLog2E) - own.log_sums[c / 2]);
        score = p * (slopes[block + 2 * half][c] * factors[half] - own.dots[c / 2]) * a.scale;
      }
    }
  }
}

// A block for each text, head and 64 queries: their grad_dots, and their part of grad_qkv.
extern "C" __global__ void __launch_bounds__(kAttentionThreads)
    AttentionBackwardQueries(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  __shared__ float dots[kTile];
  const Text text(a);
  const int head = blockIdx.y, first = blockIdx.z * kTile;
  if (first >= text.length) return;
  Stored* const queries = reinterpret_cast<Stored*>(shared);
  Stored* const grads = queries + kTile * kStride;
  Stored* const keys = grads + kTile * kStride;
  Stored* const values = keys + kOther * kStride;
  const KeysAndValues others(a, text, head);
  LoadTile<kTile>(text.Qkv(a, a.qkv, head), first, text.length, queries);
  LoadTile<kTile>(text.Out(a, a.grad_out, head), first, text.length, grads);
  __syncthreads();
  GradDots(a, text, head, first, grads, dots);
  __syncthreads();

  const Queries own(a, text, head, first, dots);
  float sums[kWidth / 8][4] = {};
  const Range range(a, first, text.length, /*later=*/false, kOther);
  for (int j = range.begin; j < range.end; j += kOther) {
    others.Load(j, keys, values);
#pragma unroll 1
    for (int part = 0; part < kOther; part += 32) {
      float scores[4][4], slopes[4][4];
      RowProducts(queries, Warp() * 16, keys, part, scores);
      RowProducts(grads, Warp() * 16, values, part, slopes);
      ScoreGradients(a, own, j + part, slopes, scores);
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        unsigned left[4];
        AsLeft(scores[2 * step], scores[2 * step + 1], left);
        AddProducts(left, keys, part + step * 16, sums);
      }
    }
  }
  StoreRows(sums, {1, 1}, first + Warp() * 16, text.length, text.Qkv(a, a.grad_qkv, head));
}

// What a block of keys reads of a tile of queries, in shared memory.
struct QueryTile {
  Stored *queries, *grads;  // [kOther] rows of a head
  float *log_sums, *dots;   // [kOther]
  Key* drop_keys;           // [kOther]

  // The queries `first` .., when all threads are done with the tile before.
  __device__ void Load(const AttentionArguments& a, const Text& text, int head, int first) const {
    __syncthreads();
    LoadTile<kOther>(text.Qkv(a, a.qkv, head), first, text.length, queries);
    LoadTile<kOther>(text.Out(a, a.grad_out, head), first, text.length, grads);
    if (threadIdx.x < kOther) {
      const int own = threadIdx.x, i = first + own;
      log_sums[own] = LogSum(a, text, head, i);
      dots[own] = i < text.length ? a.grad_dots[head * a.rows + text.first + i] : 0;
      drop_keys[own] = QueryKey(a, text, head, i);
    }
    __syncthreads();
  }
};

// Where a lane's products of keys and queries are: the keys j and j + 8, and 16 queries of a tile
// from `part` on. The tile's first one is the text's `first`.
struct KeyPlace {
  int length;  // of the text
  int j, first, part;
};

// Makes products k q^T the gradients of q k^T, by `slopes`, products of values and grad_out.
// Writes to `used` the probabilities after dropout.
__device__ void KeyGradients(const AttentionArguments& a, const QueryTile& tile, const KeyPlace& at,
                             const float (&slopes)[2][4], float (&scores)[2][4],
                             float (&used)[2][4]) {
  const bool whole = !a.causal && a.window == 0;
#pragma unroll
  for (int block = 0; block < 2; ++block) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const int place = at.part + block * 8 + Lane() % 4 * 2 + c % 2, key = at.j + c / 2 * 8;
      const bool hidden = !whole && Hidden(a, at.length, at.first + place, key);
      const float p =
          hidden ? 0 : Exp2(scores[block][c] * (a.scale * kLog2E) - tile.log_sums[place]);
      float factor = 1;
      if (DROPOUT) {
        factor = Kept(tile.drop_keys[place], key, a.dropout.threshold) ? a.dropout.scale : 0;
      }
      used[block][c] = p * factor;
      scores[block][c] = p * (slopes[block][c] * factor - tile.dots[place]) * a.scale;
    }
  }
}

// A block for each text, head of keys and 64 keys: the parts of grad_qkv of the keys and their
// values, from all queries that read them. After AttentionBackwardQueries.
extern "C" __global__ void __launch_bounds__(kAttentionThreads) AttentionBackwardKeys(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  __shared__ float log_sums[kOther], dots[kOther];
  __shared__ Key drop_keys[kOther];
  const Text text(a);
  const int key_head = blockIdx.y, first = blockIdx.z * kTile, own = first + Warp() * 16;
  if (first >= text.length) return;
  Stored* const keys = reinterpret_cast<Stored*>(shared);
  Stored* const values = keys + kTile * kStride;
  Stored* const queries = values + kTile * kStride;
  const QueryTile tile = {queries, queries + kOther * kStride, log_sums, dots, drop_keys};
  const int key_column = a.heads + key_head, value_column = key_column + a.key_heads;
  LoadTile<kTile>(text.Qkv(a, a.qkv, key_column), first, text.length, keys);
  LoadTile<kTile>(text.Qkv(a, a.qkv, value_column), first, text.length, values);

  float key_sums[kWidth / 8][4] = {}, value_sums[kWidth / 8][4] = {};
  const int group = a.heads / a.key_heads;
  const Range range(a, first, text.length, /*later=*/true, kOther);
  for (int head = key_head * group; head < (key_head + 1) * group; ++head) {
    for (int i = range.begin; i < range.end; i += kOther) {
      tile.Load(a, text, head, i);
#pragma unroll 1
      for (int part = 0; part < kOther; part += 16) {
        float scores[2][4], slopes[2][4], used[2][4];
        RowProducts(keys, Warp() * 16, tile.queries, part, scores);
        RowProducts(values, Warp() * 16, tile.grads, part, slopes);
        KeyGradients(a, tile, {text.length, own + Lane() / 4, i, part}, slopes, scores, used);
        unsigned left[4];
        AsLeft(used[0], used[1], left);
        AddProducts(left, tile.grads, part, value_sums);
        AsLeft(scores[0], scores[1], left);
        AddProducts(left, tile.queries, part, key_sums);
      }
    }
  }
  StoreRows(key_sums, {1, 1}, own, text.length, text.Qkv(a, a.grad_qkv, key_column));
  StoreRows(value_sums, {1, 1}, own, text.length, text.Qkv(a, a.grad_qkv, value_column));
}

}  // namespace tandem::libtorch::kernels
