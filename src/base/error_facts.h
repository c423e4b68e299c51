// What is known of an error besides its text, for programs that read it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace tandem {

struct ErrorFact {
  std::string_view name;  // "file", "line", "column", "key", "id", "tensor", "errno"
  std::variant<std::string, int64_t> value;
};

struct ErrorFacts {
  std::string_view class_name;  // as error.h has it, "Interrupted" too; "Error" for others
  std::vector<ErrorFact> known;
};

// Facts that the error does not know (an empty name, a number that is not above 0) are left out.
ErrorFacts FactsOf(const Error& error);

}  // namespace tandem
