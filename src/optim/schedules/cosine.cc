// Half a cosine: (1 + cos(pi (s - warmup) / (total - warmup))) / 2, without restarts. Source:
// Loshchilov and Hutter 2017, eq. 5.
#include <cmath>
#include <numbers>

#include "optim/catalogue.h"

namespace tandem::optim {

extern const ScheduleInfo kCosine{{.name = "cosine",
                                   .summary = "linear warm-up, then half a cosine down to 0",
                                   .source = "Loshchilov and Hutter 2017, eq. 5, without restarts",
                                   .params = {}},
                                  [](const SchedulePoint& point, const config::Params&) {
                                    const double done =
                                        (point.step - point.warmup) / (point.total - point.warmup);
                                    return 0.5 * (1 + std::cos(std::numbers::pi * done));
                                  }};

}  // namespace tandem::optim
