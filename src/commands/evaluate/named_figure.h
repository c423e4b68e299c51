// A figure of an evaluation at a score, as text, TSV and JSON show it.
#pragma once

#include <optional>
#include <string_view>

#include "eval/significance/bootstrap.h"

namespace tandem::app {

struct NamedFigure {
  std::string_view name;
  std::optional<double> value;             // none: it is not defined, as of no documents
  std::optional<eval::Interval> interval;  // none: it was not asked for, or is not defined
};

}  // namespace tandem::app
