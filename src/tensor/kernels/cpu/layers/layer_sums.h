// Gradients of a layer's parameters, which several threads sum up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "tensor/kernels/cpu/layers/layers.h"
#include "tensor/kernels/cpu/products/products.h"
#include "tensor/kernels/cpu/rows/row_split.h"

namespace tandem::tensor::cpu {

// The gradients of an affine map's parameters, which several threads sum up.
class AffineSums {
 public:
  AffineSums(const AffineGradient& gradient, int threads)
      : out_(static_cast<size_t>(gradient.weight_transposed->depth())),
        in_(static_cast<size_t>(gradient.weight_transposed->columns())),
        weight_(gradient.weight, out_ * in_, threads),
        bias_(gradient.bias, out_, threads) {}

  // The sums of one thread.
  struct Part {
    float* weight;  // null: not wanted; uninitialised until has_weight
    float* bias;    // null: not wanted
    bool has_weight = false;
  };
  Part PartOf(int thread) { return {weight_.Uninitialized(thread), bias_.Zeroed(thread)}; }
  // Adds grad_out^T x over `rows` rows, or over none, to part.weight.
  template <typename A>
  void AddProduct(const A* grad_out, const A* x, size_t rows, Part& part) const {
    if (part.weight == nullptr) return;
    const auto out = static_cast<int64_t>(out_), in = static_cast<int64_t>(in_);
    MultiplyTransposed({.a = {grad_out, out},
                        .b = {x, in},
                        .depth = static_cast<int64_t>(rows),
                        .m = out,
                        .n = in,
                        .type = kTypeOf<A>,
                        .sum = part.weight,
                        .add = std::exchange(part.has_weight, true)});
  }
  // Each thread calls this after its last AddProduct. It sets the sum of a thread without rows to
  // 0.
  void EndPart(Part& part) const {
    if (part.weight && !part.has_weight) std::fill_n(part.weight, out_ * in_, 0.0F);
  }
  void Finish(int threads) {
    weight_.Finish(threads);
    bias_.Finish(threads);
  }

 private:
  size_t out_;
  size_t in_;
  ThreadSums weight_;
  ThreadSums bias_;
};

// A layer's gradients of gamma and beta, which several threads sum up.
class NormSums {
 public:
  NormSums(const NormGradient& gradient, size_t width, int threads)
      : gamma_(gradient.gamma, width, threads), beta_(gradient.beta, width, threads) {}
  NormGradient PartOf(int thread) { return {gamma_.Zeroed(thread), beta_.Zeroed(thread)}; }
  void Finish(int threads) {
    gamma_.Finish(threads);
    beta_.Finish(threads);
  }

 private:
  ThreadSums gamma_;
  ThreadSums beta_;
};

}  // namespace tandem::tensor::cpu
