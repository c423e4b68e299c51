// What kernels (*.cu) and those who start them share: sizes, and arguments that are more than a
// pointer or a number. The host's code includes this file, and the kernels' compiler gets its text
// before theirs. So it includes nothing.
#pragma once

#ifdef __CUDACC_RTC__
#define TANDEM_IN_KERNELS __device__  // the kernels' compiler takes no function of the host
#else
#define TANDEM_IN_KERNELS
#endif

namespace tandem::libtorch::kernels {

constexpr int kRowsABlock = 4;     // of a step over rows (rows.cu), a warp each
constexpr int kDropThreads = 256;  // of a block of DropForward, with four channels each
constexpr int kPoolColumns = 128;  // that a block pools, one a thread

// Attention: a block of four warps holds kTile rows of a head and reads the others in tiles of
// OtherTile rows (a multiple of 32, for SharedBits). A row has RowStride numbers in shared memory,
// so that eight rows at 16 bytes hit all banks.
constexpr int kTile = 64;
constexpr int kAttentionThreads = 128;
TANDEM_IN_KERNELS constexpr int OtherTile(int head_width) { return head_width > 64 ? 32 : 64; }
TANDEM_IN_KERNELS constexpr int RowStride(int head_width) { return head_width + 8; }

enum PoolKind { kMean, kMeanSqrtLen, kWeightedMean };

// tensor::Dropout at one site. A channel whose 16 random bits are below `threshold` is dropped, the
// others are multiplied by `scale`.
struct DropoutArguments {
  unsigned long long step_key;  // of the seed and the step
  unsigned site;
  unsigned threshold;
  float scale;
};

// A step over rows (rows.cu), contiguous ones. T rows of H numbers.
struct RowArguments {
  const void* x;              // [T, H]
  const void* residual;       // [T, H], or null
  const float* gamma;         // [H], or null
  const float* beta;          // [H], or null
  const long long* row_keys;  // [T]
  long long rows;             // T
  float epsilon;
  DropoutArguments dropout;
  void* out;            // [T, H]
  float* moments;       // [T, 2]: mean and inverse deviation
  const void* grad;     // as out; this and the rest is the backward pass's
  void* grad_x;         // as x
  void* grad_residual;  // as x
  float* partial;       // [blocks, 2, H]: each block's part of the gradients of gamma and beta
};

// Attention of packed texts. A row of qkv has heads + 2 key_heads heads: queries, keys, values. All
// rows of activations are contiguous. T rows.
struct AttentionArguments {
  const void* qkv;            // [T, (heads + 2 key_heads) W]
  const int* starts;          // [B + 1], of the texts' rows
  const long long* row_keys;  // [T]
  void* out;                  // [T, heads W]
  float* log_sums;            // [heads, T]: log2 of the sum of exp(score)
  const void* grad_out;       // as out; this and the rest is the backward pass's
  float* grad_dots;           // [heads, T]: sums of grad_out * out over a head
  void* grad_qkv;             // as qkv
  long long rows;             // T
  int heads;
  int key_heads;
  int causal;   // a query reads keys up to its own
  int window;   // and at most so far away; 0: all
  float scale;  // of q k^T
  DropoutArguments dropout;
};

}  // namespace tandem::libtorch::kernels
