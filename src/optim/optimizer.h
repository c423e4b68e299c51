// An optimizer over a model's parameters: a rule of the catalogue, applied to tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "model/forward.h"
#include "optim/catalogue.h"
#include "optim/device_rule.h"

namespace tandem::optim {

// Says which form of its rule an optimizer computes.
enum class RuleForm {
  kByDevice,  // kDevice where a parameter is not on the CPU, and where TANDEM_FORMS=portable
  kHost,      // rule.h; parameters are on the CPU
  kDevice,    // device_rule.h
};

class Optimizer {
 public:
  // Throws std::invalid_argument for a parameter that is not float32, and for parameters on
  // several devices; UsageError where a device form is asked for and no back end can be loaded.
  Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters,
            const config::Params& params, RuleForm form = RuleForm::kByDevice);
  // An optimizer with the default parameters.
  Optimizer(const OptimizerInfo& info, std::vector<model::NamedParameter> parameters,
            RuleForm form = RuleForm::kByDevice);

  // Updates every parameter that has a gradient. The rule sees the gradient times `gradient_scale`,
  // so that clipping and accumulation need no further pass over it. On a device nothing waits for
  // the update, and the gradients have no value afterwards.
  void Step(double learning_rate, double gradient_scale);

  const std::vector<model::NamedParameter>& parameters() const { return parameters_; }

  // Everything besides the parameters that the next Step depends on: tensors, which the caller may
  // save or overwrite in place, and the number of steps so far.
  std::vector<StateTensor> State() const;
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

  // The memory that a step reads and writes, in arrays as large as all parameters.
  double memory_passes() const { return memory_passes_; }

 private:
  std::vector<model::NamedParameter> parameters_;
  double memory_passes_;
  std::unique_ptr<UpdateRule> rule_;  // null: `device_rule_`
  std::unique_ptr<DeviceRule> device_rule_;
  int64_t steps_ = 0;
};

}  // namespace tandem::optim
