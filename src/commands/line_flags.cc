#include "commands/line_flags.h"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "cli/flags.h"

namespace tandem::app {
std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    if (comma != 0) parts.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return parts;
}

void AddLineFlags(Flags& flags, LineFlags& lines) {
  flags.Add("--labels", lines.labels,
            "Of training lines: the numbers that labels stand for, as up=1,down=0 (1: a positive, "
            "0: a negative); then every label must be one of these");
  flags.Add("--ignore-columns", lines.ignore_columns,
            "Of training lines: keys that are passed over, whatever they look like, as a,b");
  flags
      .Add("--ids", lines.ids,
           "Of Tevatron's lines: given, the ids that they have; text, the same text is one "
           "document or one query, whatever its id")
      .OneOf({"given", "text"})
      .ShowDefault();
}

std::vector<data::LabelNumber> ParseLabels(std::string_view text) {
  std::vector<data::LabelNumber> labels;
  for (const std::string& label : SplitAtCommas(text)) {
    const std::optional<data::LabelNumber> number = data::ParseLabelNumber(label);
    if (!number) {
      throw UsageError(fmt::format(
          "--labels has \"{}\"; expected LABEL=NUMBER for each, as up=1,down=0", label));
    }
    labels.push_back(*number);
  }
  if (const std::string problem = data::TwoNumbersProblem(labels); !problem.empty()) {
    throw UsageError("--labels " + problem);
  }
  return labels;
}

data::LineRules LineRulesOf(const LineFlags& lines, const std::string& path) {
  data::LineRules rules{.labels = ParseLabels(lines.labels),
                        .ignored = SplitAtCommas(lines.ignore_columns),
                        .ids_of_texts = lines.ids == "text"};
  std::error_code error;
  if (!rules.empty() && std::filesystem::is_directory(path, error)) {
    throw UsageError(
        fmt::format("--labels, --ignore-columns and --ids say what training lines mean, but {} is "
                    "a folder",
                    path));
  }
  return rules;
}

}  // namespace tandem::app
