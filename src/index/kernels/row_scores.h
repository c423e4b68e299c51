// Scores of one query with many rows: the inner loop of a search for one query, which should take
// no longer than reading the rows from memory does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "index/exact/padded_width.h"
#include "tensor/kernels/cpu/bf16.h"

namespace tandem::index {

// scores[i] = row i * query + offset for rows [count, width] without gaps. Sums are floats, added
// in an order of their own.
void ScoreFloatRows(const float* rows, size_t width, size_t count, const float* query, float offset,
                    float* scores);

// Scores rows [count, width] of bf16 values; width is a multiple of kRowUnit.
void ScoreBf16Rows(const tensor::cpu::Bf16* rows, size_t width, size_t count, const float* query,
                   float offset, float* scores);

// Rows of codes [count, width], each with the factor that makes them numbers; width is a multiple
// of kRowUnit.
struct CodeRows {
  const int8_t* codes;
  const float* scales;  // [count]
  size_t width;
};

// scores[i] = scales[i] * (codes i * query + offset). The sum of products is exact: the caller sees
// to it that 127 * the sum of |query| is below 2^31.
void ScoreCodeRows(const CodeRows& rows, size_t count, const int16_t* query, float offset,
                   float* scores);

}  // namespace tandem::index
