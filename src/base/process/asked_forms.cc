#include "base/process/asked_forms.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"

namespace tandem {

AskedForms FormsOfEnvironment() {
  const char* forms = std::getenv("TANDEM_FORMS");  // NOLINT(concurrency-mt-unsafe)
  const std::string_view asked = forms == nullptr ? "" : forms;
  if (asked == "reference") return AskedForms::kReference;
  if (asked == "portable") return AskedForms::kPortable;
  if (asked.empty() || asked == "fused") return AskedForms::kFused;
  throw UsageError(fmt::format("TANDEM_FORMS is fused, reference or portable, not {}", asked));
}

}  // namespace tandem
