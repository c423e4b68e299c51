// Adam without decay: moments.h with none.
//
// Source: Kingma and Ba 2015, as torch.optim.Adam computes it: epsilon is added after the bias
// correction. There is no L2 term: for decay there is `adamw`.
#include <utility>

#include "optim/catalogue.h"
#include "optim/common_params.h"
#include "optim/moments.h"

namespace tandem::optim {
namespace {

constexpr config::ParamInfo kAdamParams[] = {Beta1(), Beta2(), Epsilon()};

std::unique_ptr<UpdateRule> MakeAdam(std::vector<ParameterView> parameters,
                                     const config::Params& params) {
  return MakeMomentRule(std::move(parameters), AdamOptions(params));
}

}  // namespace

// The gradient is read; weights and two moments are read and written.
extern const OptimizerInfo kAdam{{.name = "adam",
                                  .summary = "Adam without weight decay",
                                  .source = "Kingma and Ba 2015, as torch.optim.Adam",
                                  .params = kAdamParams},
                                 /*memory_passes=*/7,
                                 MakeAdam};

}  // namespace tandem::optim
