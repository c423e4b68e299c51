#include "eval/measure.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/param.h"

namespace tandem::eval {
namespace {

// The parameters that are not at their default, as they are written in parentheses.
std::vector<std::string> Arguments(const Measure& measure) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < measure.params.infos().size(); ++i) {
    const config::ParamInfo& info = measure.params.infos()[i];
    const config::Value& value = measure.params.value(i);
    if (value == config::DefaultOf(info)) continue;
    arguments.push_back(fmt::format("{}={}", info.name, config::FormatValue(value)));
  }
  if (measure.relevance_level) arguments.push_back(fmt::format("rel={}", *measure.relevance_level));
  return arguments;
}

// Says how the measure is written, here and elsewhere, and what grades are to it.
std::string Details(const config::EntryInfo& entry) {
  const auto& info = static_cast<const MeasureInfo&>(entry);
  std::string text = fmt::format("written: {}\n", Spellings(info));
  std::vector<std::string> elsewhere;
  if (!info.ir_measures_name.empty()) {
    elsewhere.push_back(fmt::format("ir_measures: {}", info.ir_measures_name));
  }
  if (!info.trec_eval_name.empty()) {
    elsewhere.push_back(fmt::format("trec_eval: {}", info.trec_eval_name));
  }
  if (!info.trec_eval_cut_name.empty()) {
    elsewhere.push_back(fmt::format("trec_eval: {}_k", info.trec_eval_cut_name));
  }
  if (!elsewhere.empty()) text += fmt::format("elsewhere: {}\n", fmt::join(elsewhere, ", "));
  if (info.grades == GradeUse::kGains) {
    text += "counts: every grade above 0, as a gain\n";
  } else if (info.grades == GradeUse::kJudgement) {
    text += "counts: judged documents of any grade from 0 on\n";
  } else if (info.kind == MeasureKind::kRanking) {
    text += "counts: documents of the relevance level or more, or of a level of its own: rel=2\n";
  } else {
    text += "counts: documents of the relevance level or more\n";
  }
  return text;
}

}  // namespace

config::Catalogue MeasureCatalogue() {
  return {.name = "measures",
          .entry = "measure",
          .table = "",
          .summary = "what is measured: validation.measure, evaluate --measures",
          .entries = config::EntriesOf(Measures()),
          .details = Details};
}

std::string Spellings(const MeasureInfo& info) {
  switch (info.cut_off) {
    case CutOff::kNone:
      return std::string(info.name);
    case CutOff::kRequired:
      return fmt::format("{}@k", info.name);
    case CutOff::kScore:
      return fmt::format("{}@SCORE", info.name);
    case CutOff::kOptional:
      break;
  }
  return fmt::format("{0}, {0}@k", info.name);
}

std::string Measure::name() const {
  std::string name(info->name);
  if (const auto arguments = Arguments(*this); !arguments.empty()) {
    name += fmt::format("({})", fmt::join(arguments, ","));
  }
  if (info->cut_off == CutOff::kScore) {
    name += fmt::format("@{}", score);
  } else if (cut_off != kAllResults) {
    name += fmt::format("@{}", cut_off);
  }
  return name;
}

bool Measure::Counts(double grade, double level) const {
  switch (info->grades) {
    case GradeUse::kGains:
      return grade > 0;
    case GradeUse::kJudgement:
      return grade >= 0;
    case GradeUse::kLevel:
      break;
  }
  return grade >= relevance_level.value_or(level);
}

}  // namespace tandem::eval
