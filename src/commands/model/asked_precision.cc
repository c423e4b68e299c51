#include "commands/model/asked_precision.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/error.h"

namespace tandem::app {
namespace {

constexpr const char* kVariable = "TANDEM_PRECISION";

}  // namespace

std::string AskedPrecision::given() const {
  return by_environment ? fmt::format("{}={}", kVariable, name)
                        : fmt::format("--precision {}", name);
}

AskedPrecision AskedPrecisionOf(const Globals& globals) {
  if (!globals.precision.empty()) return {.name = globals.precision};
  const char* value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return {};
  return {.name = value, .by_environment = true};
}

tensor::Precision ResolveAsked(
    const AskedPrecision& asked,
    const std::function<tensor::Precision(std::string_view name)>& resolve) {
  if (!asked.by_environment) return resolve(asked.name);
  try {
    return resolve(asked.name);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{} is \"{}\" in the environment: {}; --precision wins over it",
                                 kVariable, asked.name, error.what()));
  }
}

}  // namespace tandem::app
