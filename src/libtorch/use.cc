#include "libtorch/use.h"

#include <ATen/Parallel.h>

#include <mutex>

#include "dist/process_group.h"
#include "libtorch/device_driver.h"
#include "libtorch/device_functions.h"
#include "libtorch/dist/gloo_group.h"
#include "libtorch/objective/use_objective_forms.h"
#include "libtorch/operations/operations.h"
#include "libtorch/optim/use_optimizer_forms.h"
#include "tensor/core/back_end/device_functions.h"
#include "tensor/core/parallel.h"
#include "tensor/device_operations.h"
#include "tensor/machine/device_driver.h"

namespace tandem::libtorch {
namespace {

// They are never freed: tensors of devices may outlive everything else.
void Register() {
  tensor::SetBackEndDriver(*new Driver);
  tensor::SetBackEndOperations(*new Operations);
  UseObjectiveForms();
  UseOptimizerForms();
  dist::SetGroupMaker(JoinByGloo);
  // Last: other threads take it for a sign that all is there.
  tensor::SetBackEndFunctions(*new Functions);
}

}  // namespace

void UseInThisProcess() {
  static std::once_flag once;
  std::call_once(once, Register);
  at::set_num_threads(tensor::ThreadCount());
}

}  // namespace tandem::libtorch
