// Sums of embeddings as the reference computes them: plain loops in float or double.
#pragma once

#include <cstdint>

#include "tensor/reference/dot.h"

namespace tandem::tensor::loops {

template <typename T>
struct EmbeddingArguments {
  int64_t rows, width;
  const int32_t* ids;        // [rows], in the word table
  const int32_t* positions;  // [rows]
  const int32_t* types;      // [rows], in the type table, or null: all 0
  const T* word;             // [V, width]
  const T* position;         // [P, width], or null: none
  const T* type;             // [types, width], or null: none
  int64_t position_offset;
  double scale;

  // Where row r of each table begins.
  int64_t WordAt(int64_t r) const { return ids[r] * width; }
  int64_t PositionAt(int64_t r) const { return (positions[r] + position_offset) * width; }
  int64_t TypeAt(int64_t r) const { return types == nullptr ? 0 : types[r] * width; }
};

// out[r] = scale (word[ids[r]] + position[positions[r] + position_offset] + type[types[r]]),
// [rows, width] (Devlin et al. 2019).
template <typename T>
void SumEmbeddings(const EmbeddingArguments<T>& args, T* out) {
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t c = 0; c < args.width; ++c) {
      auto sum = static_cast<double>(args.word[args.WordAt(r) + c]);
      if (args.position != nullptr) {
        sum += static_cast<double>(args.position[args.PositionAt(r) + c]);
      }
      if (args.type != nullptr) sum += static_cast<double>(args.type[args.TypeAt(r) + c]);
      out[r * args.width + c] = static_cast<T>(args.scale * sum);
    }
  }
}

// Adds scale grad_out[r] to the row of each table that r reads. The gradients are of the tables'
// shapes; null: not wanted.
template <typename T>
void SumEmbeddingsBackward(const EmbeddingArguments<T>& args, const T* grad_out, double* grad_word,
                           double* grad_position, double* grad_type) {
  for (int64_t r = 0; r < args.rows; ++r) {
    const auto add = [&](double* row) {
      AddTimes(args.scale, grad_out + r * args.width, args.width, row);
    };
    if (grad_word != nullptr) add(grad_word + args.WordAt(r));
    if (grad_position != nullptr) add(grad_position + args.PositionAt(r));
    if (grad_type != nullptr) add(grad_type + args.TypeAt(r));
  }
}

}  // namespace tandem::tensor::loops
