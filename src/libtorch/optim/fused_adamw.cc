#include "libtorch/optim/fused_adamw.h"

#include <ATen/ops/full.h>
#include <torch/version.h>

#include <stdexcept>

#define TANDEM_LIBTORCH (TORCH_VERSION_MAJOR * 100 + TORCH_VERSION_MINOR)

#if TANDEM_LIBTORCH >= 200
#include <ATen/ops/_fused_adamw.h>
#endif

namespace tandem::libtorch {

bool HasFusedAdamW(const at::Device& device) {
  if (device.is_cuda()) return TANDEM_LIBTORCH >= 200;
  return device.is_cpu() && TANDEM_LIBTORCH >= 204;
}

#if TANDEM_LIBTORCH >= 200
void FusedAdamW(FusedLists& lists, const FusedStep& step) {
  const at::TensorOptions options = lists.values.front().options();
  // The step and the scale are numbers on the device, which a kernel writes there: nothing waits.
  const std::vector<at::Tensor> steps(lists.values.size(),
                                      at::full({}, static_cast<double>(step.step), options));
  c10::optional<at::Tensor> divisor;
  if (step.gradient_scale != 1) divisor = at::full({}, 1 / step.gradient_scale, options);
  at::_fused_adamw_(lists.values, lists.gradients, lists.first, lists.second, {}, steps,
                    step.learning_rate, step.beta1, step.beta2, step.weight_decay, step.epsilon,
                    /*amsgrad=*/false, /*maximize=*/false, divisor);
}
#else
void FusedAdamW(FusedLists& /*lists*/, const FusedStep& /*step*/) {
  throw std::logic_error("this libtorch has no fused AdamW");
}
#endif

}  // namespace tandem::libtorch
