#include "libtorch/optim/use_optimizer_forms.h"

#include "libtorch/optim/gradient_norm.h"

namespace tandem::libtorch {

void UseOptimizerForms() {
  optim::SetDeviceRules({.forms = OptimizerForms(), .norm = GradientNorm});
}

}  // namespace tandem::libtorch
