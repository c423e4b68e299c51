// Forms of the optimizers' rules for parameters that are not in the host's memory.
//
// A rule (rule.h) reads and writes arrays. On a device there are none: there a back end computes
// the rule on tensors, and nothing waits for the device. The results are those of the rule's own
// form within what float32 rounds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/params.h"
#include "model/forward.h"
#include "optim/catalogue.h"
#include "tensor/core/tensor.h"

namespace tandem::optim {

// A tensor that an optimizer keeps; shares its memory.
struct StateTensor {
  std::string name;      // "first_moment/PARAMETER"
  tensor::Tensor value;  // float32, on the parameter's device
};

// The gradient of one parameter, on its device.
struct GradientTensors {
  tensor::Tensor values;  // float32, of the parameter's shape; undefined: there is no gradient
  // Where it is defined, int64 [n], increasing: `values` [n, ...] has only these rows of the
  // parameter, and the gradient of all other rows is zero.
  tensor::Tensor rows;

  bool defined() const { return values.defined(); }
};

// That of a leaf; shares its memory.
GradientTensors GradientOf(const tensor::Tensor& leaf);

class DeviceRule {
 public:
  virtual ~DeviceRule() = default;

  // Makes one update, without gradients being recorded. `gradients[i]` belongs to parameter i.
  // Where it is undefined the parameter keeps its values and its state. The gradients may be
  // overwritten.
  virtual void Step(const StepPoint& point, std::span<const GradientTensors> gradients) = 0;

  // Everything besides the parameters and StepPoint that the next step depends on, with the names
  // and shapes of the rule's own form. The caller may overwrite the tensors before the next Step.
  virtual std::vector<StateTensor> State() const = 0;
};

struct DeviceOptions {
  // Elements that one operation takes of a list of tensors. The temporary tensors of a step are as
  // large as that: 256 MiB of float32.
  int64_t list_elements = int64_t{1} << 26;
};

// The entry of a device form. `params` are the parameters of `info`.
struct DeviceForm {
  const OptimizerInfo* info;
  // `parameters` are float32, all on one device.
  std::unique_ptr<DeviceRule> (*make)(std::vector<model::NamedParameter> parameters,
                                      const config::Params& params, const DeviceOptions& options);
};

// What a back end gives this room.
struct DeviceRules {
  std::span<const DeviceForm* const> forms;  // one for each entry of Optimizers()
  // The L2 norm of all tensors together, which are float32 and at least one: norms of each in
  // float32, which are put together in double.
  double (*norm)(std::span<const tensor::Tensor> tensors) = nullptr;
};

// Sets them. What `forms` points to outlives all optimizers.
void SetDeviceRules(const DeviceRules& rules);

// Those that are set; where none are, the back end is loaded first
// (tensor/core/back_end/device_functions.h), and UsageError thrown where it cannot be.
DeviceRules BackEndRules();

}  // namespace tandem::optim
