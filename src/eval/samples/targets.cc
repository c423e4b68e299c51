// Reads the targets of eval/samples/thresholds.h.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/suggest.h"
#include "eval/samples/thresholds.h"

namespace tandem::eval {
namespace {

struct KindName {
  TargetKind kind;
  std::string_view name;
};
constexpr std::array<KindName, 4> kKinds{{{TargetKind::kPrecision, "precision"},
                                          {TargetKind::kRecall, "recall"},
                                          {TargetKind::kFalsePositiveRate, "fpr"},
                                          {TargetKind::kResults, "results"}}};

std::string_view TrimmedTarget(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

double ReadValue(TargetKind kind, std::string_view target, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = error == std::errc() && end == text.data() + text.size();
  const bool results = kind == TargetKind::kResults;
  if (number && std::isfinite(value) && value > 0 && (results || value <= 1)) return value;
  throw UsageError(fmt::format("threshold {}: the value is {}; expected a number above 0{}", target,
                               text.empty() ? "empty" : text, results ? "" : ", at most 1"));
}

Target ReadTarget(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = TrimmedTarget(text.substr(0, equals));
  std::vector<std::string_view> names;
  for (const KindName& kind : kKinds) {
    names.push_back(kind.name);
    if (kind.name != name) continue;
    if (equals == std::string_view::npos) {
      throw UsageError(fmt::format("threshold {0} has no value; expected {0}=0.9", name));
    }
    return {kind.kind, ReadValue(kind.kind, text, TrimmedTarget(text.substr(equals + 1)))};
  }
  throw UsageError(
      fmt::format("threshold {} is unknown{}; expected precision=P, recall=R, fpr=F or "
                  "results=N, separated by commas",
                  text.empty() ? "\"\"" : text, DidYouMean(name, names)));
}

}  // namespace

std::string Target::name() const {
  const auto at = std::find_if(kKinds.begin(), kKinds.end(),
                               [this](const KindName& known) { return known.kind == kind; });
  return fmt::format("{}={}", at->name, value);
}

std::vector<Target> ParseTargets(std::string_view list) {
  std::vector<Target> targets;
  while (true) {
    const size_t comma = list.find(',');
    const Target target = ReadTarget(TrimmedTarget(list.substr(0, comma)));
    for (const Target& other : targets) {
      if (other.name() == target.name()) {
        throw UsageError(fmt::format("threshold {} is asked for twice", target.name()));
      }
    }
    targets.push_back(target);
    if (comma == std::string_view::npos) return targets;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace tandem::eval
