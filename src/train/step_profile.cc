#include "train/step_profile.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "tensor/machine_rates.h"

namespace tandem::train {
namespace {

double SecondsOf(const std::vector<ProfileRow>& rows) {
  double seconds = 0;
  for (const ProfileRow& row : rows) seconds += row.seconds;
  return seconds;
}

// The text of a figure, or "-" where it is 0: there is none.
std::string Cell(double value, int digits) {
  return value > 0 ? fmt::format("{:.{}f}", value, digits) : std::string("-");
}

std::string TextRow(const ProfileRow& row) {
  const bool limited = row.limit_seconds > 0;
  return fmt::format("{:<27}{:>7.1f}{:>10.2f}{:>7.1f}{:>10}{:>9}{:>11}{:>10}{:>10.2f}\n", row.name,
                     row.calls, 1e3 * row.seconds, 100 * row.share,
                     Cell(row.flops_per_second / 1e9, 1), Cell(row.bytes_per_second / 1e9, 1),
                     limited ? (row.memory_bound ? "memory" : "products") : "-",
                     limited ? fmt::format("{:.0f} %", 100 * row.limit_seconds / row.seconds) : "-",
                     1e3 * (row.seconds - row.limit_seconds));
}

std::string FormatText(const StepProfile& profile, const ProfileSetting& setting) {
  if (profile.steps == 0) {
    return "profile: there is no step to show; the first one warms up and does not count\n";
  }
  const std::vector<ProfileRow> rows = ProfileRows(profile, setting);
  const double seconds = SecondsOf(rows);
  const double tokens = static_cast<double>(profile.tokens) / static_cast<double>(profile.steps);
  std::string text = fmt::format(
      "profile of {} steps ({}): {:.0f} tokens and {:.1f} ms a step, {:.0f} tokens/s\n"
      "limits, measured now: {:.0f} GFLOP/s in products of the model's shapes, {:.1f} GB/s in "
      "memory; the step runs at {:.1f} % of the former\n\n",
      profile.steps, setting.machine, tokens, 1e3 * seconds, tokens / seconds,
      setting.product_rate / 1e9, setting.memory_rate / 1e9,
      setting.product_rate > 0
          ? 100 * setting.flops_per_token * tokens / seconds / setting.product_rate
          : 0);
  text += fmt::format("{:<27}{:>7}{:>10}{:>7}{:>10}{:>9}{:>11}{:>10}{:>10}\n", "operation", "calls",
                      "ms", "%", "GFLOP/s", "GB/s", "bound by", "of limit", "ms above");
  double above = 0;
  for (const ProfileRow& row : rows) {
    text += TextRow(row);
    above += row.seconds - row.limit_seconds;
  }
  text +=
      fmt::format("{:<34}{:>10.2f}{:>7.1f}{:>50.2f}\n", "step", 1e3 * seconds, 100.0, 1e3 * above);
  return text;
}

constexpr const char* kTsvHeader =
    "operation\tcalls\tseconds\tshare\tflops_per_second\tbytes_per_second\tbound_by\t"
    "limit_seconds\n";

const char* BoundBy(const ProfileRow& row) {
  if (row.limit_seconds <= 0) return "-";
  return row.memory_bound ? "memory" : "products";
}

std::string FormatTsv(const std::vector<ProfileRow>& rows) {
  std::string text = kTsvHeader;
  for (const ProfileRow& row : rows) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", row.name,
                   row.calls, row.seconds, row.share, row.flops_per_second, row.bytes_per_second,
                   BoundBy(row), row.limit_seconds);
  }
  return text;
}

std::string FormatJson(const StepProfile& profile, const ProfileSetting& setting,
                       const std::vector<ProfileRow>& rows) {
  nlohmann::ordered_json operations = nlohmann::ordered_json::array();
  for (const ProfileRow& row : rows) {
    operations.push_back({{"operation", row.name},
                          {"calls", row.calls},
                          {"seconds", row.seconds},
                          {"share", row.share},
                          {"flops_per_second", row.flops_per_second},
                          {"bytes_per_second", row.bytes_per_second},
                          {"bound_by", BoundBy(row)},
                          {"limit_seconds", row.limit_seconds}});
  }
  const nlohmann::ordered_json root = {{"machine", setting.machine},
                                       {"steps", profile.steps},
                                       {"tokens", profile.tokens},
                                       {"product_flops_per_second", setting.product_rate},
                                       {"memory_bytes_per_second", setting.memory_rate},
                                       {"flops_per_token", setting.flops_per_token},
                                       {"operations", std::move(operations)}};
  return root.dump(2) + "\n";
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
                                 at::get_num_threads(), tensor::IsaName())};
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
                          std::string_view format) {
  if (format == "tsv") return FormatTsv(ProfileRows(profile, setting));
  if (format == "json") return FormatJson(profile, setting, ProfileRows(profile, setting));
  return FormatText(profile, setting);
}

}  // namespace tandem::train
