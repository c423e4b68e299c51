// The functions that a feed-forward layer applies to its inner values.
#pragma once

namespace tandem::tensor {

enum class Activation {
  kGelu,      // the exact one, by the error function
  kGeluTanh,  // GELU's approximation by tanh ("gelu_new", "gelu_pytorch_tanh")
  kRelu,
  kSilu,
};

}  // namespace tandem::tensor
