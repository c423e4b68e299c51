// AdamW: moments.h with weight decay.
//
// Source: Loshchilov and Hutter 2019, as torch.optim.AdamW computes it: the decay is multiplied by
// the learning rate, and epsilon is added after the bias correction.
#include <utility>

#include "optim/catalogue.h"
#include "optim/common_params.h"
#include "optim/moments.h"

namespace tandem::optim {
namespace {

constexpr config::ParamInfo kAdamWParams[] = {WeightDecay(0.01), Beta1(), Beta2(), Epsilon()};

std::unique_ptr<UpdateRule> MakeAdamW(std::vector<ParameterView> parameters,
                                      const config::Params& params) {
  return MakeMomentRule(std::move(parameters), AdamWOptions(params));
}

}  // namespace

// The gradient is read; weights and two moments are read and written.
extern const OptimizerInfo kAdamW{{.name = "adamw",
                                   .summary = "Adam with decoupled weight decay",
                                   .source = "Loshchilov and Hutter 2019, as torch.optim.AdamW",
                                   .params = kAdamWParams},
                                  /*memory_passes=*/7,
                                  MakeAdamW};

}  // namespace tandem::optim
