// Uses the installed room `libtorch`: a tensor of Tandem and one of libtorch have the same memory,
// and the portable forms and groups of processes are there.
#include <ATen/core/Tensor.h>

#include <cstdio>

#include "libtorch/bridge.h"
#include "libtorch/use.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/make.h"

int main() {
  tandem::libtorch::UseInThisProcess();
  const tandem::tensor::Tensor ones = tandem::tensor::Full({2, 3}, 1, tandem::tensor::kFloat);
  tandem::libtorch::AsTorch(ones).mul_(7);
  const float product = ones.data_ptr<float>()[5];
  const bool there = tandem::tensor::LoadedBackEndFunctions() != nullptr;
  std::printf("%g, %s\n", product, there ? "with a back end" : "without a back end");
  return product == 7 && there ? 0 : 1;
}
