// Reading the names of measures: `NAME`, `NAME@10`, `NAME(PARAMETER=VALUE,...)@10`, with our names
// or those of ir_measures.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/suggest.h"
#include "data/input/fields.h"
#include "eval/measure.h"

namespace tandem::eval {
namespace {

// A larger cut-off is a typing error: no run has as many results.
constexpr size_t kMaxCutOff = 1'000'000'000;
// The base of ir_measures' nDCG; with dcg='exp-log2' it is ours with exponential gains.
constexpr std::string_view kLinearGains = "ndcg";
constexpr std::string_view kExponentialGains = "ndcg_exp";

struct Argument {
  std::string_view key;
  std::string_view value;
};

// A name in its parts; all are views into it.
struct Spelling {
  std::string_view whole;
  std::string_view base;
  std::vector<Argument> arguments;
  std::optional<std::string_view> at;  // after `@`
  std::string_view suffix;             // all after `base`
};

// Thrown with what is wrong while a name is read; never leaves this file.
struct Problem {
  std::string text;
};

std::string_view TrimmedName(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

bool EqualWithoutCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// "'exp-log2'" -> "exp-log2".
std::string_view Unquoted(std::string_view value) {
  const bool quoted = value.size() >= 2 && value.front() == value.back() &&
                      (value.front() == '\'' || value.front() == '"');
  return quoted ? value.substr(1, value.size() - 2) : value;
}

std::vector<Argument> SplitArguments(std::string_view whole, std::string_view inside) {
  std::vector<Argument> arguments;
  while (true) {
    const size_t comma = inside.find(',');
    const std::string_view one = TrimmedName(inside.substr(0, comma));
    const size_t equals = one.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      throw Problem{fmt::format("measure {}: expected PARAMETER=VALUE in parentheses, found \"{}\"",
                                whole, one)};
    }
    arguments.push_back(
        {TrimmedName(one.substr(0, equals)), Unquoted(TrimmedName(one.substr(equals + 1)))});
    if (comma == std::string_view::npos) return arguments;
    inside.remove_prefix(comma + 1);
  }
}

Spelling Split(std::string_view whole) {
  Spelling spelling{.whole = whole,
                    .base = whole.substr(0, whole.find_first_of("(@")),
                    .arguments = {},
                    .at = {},
                    .suffix = {}};
  spelling.suffix = whole.substr(spelling.base.size());
  std::string_view rest = spelling.suffix;
  if (rest.starts_with('(')) {
    const size_t close = rest.find(')');
    if (close == std::string_view::npos) {
      throw Problem{fmt::format("measure {}: the parenthesis is not closed", whole)};
    }
    // A dictionary of gains holds commas; it is refused whatever is in it.
    const std::string_view inside = rest.substr(1, close - 1);
    if (const size_t gains = inside.find("gains"); gains != std::string_view::npos) {
      spelling.arguments.push_back({inside.substr(gains, 5), inside.substr(gains + 5)});
    } else {
      spelling.arguments = SplitArguments(whole, inside);
    }
    rest.remove_prefix(close + 1);
  }
  if (rest.starts_with('@')) {
    spelling.at = rest.substr(1);
    rest = {};
  }
  if (!rest.empty()) {
    throw Problem{
        fmt::format("measure {}: expected @ or nothing after the parentheses, found "
                    "\"{}\"",
                    whole, rest)};
  }
  return spelling;
}

// Our name for a name of trec_eval: "map@5" for "map_cut_5" or "map_cut.5". "" for other words.
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

std::string Unknown(const Spelling& spelling) {
  std::string suggestion = FromTrecEval(spelling.whole);
  if (suggestion.empty()) {
    // After a cut-off only a measure that takes one helps.
    std::vector<std::string_view> names;
    for (const MeasureInfo* info : Measures()) {
      if (!spelling.at || info->cut_off != CutOff::kNone) names.push_back(info->name);
    }
    const std::string_view nearest = NearestName(spelling.base, names);
    if (!nearest.empty()) suggestion = fmt::format("{}{}", nearest, spelling.suffix);
  }
  std::vector<std::string> known;
  for (const MeasureInfo* info : Measures()) known.push_back(Spellings(*info));
  return fmt::format("measure {} is unknown{} Known are {}", spelling.whole,
                     suggestion.empty() ? "." : fmt::format("; did you mean {}?", suggestion),
                     fmt::join(known, ", "));
}

void ReadCutOff(const Spelling& spelling, Measure& measure) {
  size_t value = 0;
  const char* const end = spelling.at->data() + spelling.at->size();
  const auto [stop, error] = std::from_chars(spelling.at->data(), end, value);
  if (error != std::errc() || stop != end || value < 1 || value > kMaxCutOff) {
    // precision@0.41 is what somebody writes who means a score.
    const MeasureInfo* const at_score = FindMeasure(fmt::format("set_{}", measure.info->name));
    throw Problem{fmt::format(
        "the cut-off of measure {} must be a whole number from 1 to {}{}", spelling.whole,
        kMaxCutOff,
        at_score == nullptr || !data::ParseNumber(*spelling.at)
            ? std::string()
            : fmt::format("; results from a score on are {}@{}", at_score->name, *spelling.at))};
  }
  measure.cut_off = value;
}

// Reads what follows `@`.
void ReadAt(const Spelling& spelling, Measure& measure) {
  const MeasureInfo& info = *measure.info;
  if (info.cut_off == CutOff::kScore) {
    const std::optional<double> score =
        spelling.at ? data::ParseNumber(*spelling.at) : std::nullopt;
    if (!score) {
      throw Problem{fmt::format("measure {} needs a score, from which on results count: {}@0.41",
                                spelling.whole, info.name)};
    }
    measure.score = *score;
  } else if (spelling.at && info.cut_off == CutOff::kNone) {
    throw Problem{
        fmt::format("measure {} takes no cut-off; found {}", spelling.base, spelling.whole)};
  } else if (spelling.at) {
    ReadCutOff(spelling, measure);
  } else if (info.cut_off == CutOff::kRequired) {
    throw Problem{fmt::format("measure {0} needs a cut-off: {0}@10", spelling.whole)};
  }
}

bool TakesLevel(const MeasureInfo& info) {
  return info.grades == GradeUse::kLevel && info.kind == MeasureKind::kRanking;
}

void ReadLevel(const Spelling& spelling, const Argument& argument, Measure& measure) {
  const MeasureInfo& info = *measure.info;
  if (!TakesLevel(info)) {
    // The other kinds count samples that a model draws once, while it searches, by one level.
    throw Problem{fmt::format("measure {} takes no rel: {}", info.name,
                              info.grades == GradeUse::kGains
                                  ? "its gains are made of all grades above 0"
                              : info.grades == GradeUse::kJudgement
                                  ? "judgements of every grade count"
                                  : "its positives are those of the evaluation's relevance level "
                                    "(--relevance-level, in recipes data.positive_grade)")};
  }
  const std::optional<double> level = data::ParseNumber(argument.value);
  if (!level || !(*level > 0)) {
    throw Problem{fmt::format("measure {}: rel must be a number above 0, found \"{}\"",
                              spelling.whole, argument.value)};
  }
  measure.relevance_level = *level;
}

// Why an argument that ir_measures knows is refused; "" for other words.
std::string_view WhyRefused(std::string_view key) {
  constexpr std::pair<std::string_view, std::string_view> kReasons[] = {
      {"gains",
       "gains of one's own cannot be given; change the grades of the judgements, or take "
       "ndcg_exp@k, whose gains are 2^grade - 1"},
      {"judged_only",
       "results that nobody judged cannot be left out; bpref does not count them, and judged@k "
       "tells how many there are"},
      {"cutoff", "the cut-off is written after the name, as in ndcg@10"}};
  for (const auto& [known, reason] : kReasons) {
    if (key == known) return reason;
  }
  return {};
}

// dcg='log2' and dcg='exp-log2' choose between two of our measures.
void ReadDcg(const Spelling& spelling, const Argument& argument, Measure& measure) {
  if (argument.value != "log2" && argument.value != "exp-log2") {
    throw Problem{fmt::format("measure {}: dcg must be log2 or exp-log2, found \"{}\"",
                              spelling.whole, argument.value)};
  }
  measure.info = FindMeasure(argument.value == "log2" ? kLinearGains : kExponentialGains);
}

void ReadArgument(const Spelling& spelling, const Argument& argument, Measure& measure) {
  if (argument.key == "rel") return ReadLevel(spelling, argument, measure);
  if (const std::string_view reason = WhyRefused(argument.key); !reason.empty()) {
    throw Problem{fmt::format("measure {}: {}", spelling.whole, reason)};
  }
  if (argument.key == "dcg" && measure.info->name == kLinearGains) {
    return ReadDcg(spelling, argument, measure);
  }
  if (!measure.params.Knows(argument.key)) {
    std::vector<std::string_view> known;
    for (const config::ParamInfo& param : measure.info->params) known.push_back(param.name);
    if (TakesLevel(*measure.info)) known.emplace_back("rel");
    throw Problem{fmt::format("measure {} has no parameter {}; {}", measure.info->name,
                              argument.key,
                              known.empty() ? std::string("it has none")
                                            : fmt::format("known are {}", fmt::join(known, ", ")))};
  }
  const std::optional<double> value = data::ParseNumber(argument.value);
  const std::string problem = value ? measure.params.Set(argument.key, *value)
                                    : fmt::format("must be a number, found \"{}\"", argument.value);
  if (!problem.empty()) {
    throw Problem{fmt::format("measure {}: {} {}", spelling.whole, argument.key, problem)};
  }
}

Measure Read(std::string_view name) {
  const Spelling spelling = Split(name);
  Measure measure;
  measure.info = FindMeasure(spelling.base);
  if (measure.info == nullptr) throw Problem{Unknown(spelling)};
  measure.params = config::Params(measure.info->params);
  for (auto one = spelling.arguments.begin(); one != spelling.arguments.end(); ++one) {
    if (std::any_of(spelling.arguments.begin(), one,
                    [&](const Argument& other) { return other.key == one->key; })) {
      throw Problem{fmt::format("measure {}: {} is given twice", name, one->key)};
    }
    ReadArgument(spelling, *one, measure);
  }
  ReadAt(spelling, measure);
  return measure;
}

// The end of the list's first name is the first comma outside of parentheses.
size_t EndOfFirst(std::string_view list) {
  int depth = 0;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] == '(') ++depth;
    if (list[i] == ')') --depth;
    if (list[i] == ',' && depth <= 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

const MeasureInfo* FindMeasure(std::string_view name) {
  const std::string_view base = name.substr(0, name.find_first_of("(@"));
  for (const MeasureInfo* info : Measures()) {
    if (EqualWithoutCase(base, info->name)) return info;
    if (!info->ir_measures_name.empty() && EqualWithoutCase(base, info->ir_measures_name)) {
      return info;
    }
  }
  return nullptr;
}

std::string MeasureProblem(std::string_view name) {
  try {
    Read(name);
  } catch (const Problem& problem) {
    return problem.text;
  }
  return {};
}

Measure ParseMeasure(std::string_view name) {
  try {
    return Read(name);
  } catch (const Problem& problem) {
    throw UsageError(problem.text);
  }
}

std::vector<Measure> ParseMeasures(std::string_view list) {
  std::vector<Measure> measures;
  while (true) {
    const size_t comma = EndOfFirst(list);
    const std::string_view name = TrimmedName(list.substr(0, comma));
    if (name.empty()) {
      throw UsageError("the list of measures has an empty name; expected ndcg@10,map,...");
    }
    Measure measure = ParseMeasure(name);
    const std::string spelled = measure.name();
    if (std::any_of(measures.begin(), measures.end(),
                    [&](const Measure& other) { return other.name() == spelled; })) {
      throw UsageError(fmt::format("measure {} is named twice", spelled));
    }
    measures.push_back(std::move(measure));
    if (comma == std::string_view::npos) return measures;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace tandem::eval
