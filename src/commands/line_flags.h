// The flags of commands that read training lines; they say what the lines do not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/lines/line_rules.h"

namespace tandem::app {

class Flags;  // cli/flags.h

struct LineFlags {
  std::string labels;          // "up=1,down=0"
  std::string ignore_columns;  // "a,b"
  std::string ids = "given";   // or "text"
};

// The parts of "a,b"; empty ones are left out.
std::vector<std::string> SplitAtCommas(std::string_view text);

// Adds --labels, --ignore-columns and --ids.
void AddLineFlags(Flags& flags, LineFlags& lines);

// The numbers of --labels: "up=1,down=0". Throws UsageError for a label without a number, and for
// one with two.
std::vector<data::LabelNumber> ParseLabels(std::string_view text);

// Returns the rules that the flags give for the data at `path`. Throws UsageError for a label
// without a number, and for a flag that is given with a folder, which has no lines.
data::LineRules LineRulesOf(const LineFlags& lines, const std::string& path);

}  // namespace tandem::app
