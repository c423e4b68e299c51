#include "commands/evaluate/threshold_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json/json_members.h"
#include "base/log.h"
#include "commands/model/score_differences.h"

namespace tandem::app {
namespace {

constexpr size_t kMostThresholds = 1000;
constexpr const char* kExpected =
    "expected what `tandem evaluate --thresholds TARGETS --format json` prints";

ThresholdSource SourceIn(const JsonMembers& members) {
  constexpr uint64_t kMost = std::numeric_limits<int64_t>::max();
  ThresholdSource source{.data = members.Text("data"),
                         .split = members.Has("split") ? members.Text("split") : "",
                         .queries = members.Count("queries", kMost),
                         .relevance_level = members.Number("relevance_level")};
  if (members.Has("run")) source.run = members.Text("run");
  if (!members.Has("model")) return source;
  source.model = members.Text("model");
  source.fingerprint = members.Text("fingerprint");
  source.similarity = members.Text("similarity");
  source.precision = members.Text("precision");
  source.width = members.Count("width", kMost);
  source.query_prompt = members.Text("query_prompt", 1 << 16);
  source.document_prompt = members.Text("document_prompt", 1 << 16);
  source.max_query_tokens = members.Count("max_query_tokens", kMost);
  source.max_document_tokens = members.Count("max_document_tokens", kMost);
  return source;
}

// What scores depend on besides model and similarity, and how it was and is.
std::vector<std::string> Differences(const ThresholdSource& was, const ThresholdSource& is) {
  std::vector<std::string> differences;
  AddDifference("precision", was.precision, is.precision, &differences);
  AddTextDifferences(was, is, &differences);
  return differences;
}

void CheckModel(const SavedThresholds& saved, const ThresholdSource& is) {
  const ThresholdSource& was = *saved.chosen_on;
  if (was.similarity != is.similarity) {
    throw UsageError(fmt::format(
        "{}: its thresholds are scores by {}, but {} compares by {}: they say nothing of "
        "it",
        saved.file, was.similarity, is.model, is.similarity));
  }
  if (was.fingerprint != is.fingerprint || was.width != is.width) {
    throw UsageError(fmt::format(
        "{}: its thresholds are scores of another model ({}, fingerprint {}, {} numbers), and {} "
        "has fingerprint {} and {} numbers; scores of two models cannot be compared: choose "
        "thresholds with this one",
        saved.file, was.model, was.fingerprint, was.width, is.model, is.fingerprint, is.width));
  }
  if (const auto differences = Differences(was, is); !differences.empty()) {
    Warn(fmt::format("{}: its thresholds were chosen with {}; scores differ by that", saved.file,
                     fmt::join(differences, ", ")));
  }
}

}  // namespace

std::string ThresholdSource::name() const {
  return split.empty() ? data : fmt::format("{}, split {}", data, split);
}

Json JsonOf(const ThresholdSource& source) {
  Json json = {{"data", source.data}};
  if (!source.split.empty()) json["split"] = source.split;
  json["queries"] = source.queries;
  json["relevance_level"] = source.relevance_level;
  if (!source.of_model()) {
    json["run"] = source.run;
    return json;
  }
  json["model"] = source.model;
  json["fingerprint"] = source.fingerprint;
  json["similarity"] = source.similarity;
  json["precision"] = source.precision;
  json["width"] = source.width;
  json["query_prompt"] = source.query_prompt;
  json["document_prompt"] = source.document_prompt;
  json["max_query_tokens"] = source.max_query_tokens;
  json["max_document_tokens"] = source.max_document_tokens;
  return json;
}

SavedThresholds ReadThresholds(const std::string& file) {
  const std::string text = ReadFile(file);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw DataError(file, 0, "", fmt::format("is empty; {}", kExpected));
  }
  const Json json = ParseJsonObject(text, file);
  const JsonMembers members(file, "", json);
  if (!members.Has("thresholds")) {
    throw DataError(file, 0, "", fmt::format("has no member `thresholds`; {}", kExpected));
  }
  SavedThresholds saved{.file = file, .chosen_on = {}, .thresholds = {}, .unmet = {}};
  if (members.Has("chosen_on")) saved.chosen_on = SourceIn(members.Object("chosen_on"));
  const Json& list = members.Array("thresholds", kMostThresholds);
  for (size_t i = 0; i < list.size(); ++i) {
    const JsonMembers entry(file, fmt::format("thresholds.{}.", i), list[i]);
    const std::string& target = entry.Text("wish");
    if (entry.Truth("met")) {
      saved.thresholds.push_back({target, entry.Object("threshold").Number("value")});
    } else {
      saved.unmet.push_back(target);
    }
  }
  if (saved.thresholds.empty()) {
    throw DataError(file, 0, "",
                    saved.unmet.empty()
                        ? fmt::format("its list of thresholds is empty; {}", kExpected)
                        : fmt::format("none of its targets was met ({}), so that there is no "
                                      "threshold to measure",
                                      fmt::join(saved.unmet, ", ")));
  }
  return saved;
}

void CheckApplicable(const SavedThresholds& saved, const ThresholdSource& measured_on) {
  if (!saved.unmet.empty()) {
    Warn(fmt::format("{}: targets that were not met, left out: {}", saved.file,
                     fmt::join(saved.unmet, ", ")));
  }
  if (!saved.chosen_on) {
    Warn(fmt::format("{}: does not say which model and data its thresholds were chosen on",
                     saved.file));
    return;
  }
  const ThresholdSource& was = *saved.chosen_on;
  if (was.of_model() && measured_on.of_model()) {
    CheckModel(saved, measured_on);
  } else {
    Warn(fmt::format(
        "{}: its thresholds are scores of {} {}, and nothing says whether those of {} {} "
        "are comparable",
        saved.file, was.of_model() ? "model" : "run", was.of_model() ? was.model : was.run,
        measured_on.of_model() ? "model" : "run",
        measured_on.of_model() ? measured_on.model : measured_on.run));
  }
  if (was.relevance_level != measured_on.relevance_level) {
    Warn(fmt::format("{}: its thresholds were chosen with relevance level {}, now it is {}",
                     saved.file, was.relevance_level, measured_on.relevance_level));
  }
  if (was.data == measured_on.data && was.split == measured_on.split) {
    Warn(
        fmt::format("{}: its thresholds were chosen on {}, which they are measured on: what is "
                    "printed is too good",
                    saved.file, was.name()));
  }
}

}  // namespace tandem::app
