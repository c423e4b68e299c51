// The learning rate does not decay.
#include "optim/catalogue.h"

namespace tandem::optim {

extern const ScheduleInfo kConstant{
    {.name = "constant",
     .summary = "linear warm-up, then constant",
     .source = "common practice",
     .params = {}},
    [](const SchedulePoint&, const config::Params&) { return 1.0; }};

}  // namespace tandem::optim
