// Forward and backward passes.
#pragma once

namespace tandem::tensor {

enum class Pass { kForward, kBackward };

// The passes that packed copies of weights are made for (Linear::Prepare).
enum class Passes { kForward, kBackward, kBoth };

}  // namespace tandem::tensor
