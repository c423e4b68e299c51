// Attention over packed texts (Dao et al. 2022; Dao 2023): scores of a tile of queries against a
// tile of keys at a time, never all of a text's in memory. Nothing is padded.
//
// The compiler's options: ACTIVATION, their type (Number; 1 or 2); HEAD_WIDTH, a multiple of 16 up
// to 128; DROPOUT, 1: of probabilities, with the masks of tensor/dropout.h.
//
// A block has four warps and 64 rows of a text and a head, which it holds, 16 a warp: queries, or
// in the backward pass of keys and values these. It reads the text's others in tiles of kOther.
// Products are mma.m16n8k16's. A lane has of a product's 16 rows and 8 columns the rows Lane() / 4
// and 8 below, and the columns Lane() % 4 * 2 and the next, in the order of memory; so a product is
// the left side of the next one without an exchange between lanes. Sums have one order: results are
// the same in every run.
namespace tandem::libtorch::kernels {

using N = Number<ACTIVATION>;
using Stored = N::Stored;

constexpr int kWidth = HEAD_WIDTH;
constexpr int kStride =
    kWidth + 8;  // of rows in shared memory: eight rows at 16 bytes hit all banks
constexpr int kSteps = kWidth / 16;
constexpr int kTile = 64;
constexpr int kOther = kWidth > 64 ? 32 : 64;  // a multiple of 32, for SharedBits
constexpr int kThreads = 128;

__device__ int Warp() { return threadIdx.x / 32; }
__device__ int Lane() { return threadIdx.x % 32; }

// --- products ------------------------------------------------------------------------------------

__device__ float Infinity() { return __int_as_float(0x7F800000); }

__device__ float Exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// sum [16, 8] += left [16, 16] right [16, 8].
__device__ void MultiplyAdd(const unsigned (&left)[4], unsigned right0, unsigned right1,
                            float (&sum)[4]) {
#if ACTIVATION == 1
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#endif
      "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right0), "r"(right1));
}

__device__ unsigned SharedAddress(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// Four matrices of 8 x 8 whose rows the lanes 0-7, 8-15, ... point at.
__device__ void LoadMatrices(const Stored* row, unsigned (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(row))
               : "memory");
}

__device__ void LoadTransposed(const Stored* row, unsigned (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(SharedAddress(row))
               : "memory");
}

// The left side of a product: rows `row` .. row + 15 of the tile, 16 channels from `channel` on.
__device__ void LoadLeft(const Stored* tile, int row, int channel, unsigned (&left)[4]) {
  const int matrix = Lane() / 8, own = Lane() % 8;
  LoadMatrices(tile + (row + matrix % 2 * 8 + own) * kStride + channel + matrix / 2 * 8, left);
}

// The right sides of two products with the tile's rows as columns, `row` .. row + 7 and the eight
// after them: sums over 16 channels.
__device__ void LoadRightOfRows(const Stored* tile, int row, int channel, unsigned (&right)[4]) {
  const int matrix = Lane() / 8, own = Lane() % 8;
  LoadMatrices(tile + (row + matrix / 2 * 8 + own) * kStride + channel + matrix % 2 * 8, right);
}

// The right sides of two products with the tile's channels as columns, `channel` .. channel + 7 and
// the eight after them: sums over 16 rows.
__device__ void LoadRightOfChannels(const Stored* tile, int row, int channel,
                                    unsigned (&right)[4]) {
  const int matrix = Lane() / 8, own = Lane() % 8;
  LoadTransposed(tile + (row + matrix % 2 * 8 + own) * kStride + channel + matrix / 2 * 8, right);
}

// Two neighbouring products [16, 16] as a left side.
__device__ void AsLeft(const float (&first)[4], const float (&second)[4], unsigned (&left)[4]) {
  left[0] = N::Pair(first[0], first[1]);
  left[1] = N::Pair(first[2], first[3]);
  left[2] = N::Pair(second[0], second[1]);
  left[3] = N::Pair(second[2], second[3]);
}

// products [16, 8 kCount] = the rows `row` of `left` times the rows from `first` on of `right`.
template <int kCount>
__device__ void RowProducts(const Stored* left, int row, const Stored* right, int first,
                            float (&products)[kCount][4]) {
#pragma unroll
  for (int block = 0; block < kCount; ++block) {
    products[block][0] = products[block][1] = products[block][2] = products[block][3] = 0;
  }
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    unsigned own[4], other[4];
    LoadLeft(left, row, step * 16, own);
#pragma unroll
    for (int block = 0; block < kCount; block += 2) {
      LoadRightOfRows(right, first + block * 8, step * 16, other);
      MultiplyAdd(own, other[0], other[1], products[block]);
      MultiplyAdd(own, other[2], other[3], products[block + 1]);
    }
  }
}

// sums [16, width] += left [16, 16] times 16 rows of the tile.
__device__ void AddProducts(const unsigned (&left)[4], const Stored* tile, int row,
                            float (&sums)[kWidth / 8][4]) {
#pragma unroll
  for (int block = 0; block < kWidth / 8; block += 2) {
    unsigned right[4];
    LoadRightOfChannels(tile, row, block * 8, right);
    MultiplyAdd(left, right[0], right[1], sums[block]);
    MultiplyAdd(left, right[2], right[3], sums[block + 1]);
  }
}

// --- rows ----------------------------------------------------------------------------------------

// A text's rows of one head.
struct Rows {
  const Stored* at;
  long long stride;

  __device__ const Stored* of(int row) const { return at + row * stride; }
};

// Rows `first` .. of `rows`, of which there are `length`, into a tile of kRows; zeros after them.
template <int kRows>
__device__ void LoadTile(const Rows& rows, int first, int length, Stored* tile) {
  constexpr int kPieces = kWidth / 8;  // of 16 bytes
  for (int piece = threadIdx.x; piece < kRows * kPieces; piece += kThreads) {
    const int row = piece / kPieces, channel = piece % kPieces * 8;
    uint4 value = {0, 0, 0, 0};
    if (first + row < length) {
      value = *reinterpret_cast<const uint4*>(rows.of(first + row) + channel);
    }
    *reinterpret_cast<uint4*>(tile + row * kStride + channel) = value;
  }
}

// Writes a warp's sums times `factors` of the rows Lane() / 4 and 8 below, where these are in the
// text: rows first .. of `to`.
__device__ void StoreRows(const float (&sums)[kWidth / 8][4], float factor0, float factor1,
                          int first, int length, Stored* to, long long stride) {
  const int row = first + Lane() / 4, channel = Lane() % 4 * 2;
#pragma unroll
  for (int block = 0; block < kWidth / 8; ++block) {
    Stored* const at = to + row * stride + block * 8 + channel;
    if (row < length) {
      *reinterpret_cast<unsigned*>(at) =
          N::Pair(sums[block][0] * factor0, sums[block][1] * factor0);
    }
    if (row + 8 < length) {
      *reinterpret_cast<unsigned*>(at + 8 * stride) =
          N::Pair(sums[block][2] * factor1, sums[block][3] * factor1);
    }
  }
}

// The text of a block.
struct Text {
  int first, length;  // rows of the pack

  __device__ explicit Text(const AttentionArguments& a)
      : first(a.starts[blockIdx.x]), length(a.starts[blockIdx.x + 1] - first) {}

  // Columns of qkv in heads; of `out` with its own stride.
  __device__ Rows Qkv(const AttentionArguments& a, int head) const {
    const long long stride = (a.heads + 2ll * a.key_heads) * kWidth;
    return {static_cast<const Stored*>(a.qkv) + first * stride + head * kWidth, stride};
  }
  __device__ Rows Out(const AttentionArguments& a, const void* out, int head) const {
    const long long stride = static_cast<long long>(a.heads) * kWidth;
    return {static_cast<const Stored*>(out) + first * stride + head * kWidth, stride};
  }
};

// Whether query i must not read key j.
__device__ bool Hidden(const AttentionArguments& a, int length, int i, int j) {
  return j >= length || (a.causal && j > i) ||
         (a.window > 0 && (i - j > a.window || j - i > a.window));
}

// The other rows that any of the rows first .. first + 63 needs: from a multiple of `step` on, to
// before `end`. `later`: whether a causal text's are those after them, else before.
struct Range {
  int begin, end;

  __device__ Range(const AttentionArguments& a, int first, int length, bool later, int step) {
    begin = 0;
    end = length;
    if (a.causal && later) begin = first;
    if (a.causal && !later) end = min(end, first + kTile);
    if (a.window > 0) {
      begin = max(begin, first - a.window);
      if (a.window < length) end = min(end, first + kTile + a.window);
    }
    begin = begin / step * step;
  }
};

// The bits of the channels c and c + 16 say which of both are kept.
struct KeptPair {
  bool first, second;

  __device__ KeptPair(Key key, int channel, unsigned threshold) {
    const unsigned bits = SharedBits(key, static_cast<unsigned>(channel));
    first = (bits & 0xFFFF) >= threshold;
    second = bits >> 16 >= threshold;
  }
};

// The keys of dropout of the rows Lane() / 4 and 8 below from `first` on; of rows in the text.
__device__ Key QueryKey(const AttentionArguments& a, const Text& text, int head, int i) {
  if (i >= text.length) return 0;
  return RowKey(SiteKey(a.dropout, head + 1), a.row_keys[text.first + i]);
}

// --- forward -------------------------------------------------------------------------------------

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

// A block for each text, head and 64 queries. out and log_sums of them.
extern "C" __global__ void __launch_bounds__(kThreads) AttentionForward(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  const Text text(a);
  const int head = blockIdx.y, first = blockIdx.z * kTile, own = first + Warp() * 16;
  if (first >= text.length) return;
  Stored* const queries = reinterpret_cast<Stored*>(shared);
  Stored* const keys = queries + kTile * kStride;
  Stored* const values = keys + kOther * kStride;
  const int key_head = a.heads + head / (a.heads / a.key_heads);
  const Rows key_rows = text.Qkv(a, key_head), value_rows = text.Qkv(a, key_head + a.key_heads);
  LoadTile<kTile>(text.Qkv(a, head), first, text.length, queries);

  const int i = own + Lane() / 4;
  const Key drop_keys[2] = {DROPOUT ? QueryKey(a, text, head, i) : 0,
                            DROPOUT ? QueryKey(a, text, head, i + 8) : 0};
  const float scale = a.scale * 1.44269504088896341f;  // log2 e
  Softmax softmax;
  float sums[kWidth / 8][4] = {};
  const Range range(a, first, text.length, /*later=*/false, kOther);
  for (int j = range.begin; j < range.end; j += kOther) {
    __syncthreads();
    LoadTile<kOther>(key_rows, j, text.length, keys);
    LoadTile<kOther>(value_rows, j, text.length, values);
    __syncthreads();
    float scores[kOther / 8][4];
    RowProducts(queries, Warp() * 16, keys, 0, scores);
    const bool whole = j + kOther <= text.length && !a.causal && a.window == 0;
#pragma unroll
    for (int block = 0; block < kOther / 8; ++block) {
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const bool hidden =
            !whole && Hidden(a, text.length, i + c / 2 * 8, j + block * 8 + Lane() % 4 * 2 + c % 2);
        scores[block][c] = hidden ? -Infinity() : scores[block][c] * scale;
      }
    }
    float factors[2];
    softmax.Update(scores, factors);
    if (DROPOUT) DropScores(a, drop_keys, j, scores);
#pragma unroll
    for (int block = 0; block < kWidth / 8; ++block) {
#pragma unroll
      for (int c = 0; c < 4; ++c) sums[block][c] *= factors[c / 2];
    }
#pragma unroll
    for (int step = 0; step < kOther / 16; ++step) {
      unsigned left[4];
      AsLeft(scores[2 * step], scores[2 * step + 1], left);
      AddProducts(left, values, step * 16, sums);
    }
  }
  const float all[2] = {softmax.Sum(0), softmax.Sum(1)};
  const float kept = DROPOUT ? a.dropout.scale : 1;
  const Rows out = text.Out(a, a.out, head);
  StoreRows(sums, kept / all[0], kept / all[1], own, text.length, const_cast<Stored*>(out.at),
            out.stride);
  if (Lane() % 4 == 0) {
    float* const log_sums = a.log_sums + head * a.rows + text.first;
    if (i < text.length) log_sums[i] = softmax.largest[0] + log2f(all[0]);
    if (i + 8 < text.length) log_sums[i + 8] = softmax.largest[1] + log2f(all[1]);
  }
}

// --- backward ------------------------------------------------------------------------------------

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

// A block for each text, head and 64 queries: their grad_dots, and their part of grad_qkv.
extern "C" __global__ void __launch_bounds__(kThreads)
    AttentionBackwardQueries(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  __shared__ float dots[kTile];
  const Text text(a);
  const int head = blockIdx.y, first = blockIdx.z * kTile, own = first + Warp() * 16;
  if (first >= text.length) return;
  Stored* const queries = reinterpret_cast<Stored*>(shared);
  Stored* const grads = queries + kTile * kStride;
  Stored* const keys = grads + kTile * kStride;
  Stored* const values = keys + kOther * kStride;
  const int key_head = a.heads + head / (a.heads / a.key_heads);
  const Rows key_rows = text.Qkv(a, key_head), value_rows = text.Qkv(a, key_head + a.key_heads);
  const Rows query_rows = text.Qkv(a, head);
  LoadTile<kTile>(query_rows, first, text.length, queries);
  LoadTile<kTile>(text.Out(a, a.grad_out, head), first, text.length, grads);
  __syncthreads();
  GradDots(a, text, head, first, grads, dots);
  __syncthreads();

  const int i = own + Lane() / 4;
  const Key drop_keys[2] = {DROPOUT ? QueryKey(a, text, head, i) : 0,
                            DROPOUT ? QueryKey(a, text, head, i + 8) : 0};
  const float log_sums[2] = {LogSum(a, text, head, i), LogSum(a, text, head, i + 8)};
  const float own_dots[2] = {dots[i - first], dots[i + 8 - first]};
  const float scale = a.scale * 1.44269504088896341f;
  float sums[kWidth / 8][4] = {};
  const Range range(a, first, text.length, /*later=*/false, kOther);
  for (int j = range.begin; j < range.end; j += kOther) {
    __syncthreads();
    LoadTile<kOther>(key_rows, j, text.length, keys);
    LoadTile<kOther>(value_rows, j, text.length, values);
    __syncthreads();
    const bool whole = j + kOther <= text.length && !a.causal && a.window == 0;
#pragma unroll 1
    for (int part = 0; part < kOther; part += 32) {
      float scores[4][4], slopes[4][4];
      RowProducts(queries, Warp() * 16, keys, part, scores);
      RowProducts(grads, Warp() * 16, values, part, slopes);
#pragma unroll
      for (int block = 0; block < 2; ++block) {
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int key = j + part + block * 8 + Lane() % 4 * 2 + c % 2, query = i + c / 2 * 8;
          float factors[2] = {1, 1};
          if (DROPOUT) {
            const KeptPair kept(drop_keys[c / 2], key, a.dropout.threshold);
            factors[0] = kept.first ? a.dropout.scale : 0;
            factors[1] = kept.second ? a.dropout.scale : 0;
          }
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            float& score = scores[block + 2 * half][c];
            const bool hidden = !whole && Hidden(a, text.length, query, key + 16 * half);
            const float p = hidden ? 0 : Exp2(score * scale - log_sums[c / 2]);
            score = p * (slopes[block + 2 * half][c] * factors[half] - own_dots[c / 2]) * a.scale;
          }
        }
      }
#pragma unroll
      for (int step = 0; step < 2; ++step) {
        unsigned left[4];
        AsLeft(scores[2 * step], scores[2 * step + 1], left);
        AddProducts(left, keys, part + step * 16, sums);
      }
    }
  }
  Stored* const to =
      static_cast<Stored*>(a.grad_qkv) + (query_rows.at - static_cast<const Stored*>(a.qkv));
  StoreRows(sums, 1, 1, own, text.length, to, query_rows.stride);
}

// A block for each text, head of keys and 64 keys: the parts of grad_qkv of the keys and their
// values, from all queries that read them. After AttentionBackwardQueries.
extern "C" __global__ void __launch_bounds__(kThreads) AttentionBackwardKeys(AttentionArguments a) {
  extern __shared__ uint4 shared[];
  __shared__ float log_sums[kOther], dots[kOther];
  __shared__ Key drop_keys[kOther];
  const Text text(a);
  const int key_head = blockIdx.y, first = blockIdx.z * kTile, own = first + Warp() * 16;
  if (first >= text.length) return;
  Stored* const keys = reinterpret_cast<Stored*>(shared);
  Stored* const values = keys + kTile * kStride;
  Stored* const queries = values + kTile * kStride;
  Stored* const grads = queries + kOther * kStride;
  const Rows key_rows = text.Qkv(a, a.heads + key_head);
  const Rows value_rows = text.Qkv(a, a.heads + a.key_heads + key_head);
  LoadTile<kTile>(key_rows, first, text.length, keys);
  LoadTile<kTile>(value_rows, first, text.length, values);

  const int j = own + Lane() / 4, group = a.heads / a.key_heads;
  const float scale = a.scale * 1.44269504088896341f;
  float key_sums[kWidth / 8][4] = {}, value_sums[kWidth / 8][4] = {};
  const Range range(a, first, text.length, /*later=*/true, kOther);
  for (int head = key_head * group; head < (key_head + 1) * group; ++head) {
    for (int i = range.begin; i < range.end; i += kOther) {
      __syncthreads();
      LoadTile<kOther>(text.Qkv(a, head), i, text.length, queries);
      LoadTile<kOther>(text.Out(a, a.grad_out, head), i, text.length, grads);
      if (threadIdx.x < kOther) {
        const int query = i + threadIdx.x;
        log_sums[threadIdx.x] = LogSum(a, text, head, query);
        dots[threadIdx.x] =
            query < text.length ? a.grad_dots[head * a.rows + text.first + query] : 0;
        if (DROPOUT) drop_keys[threadIdx.x] = QueryKey(a, text, head, query);
      }
      __syncthreads();
      const bool whole = !a.causal && a.window == 0;
#pragma unroll 1
      for (int part = 0; part < kOther; part += 16) {
        float scores[2][4], slopes[2][4], used[2][4];
        RowProducts(keys, Warp() * 16, queries, part, scores);
        RowProducts(values, Warp() * 16, grads, part, slopes);
#pragma unroll
        for (int block = 0; block < 2; ++block) {
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            const int place = part + block * 8 + Lane() % 4 * 2 + c % 2;
            const int query = i + place, key = j + c / 2 * 8;
            const bool hidden = !whole && Hidden(a, text.length, query, key);
            const float p = hidden ? 0 : Exp2(scores[block][c] * scale - log_sums[place]);
            float factor = 1;
            if (DROPOUT) {
              factor = Kept(drop_keys[place], key, a.dropout.threshold) ? a.dropout.scale : 0;
            }
            used[block][c] = p * factor;
            scores[block][c] = p * (slopes[block][c] * factor - dots[place]) * a.scale;
          }
        }
        unsigned left[4];
        AsLeft(used[0], used[1], left);
        AddProducts(left, grads, part, value_sums);
        AsLeft(scores[0], scores[1], left);
        AddProducts(left, queries, part, key_sums);
      }
    }
  }
  Stored* const all = static_cast<Stored*>(a.grad_qkv);
  const Stored* const from = static_cast<const Stored*>(a.qkv);
  StoreRows(key_sums, 1, 1, own, text.length, all + (key_rows.at - from), key_rows.stride);
  StoreRows(value_sums, 1, 1, own, text.length, all + (value_rows.at - from), value_rows.stride);
}

}  // namespace tandem::libtorch::kernels
