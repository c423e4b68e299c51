#include "weights/settings/guarantee.h"

#include <fmt/format.h>

namespace tandem::weights {

std::string Guarantee::Name() const {
  return by.empty() ? promise.Name() : fmt::format("{} for {}={}", promise.Name(), by, group);
}

}  // namespace tandem::weights
