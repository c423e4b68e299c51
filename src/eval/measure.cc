#include "eval/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/error.h"
#include "base/suggest.h"

namespace tandem::eval {
namespace {

// A larger cut-off is a typing error: no run has as many results.
constexpr size_t kMaxCutOff = 1'000'000'000;

struct Outcome {
  Measure measure;
  std::string problem;  // "" where `measure` is valid
};

// The name as it is written with a cut-off where it takes one: "ndcg, ndcg@k".
std::string Spellings(const MeasureInfo& info) {
  switch (info.cut_off) {
    case CutOff::kNone:
      return std::string(info.name);
    case CutOff::kRequired:
      return fmt::format("{}@k", info.name);
    case CutOff::kOptional:
      break;
  }
  return fmt::format("{0}, {0}@k", info.name);
}

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// Our name for a name of trec_eval: "precision@5" for "P_5", "P.5" or "P@5". "" for other words.
std::string FromTrecEval(std::string_view name) {
  for (const MeasureInfo* info : Measures()) {
    if (!info->trec_eval_name.empty() && name == info->trec_eval_name) {
      return std::string(info->name);
    }
    const std::string_view prefix = info->trec_eval_cut_name;
    if (!prefix.empty() && name.size() > prefix.size() + 1 &&
        EqualWithoutCase(name.substr(0, prefix.size()), prefix) &&
        std::string_view("_.@").find(name[prefix.size()]) != std::string_view::npos) {
      return fmt::format("{}@{}", info->name, name.substr(prefix.size() + 1));
    }
  }
  return {};
}

std::string Unknown(std::string_view name, std::string_view base) {
  std::string suggestion = FromTrecEval(name);
  if (suggestion.empty()) {
    // Behind a cut-off only a measure that takes one helps.
    std::vector<std::string_view> names;
    for (const MeasureInfo* info : Measures()) {
      if (base == name || info->cut_off != CutOff::kNone) names.push_back(info->name);
    }
    const std::string_view nearest = NearestName(base, names);
    if (!nearest.empty()) suggestion = fmt::format("{}{}", nearest, name.substr(base.size()));
  }
  std::vector<std::string> known;
  for (const MeasureInfo* info : Measures()) known.push_back(Spellings(*info));
  return fmt::format("measure {} is unknown{} Known are {}", name,
                     suggestion.empty() ? "." : fmt::format("; did you mean {}?", suggestion),
                     fmt::join(known, ", "));
}

std::optional<size_t> ParseCutOff(std::string_view digits) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (value < 1 || value > kMaxCutOff) return std::nullopt;
  return value;
}

Outcome Parse(std::string_view name) {
  const size_t at = name.find('@');
  const std::string_view base = name.substr(0, at);
  const MeasureInfo* info = config::FindEntry(Measures(), base);
  if (info == nullptr) return {{}, Unknown(name, base)};
  if (at == std::string_view::npos) {
    if (info->cut_off != CutOff::kRequired) return {{info, kAllResults}, {}};
    return {{}, fmt::format("measure {0} needs a cut-off: {0}@10", name)};
  }
  if (info->cut_off == CutOff::kNone) {
    return {{}, fmt::format("measure {} takes no cut-off; found {}", base, name)};
  }
  const std::optional<size_t> cut_off = ParseCutOff(name.substr(at + 1));
  if (cut_off) return {{info, *cut_off}, {}};
  return {{},
          fmt::format("the cut-off of measure {} must be a whole number from 1 to {}", name,
                      kMaxCutOff)};
}

std::string_view Trim(std::string_view name) {
  while (name.starts_with(' ')) name.remove_prefix(1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  return name;
}

}  // namespace

config::Catalogue MeasureCatalogue() {
  return {.name = "measures",
          .entry = "measure",
          .table = "",
          .summary = "what is measured: validation.measure, evaluate --measures",
          .entries = config::EntriesOf(Measures())};
}

std::string Measure::name() const {
  return cut_off == kAllResults ? std::string(info->name)
                                : fmt::format("{}@{}", info->name, cut_off);
}

std::string MeasureProblem(std::string_view name) { return Parse(name).problem; }

Measure ParseMeasure(std::string_view name) {
  const Outcome outcome = Parse(name);
  if (!outcome.problem.empty()) throw UsageError(outcome.problem);
  return outcome.measure;
}

std::vector<Measure> ParseMeasures(std::string_view list) {
  std::vector<Measure> measures;
  while (true) {
    const size_t comma = list.find(',');
    const std::string_view name = Trim(list.substr(0, comma));
    if (name.empty()) {
      throw UsageError("the list of measures has an empty name; expected ndcg@10,map,...");
    }
    const Measure measure = ParseMeasure(name);
    const std::string spelled = measure.name();
    if (std::any_of(measures.begin(), measures.end(),
                    [&](const Measure& other) { return other.name() == spelled; })) {
      throw UsageError(fmt::format("measure {} is named twice", spelled));
    }
    measures.push_back(measure);
    if (comma == std::string_view::npos) return measures;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace tandem::eval
