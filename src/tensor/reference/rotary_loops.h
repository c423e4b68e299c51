// Rotary positions as the reference computes them: plain loops in float or double.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tensor/attention_rule.h"

namespace tandem::tensor::loops {

template <typename T>
struct RotaryArguments {
  int64_t rows;
  HeadShape shape;
  const int32_t* positions;  // [rows]
  const T* cosines;          // [P, head_width / 2], P above every position
  const T* sines;            // as cosines
};

enum class Turn { kForward = 1, kBackward = -1 };

// out = x [rows, qkv_width], with channels c and c + head_width / 2 of each query and key head
// turned by the angle of the row's position (Su et al. 2021):
//
//   out[c]        = x[c] cos - x[c + half] sin
//   out[c + half] = x[c + half] cos + x[c] sin
//
// Values stay. The gradient of x is grad_out turned back.
template <typename T>
void TurnHeads(const RotaryArguments<T>& args, Turn turn, const T* x, T* out) {
  const int64_t width = args.shape.head_width, half = width / 2;
  const int64_t turned = args.shape.heads + args.shape.key_value_heads;
  std::copy_n(x, args.rows * args.shape.qkv_width(), out);
  for (int64_t r = 0; r < args.rows; ++r) {
    for (int64_t head = 0; head < turned; ++head) {
      const int64_t first = r * args.shape.qkv_width() + head * width;
      for (int64_t c = 0; c < half; ++c) {
        const int64_t angle = args.positions[r] * half + c;
        const auto cosine = static_cast<double>(args.cosines[angle]);
        const double sine = static_cast<int>(turn) * static_cast<double>(args.sines[angle]);
        const auto a = static_cast<double>(x[first + c]);
        const auto b = static_cast<double>(x[first + half + c]);
        out[first + c] = static_cast<T>(a * cosine - b * sine);
        out[first + half + c] = static_cast<T>(b * cosine + a * sine);
      }
    }
  }
}

}  // namespace tandem::tensor::loops
