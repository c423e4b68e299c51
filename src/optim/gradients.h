// The gradient of a whole model.
#pragma once

#include <span>

#include "model/dual_encoder.h"

namespace tandem::optim {

// The L2 norm of all gradients together, in double; parameters without gradient count as 0. Sums
// run in an order that does not depend on threads. Not finite where a gradient is not.
double GradientNorm(std::span<const model::NamedParameter> parameters);

// The factor that brings a gradient of `norm` down to at most `limit`; 1 where it is below or the
// limit is 0 (no clipping).
double ClipFactor(double norm, double limit);

// Drops all gradients.
void ClearGradients(std::span<const model::NamedParameter> parameters);

}  // namespace tandem::optim
