#include "commands/explain/explain_sampler.h"

#include <fmt/format.h>

#include "sampling/catalogue.h"

namespace tandem::app {

std::string ExplainSampler(const config::EntryInfo& entry) {
  const auto& info = *config::FindEntry(sampling::Samplers(), entry.name);
  std::string text = fmt::format("\n{}\n\n", info.formula);
  if (!info.differs.empty()) text += fmt::format("differs: {}\n\n", info.differs);
  return text;
}

}  // namespace tandem::app
