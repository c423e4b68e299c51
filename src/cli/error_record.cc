#include "cli/error_record.h"

#include <string>
#include <variant>

#include "base/error_facts.h"

namespace tandem::app {

Json ErrorRecord(std::string_view text, const Error& error) {
  const ErrorFacts facts = FactsOf(error);
  Json record = {{"message", "error"},
                 {"text", text},
                 {"class", facts.class_name},
                 {"exit_code", static_cast<int>(error.exit_code())}};
  for (const ErrorFact& fact : facts.known) {
    std::visit([&](const auto& value) { record[std::string(fact.name)] = value; }, fact.value);
  }
  return record;
}

}  // namespace tandem::app
