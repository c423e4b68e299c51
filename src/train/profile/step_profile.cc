#include "train/profile/step_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>

#include "base/json/json.h"
#include "tensor/core/parallel.h"
#include "tensor/machine/machine_rates.h"

namespace tandem::train {
namespace {

double SecondsOf(const std::vector<ProfileRow>& rows) {
  double seconds = 0;
  for (const ProfileRow& row : rows) seconds += row.seconds;
  return seconds;
}

const char* BoundBy(const ProfileRow& row) {
  if (row.limit_seconds <= 0) return "-";
  return row.memory_bound ? "memory" : "products";
}

// A figure of the table; 0 stands for "no figure".
std::optional<double> Figure(double value) {
  return value > 0 ? std::optional(value) : std::nullopt;
}

// The table for people: the time of each operation in milliseconds and as a share of the step,
// slowest first, and the sum.
report::Table TableOf(const std::vector<ProfileRow>& rows) {
  const auto whole_percent = [](double share) { return report::Percent(share, 0); };
  report::Table table(
      {{.name = "operation", .least_width = 27, .when_long = report::LongText::kKeep},
       {.name = "calls", .decimals = 1},
       {.name = "ms", .decimals = 2},
       {.name = "%", .decimals = 1},
       {.name = "GFLOP/s", .decimals = 1},
       {.name = "GB/s", .decimals = 1},
       {.name = "bound by"},
       {.name = "of limit", .show = whole_percent},
       {.name = "ms above", .decimals = 2}});
  double above = 0;
  for (const ProfileRow& row : rows) {
    const double beyond = row.seconds - row.limit_seconds;
    table.Add({row.name, row.calls, 1e3 * row.seconds, 100 * row.share,
               Figure(row.flops_per_second / 1e9), Figure(row.bytes_per_second / 1e9), BoundBy(row),
               Figure(row.limit_seconds / row.seconds), 1e3 * beyond});
    above += beyond;
  }
  table.Add({"step", "", 1e3 * SecondsOf(rows), 100.0, "", "", "", "", 1e3 * above});
  return table;
}

std::string FormatText(const StepProfile& profile, const ProfileSetting& setting,
                       const report::TextStyle& style) {
  if (profile.steps == 0) {
    return "profile: there is no step to show; the first one warms up and does not count\n";
  }
  const std::vector<ProfileRow> rows = ProfileRows(profile, setting);
  const double seconds = SecondsOf(rows);
  const double tokens = static_cast<double>(profile.tokens) / static_cast<double>(profile.steps);
  const std::string text = fmt::format(
      "profile of {} steps ({}): {:.0f} tokens and {:.1f} ms a step, {:.0f} tokens/s\n"
      "limits, measured now: {:.0f} GFLOP/s in products of the model's shapes, {:.1f} GB/s in "
      "memory; the step runs at {:.1f} % of the former\n\n",
      profile.steps, setting.machine, tokens, 1e3 * seconds, tokens / seconds,
      setting.product_rate / 1e9, setting.memory_rate / 1e9,
      setting.product_rate > 0
          ? 100 * setting.flops_per_token * tokens / seconds / setting.product_rate
          : 0);
  return text + TableOf(rows).Text(style);
}

// The table for programs: all figures per step, unrounded.
report::Table UnroundedTable(const std::vector<ProfileRow>& rows) {
  report::Table table({{.name = "operation"},
                       {.name = "calls"},
                       {.name = "seconds"},
                       {.name = "share"},
                       {.name = "flops_per_second"},
                       {.name = "bytes_per_second"},
                       {.name = "bound_by"},
                       {.name = "limit_seconds"}});
  for (const ProfileRow& row : rows) {
    table.Add({row.name, row.calls, row.seconds, row.share, row.flops_per_second,
               row.bytes_per_second, BoundBy(row), row.limit_seconds});
  }
  return table;
}

std::string FormatJson(const StepProfile& profile, const ProfileSetting& setting,
                       const std::vector<ProfileRow>& rows) {
  const Json root = {{"machine", setting.machine},
                     {"steps", profile.steps},
                     {"tokens", profile.tokens},
                     {"product_flops_per_second", setting.product_rate},
                     {"memory_bytes_per_second", setting.memory_rate},
                     {"flops_per_token", setting.flops_per_token},
                     {"operations", UnroundedTable(rows).Json()}};
  return report::JsonText(root);
}

}  // namespace

ProfileSetting MeasureSetting(const StepProfile& profile, tensor::Precision precision,
                              double flops_per_token) {
  const std::vector<tensor::ProductShape> shapes(profile.operations.products().begin(),
                                                 profile.operations.products().end());
  return {.product_rate = tensor::ProductRate(shapes, precision),
          .memory_rate = tensor::MemoryRate(),
          .flops_per_token = flops_per_token,
          .machine = fmt::format("{}, {} threads, {}", tensor::PrecisionName(precision),
                                 tensor::ThreadCount(), tensor::IsaName())};
}

std::vector<ProfileRow> ProfileRows(const StepProfile& profile, const ProfileSetting& setting) {
  std::vector<ProfileRow> rows;
  if (profile.steps == 0) return rows;
  const auto steps = static_cast<double>(profile.steps);
  double total = 0;
  for (const tensor::Profile::Operation& operation : profile.operations.operations()) {
    total += operation.seconds;
  }
  for (const tensor::Profile::Operation& operation : profile.operations.operations()) {
    const tensor::Work& work = operation.work;
    const double products = setting.product_rate > 0 ? work.flops / setting.product_rate : 0;
    const double memory = work.bytes / setting.memory_rate;
    rows.push_back({.name = std::string(operation.name),
                    .calls = static_cast<double>(operation.calls) / steps,
                    .seconds = operation.seconds / steps,
                    .share = operation.seconds / total,
                    .flops_per_second = work.flops / operation.seconds,
                    .bytes_per_second = work.bytes / operation.seconds,
                    .limit_seconds = std::max(products, memory) / steps,
                    .memory_bound = memory > products});
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return rows;
}

std::string FormatProfile(const StepProfile& profile, const ProfileSetting& setting,
                          std::string_view format, const report::TextStyle& style) {
  if (format == "tsv") return UnroundedTable(ProfileRows(profile, setting)).Tsv();
  if (format == "json") return FormatJson(profile, setting, ProfileRows(profile, setting));
  return FormatText(profile, setting, style);
}

}  // namespace tandem::train
