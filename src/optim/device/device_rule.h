// Forms of the optimizers' rules for parameters that are not in the host's memory.
//
// A rule (rule.h) reads and writes arrays. On a device there are none: there a rule is a few ATen
// operations on lists of tensors, and nothing waits for the device. The results are those of the
// rule's own form within what float32 rounds.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/params.h"
#include "model/forward.h"
#include "optim/catalogue.h"

namespace tandem::optim {

// A tensor that an optimizer keeps; shares its memory.
struct StateTensor {
  std::string name;  // "first_moment/PARAMETER"
  at::Tensor value;  // float32, on the parameter's device
};

class DeviceRule {
 public:
  virtual ~DeviceRule() = default;

  // Makes one update, without gradients being recorded. `gradients[i]` belongs to parameter i: of
  // its shape and on its device, dense or of some rows (tensor/row_gradient.h). Where it is
  // undefined the parameter keeps its values and its state. The gradients may be overwritten.
  virtual void Step(const StepPoint& point, std::span<const at::Tensor> gradients) = 0;

  // Everything besides the parameters and StepPoint that the next step depends on, with the names
  // and shapes of the rule's own form. The caller may overwrite the tensors before the next Step.
  virtual std::vector<StateTensor> State() const = 0;
};

struct DeviceOptions {
  // Elements that one operation takes of a list of tensors. The temporary tensors of a step are as
  // large as that: 256 MiB of float32.
  int64_t list_elements = int64_t{1} << 26;
};

// The entry of a device form, which is defined at the end of device/forms/NAME.cc;
// optimizers/NAME.cc has the rule itself.
struct DeviceForm {
  const OptimizerInfo* info;
  // `parameters` are contiguous float32, all on one device.
  std::unique_ptr<DeviceRule> (*make)(std::vector<model::NamedParameter> parameters,
                                      const config::Params& params, const DeviceOptions& options);
};

// One for each entry of Optimizers(), in their order. The table is written from CMakeLists.txt.
std::span<const DeviceForm* const> DeviceForms();

}  // namespace tandem::optim
