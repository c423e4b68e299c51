// The precision that a user asks for: by --precision, or once for all commands by the environment.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "cli/globals.h"
#include "tensor/machine/precision.h"

namespace tandem::app {

struct AskedPrecision {
  std::string name;             // as tensor::ResolvePrecision reads it; "": nobody asks
  bool by_environment = false;  // by $TANDEM_PRECISION, since there is no --precision
  std::string given() const;    // "--precision bf16", "TANDEM_PRECISION=bf16"
};

// An empty TANDEM_PRECISION is none.
AskedPrecision AskedPrecisionOf(const Globals& globals);

// Returns what `resolve` makes of the name. Where it throws UsageError for a name of the
// environment, the error says that it is from there.
tensor::Precision ResolveAsked(
    const AskedPrecision& asked,
    const std::function<tensor::Precision(std::string_view name)>& resolve);

}  // namespace tandem::app
