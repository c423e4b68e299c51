// Attention over packed texts (Dao et al. 2022; Dao 2023): scores of a tile of queries against a
// tile of keys at a time, never all of a text's in memory. Nothing is padded.
//
// What attention_forward.cu and attention_backward.cu share. The compiler's options: ACTIVATION,
// their type (Number; 1 or 2); HEAD_WIDTH, a multiple of 16 up to 128; DROPOUT, 1: of
// probabilities, with the masks of tensor/dropout.h.
//
// A block holds kTile rows of a text and a head, 16 a warp: queries, or in the backward pass of keys
// and values these. It reads the text's others in tiles of kOther.
// Products are mma.m16n8k16's. A lane has of a product's 16 rows and 8 columns the rows Lane() / 4
// and 8 below, and the columns Lane() % 4 * 2 and the next, in the order of memory; so a product is
// the left side of the next one without an exchange between lanes. Sums have one order: results are
// the same in every run.
namespace tandem::libtorch::kernels {

using N = Number<ACTIVATION>;
using Stored = N::Stored;

constexpr int kWidth = HEAD_WIDTH;
constexpr int kStride = RowStride(kWidth);
constexpr int kSteps = kWidth / 16;
constexpr int kOther = OtherTile(kWidth);

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
  Stored* at;
  long long stride;

  __device__ Stored* of(int row) const { return at + row * stride; }
};

// Rows `first` .. of `rows`, of which there are `length`, into a tile of kRows; zeros after them.
template <int kRows>
__device__ void LoadTile(const Rows& rows, int first, int length, Stored* tile) {
  constexpr int kPieces = kWidth / 8;  // of 16 bytes
  for (int piece = threadIdx.x; piece < kRows * kPieces; piece += kAttentionThreads) {
    const int row = piece / kPieces, channel = piece % kPieces * 8;
    uint4 value = {0, 0, 0, 0};
    if (first + row < length) {
      value = *reinterpret_cast<const uint4*>(rows.of(first + row) + channel);
    }
    *reinterpret_cast<uint4*>(tile + row * kStride + channel) = value;
  }
}

// Writes a warp's sums, times the factors of a lane's two rows, where these are in the text: to the
// rows first .. of `to`.
__device__ void StoreRows(const float (&sums)[kWidth / 8][4], const float (&factors)[2], int first,
                          int length, const Rows& to) {
  const int row = first + Lane() / 4;
#pragma unroll
  for (int block = 0; block < kWidth / 8; ++block) {
    const int channel = block * 8 + Lane() % 4 * 2;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      if (row + 8 * half >= length) continue;
      *reinterpret_cast<unsigned*>(to.of(row + 8 * half) + channel) =
          N::Pair(sums[block][2 * half] * factors[half], sums[block][2 * half + 1] * factors[half]);
    }
  }
}

// The text of a block.
struct Text {
  int first, length;  // rows of the pack

  __device__ explicit Text(const AttentionArguments& a)
      : first(a.starts[blockIdx.x]), length(a.starts[blockIdx.x + 1] - first) {}

  // A head's columns in rows like those of qkv, and in rows like those of `out`.
  __device__ Rows Qkv(const AttentionArguments& a, const void* all, int head) const {
    return Columns(all, a.heads + 2 * a.key_heads, head);
  }
  __device__ Rows Out(const AttentionArguments& a, const void* all, int head) const {
    return Columns(all, a.heads, head);
  }

 private:
  __device__ Rows Columns(const void* all, int heads, int head) const {
    const long long stride = static_cast<long long>(heads) * kWidth;
    return {static_cast<Stored*>(const_cast<void*>(all)) + first * stride + head * kWidth, stride};
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

// The key of dropout of a query of the text; 0 after its end.
__device__ Key QueryKey(const AttentionArguments& a, const Text& text, int head, int i) {
  if (!DROPOUT || i >= text.length) return 0;
  return RowKey(SiteKey(a.dropout, head + 1), a.row_keys[text.first + i]);
}

// The keys of a query head and their values, which a block reads tile by tile.
struct KeysAndValues {
  Rows keys, values;
  int length;

  __device__ KeysAndValues(const AttentionArguments& a, const Text& text, int head)
      : length(text.length) {
    const int key_head = a.heads + head / (a.heads / a.key_heads);
    keys = text.Qkv(a, a.qkv, key_head);
    values = text.Qkv(a, a.qkv, key_head + a.key_heads);
  }
  // Waits until all threads are done with the tiles before.
  __device__ void Load(int first, Stored* key_tile, Stored* value_tile) const {
    __syncthreads();
    LoadTile<kOther>(keys, first, length, key_tile);
    LoadTile<kOther>(values, first, length, value_tile);
    __syncthreads();
  }
};

constexpr float kLog2E = 1.44269504088896341f;

}  // namespace tandem::libtorch::kernels
