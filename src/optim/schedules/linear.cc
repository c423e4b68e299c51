// Linear decay: (total - s) / (total - warmup), from 1 at the end of the warm-up to 1 / (total -
// warmup) at the last step. Source: common practice (Devlin et al. 2019).
#include "optim/catalogue.h"

namespace tandem::optim {

extern const ScheduleInfo kLinear{{.name = "linear",
                                   .summary = "linear warm-up, then linear decay to 0",
                                   .source = "common practice (Devlin et al. 2019)",
                                   .params = {}},
                                  [](const SchedulePoint& point, const config::Params&) {
                                    return (point.total - point.step) /
                                           (point.total - point.warmup);
                                  }};

}  // namespace tandem::optim
