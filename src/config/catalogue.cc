#include "config/catalogue.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/suggest.h"

namespace tandem::config {

std::string UnknownName(std::string_view name, std::span<const std::string_view> known) {
  return fmt::format("{} is unknown; known are {}{}", name, fmt::join(known, ", "),
                     DidYouMean(name, known));
}

}  // namespace tandem::config
