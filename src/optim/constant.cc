// No decay.
#include "optim/catalogue.h"

namespace tandem::optim {

const ScheduleInfo kConstant{{.name = "constant",
                              .summary = "linear warm-up, then constant",
                              .source = "common practice",
                              .params = {}},
                             [](const SchedulePoint&) { return 1.0; }};

}  // namespace tandem::optim
