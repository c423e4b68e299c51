// How weights follow gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model/dual_encoder.h"

namespace tandem::optim {

struct OptimizerOptions {
  double weight_decay = 0.01;  // for parameters with `decay`; the others have none
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
};

// A tensor that an optimizer keeps; shares its memory.
struct StateTensor {
  std::string name;  // "first_moment/PARAMETER"
  at::Tensor value;  // float32, shape of the parameter
};

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // One update of every parameter that has a gradient, from the gradient times `gradient_scale`
  // (clipping and accumulation need no pass of their own). Parameters are float32 and contiguous.
  virtual void Step(double learning_rate, double gradient_scale) = 0;

  // Everything besides the parameters that the next Step depends on: the tensors, to be saved or
  // overwritten in place, and the number of steps so far.
  virtual std::vector<StateTensor> State() const = 0;
  virtual int64_t steps() const = 0;
  virtual void set_steps(int64_t steps) = 0;
};

}  // namespace tandem::optim
