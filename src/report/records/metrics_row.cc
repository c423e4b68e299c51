#include "report/records/metrics_row.h"

#include <utility>

#include "base/json/json_reader.h"

namespace tandem::report {
namespace {

// The row of the event, of those in VARIANT that are left.
template <typename Variant, size_t I = 0>
std::optional<Variant> RowOf(std::string_view event, const Json& object) {
  if constexpr (I < std::variant_size_v<Variant>) {
    using Row = std::variant_alternative_t<I, Variant>;
    if (event != Row::kEvent) return RowOf<Variant, I + 1>(event, object);
    if (auto row = FromJson<Row>(object)) return Variant(std::move(*row));
  }
  return std::nullopt;
}

// Moves the members of the object at `key` up into `object`, their names after `prefix`.
void Flatten(const std::string& key, std::string_view prefix, Json& object) {
  const Json* const found = object.Find(key);
  if (found == nullptr) return;
  const Json members = *found;
  object.erase(key);
  for (const auto& [name, value] : members.items()) object[std::string(prefix) + name] = value;
}

// A line of metrics.jsonl from before there were events, as the line of today.
Json Modernised(Json line) {
  if (line.contains("finished")) {
    Json finished = {{"event", FinishedRow::kEvent}};
    for (const auto& [key, value] : line.items()) {
      const bool is_measure = key != "step" && key != "finished" && key != "model_step";
      if (key != "finished") finished[is_measure ? "best_" + key : key] = value;
    }
    return finished;
  }
  if (line.contains("validation")) {
    line["event"] = ValidationRow::kEvent;
    Flatten("validation", "validation_", line);
  } else if (line.contains("mining")) {
    line["event"] = MiningRow::kEvent;
    Flatten("mining", "mining_", line);
  } else if (line.contains("loss")) {
    line["event"] = StepRow::kEvent;
    Flatten("objective", "objective_", line);
  }
  return line;
}

Json ModernisedTiming(Json line) {
  const auto rename = [&line](const char* old_key, std::string_view event) {
    line["event"] = event;
    Json seconds = line[old_key];
    line["seconds"] = std::move(seconds);
  };
  if (line.contains("version")) {
    line["event"] = StartRow::kEvent;
  } else if (line.contains("validation_seconds")) {
    rename("validation_seconds", ValidationTimeRow::kEvent);
  } else if (line.contains("mining_seconds")) {
    rename("mining_seconds", MiningTimeRow::kEvent);
  } else if (line.contains("seconds")) {
    line["event"] = StepTimeRow::kEvent;
  }
  return line;
}

template <typename Variant, typename Modernise>
std::optional<Variant> ReadRow(std::string_view text, const Modernise& modernise) {
  Json line = ParseIfJson(text).value_or(Json());
  if (!line.is_object()) return std::nullopt;
  if (!line.contains("event")) line = modernise(std::move(line));
  const Json* const event = line.Find("event");
  if (event == nullptr || !event->is_string()) return std::nullopt;
  return RowOf<Variant>(event->text(), line);
}

}  // namespace

std::optional<MetricsRow> ReadMetricsRow(std::string_view line) {
  return ReadRow<MetricsRow>(line, Modernised);
}

std::optional<TimingRow> ReadTimingRow(std::string_view line) {
  return ReadRow<TimingRow>(line, ModernisedTiming);
}

}  // namespace tandem::report
