// Query and key heads of attention, normalised and turned by their positions. One thread works on
// `rows` rows, as in rows.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tensor/kernels/cpu/rows/norm_rows.h"

namespace tandem::tensor::cpu {

// The operation on the heads of a row [query heads, key heads, value heads], of which there are as
// many of values as of keys. Values stay as they are.
struct HeadTurn {
  size_t query_heads;
  size_t key_heads;
  size_t width;        // of a head: a multiple of 16, at most kMaxWidth
  RowNorm query_norm;  // of each head by itself
  RowNorm key_norm;
  // [P, width / 2]; null: nothing is turned. Channels c and c + width / 2 of a head become
  // (a cos - b sin, b cos + a sin).
  const float* cosines;
  const float* sines;
  const int32_t* positions;  // [rows], below P

  size_t columns() const { return (query_heads + 2 * key_heads) * width; }
};

template <typename A>
struct HeadsForward {
  HeadTurn turn;
  const A* in;  // [rows, columns]
  A* out;       // [rows, columns], which may be `in`
};
template <typename A>
void RunHeads(const HeadsForward<A>& args, size_t rows);

template <typename A>
struct HeadsBackward {
  HeadTurn turn;
  const A* in;  // [rows, columns], as before the forward pass; read for heads with a norm only
  const A* grad_out;  // [rows, columns]
  A* grad_in;         // [rows, columns], which may be grad_out
  // [width], added to; null: not wanted.
  float* query_gamma;
  float* query_beta;
  float* key_gamma;
  float* key_beta;
};
template <typename A>
void RunHeadsBackward(const HeadsBackward<A>& args, size_t rows);

}  // namespace tandem::tensor::cpu
