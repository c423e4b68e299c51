// The gradient of a whole model.
#pragma once

#include <span>

#include "model/dual_encoder.h"

namespace tandem::optim {

// The L2 norm of all gradients together, in double; parameters without gradient count as 0. Sums
// run in an order that does not depend on threads. The norm is not finite where a gradient is not.
// Where a gradient is not on the CPU, and where TANDEM_FORMS=portable, it is DeviceGradientNorm.
double GradientNorm(std::span<const model::NamedParameter> parameters);

// The norm computed by the back end where the gradients are: norms of all tensors in float32, which
// are put together in double. It waits for the device once. Throws UsageError where no back end can
// be loaded.
double DeviceGradientNorm(std::span<const model::NamedParameter> parameters);

// The factor that brings a gradient of `norm` down to at most `limit`; 1 where it is below or the
// limit is 0 (no clipping).
double ClipFactor(double norm, double limit);

// Drops all gradients.
void ClearGradients(std::span<const model::NamedParameter> parameters);

}  // namespace tandem::optim
