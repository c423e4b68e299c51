#include "tensor/core/device_memory.h"

#include <vector>

#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/gradients/tape.h"
#include "tensor/core/make.h"

namespace tandem::tensor {

Tensor MovedTo(const Tensor& x, Device device) {
  if (!x.defined() || x.device() == device) return x;
  const Tensor moved = Empty(x.sizes(), x.dtype(), device);
  moved.copy_(x.detach());
  if (!NeedsGradient({x})) return moved;
  return WithBackward("MovedTo", moved, {x}, [from = x.device()](const Tensor& grad) {
    return std::vector{MovedTo(grad, from)};
  });
}

Tensor OnCpu(const Tensor& x) { return MovedTo(x, kCpuDevice); }

}  // namespace tandem::tensor
