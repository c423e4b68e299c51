#include "base/json/json_members.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/json/json_reader.h"

namespace tandem {
namespace {

constexpr size_t kMostLevels = 16;

}  // namespace

JsonMembers::JsonMembers(std::string_view file, std::string path, const Json& json)
    : file_(file), path_(std::move(path)), json_(json) {
  if (!json.is_object()) {
    throw DataError(
        file_, 0, "",
        path_.empty() ? "is not a JSON object" : fmt::format("`{}` is no object", path_));
  }
}

bool JsonMembers::Has(std::string_view name) const {
  const Json* const found = json_.Find(name);
  return found != nullptr && !found->is_null();
}

const Json& JsonMembers::Find(std::string_view name) const {
  const Json* const found = json_.Find(name);
  if (found == nullptr) Fail(name, "missing");
  return *found;
}

const std::string& JsonMembers::Text(std::string_view name, size_t most_bytes) const {
  const Json& value = Find(name);
  if (!value.is_string()) Fail(name, "no string");
  const auto& text = value.text();
  if (text.size() > most_bytes) Fail(name, fmt::format("longer than {} bytes", most_bytes));
  return text;
}

uint64_t JsonMembers::Count(std::string_view name, uint64_t most) const {
  const Json& value = Find(name);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) {
    Fail(name, fmt::format("no whole number from 0 to {}", most));
  }
  return value.get<uint64_t>();
}

bool JsonMembers::Truth(std::string_view name) const {
  const Json& value = Find(name);
  if (!value.is_boolean()) Fail(name, "neither true nor false");
  return value.get<bool>();
}

double JsonMembers::Number(std::string_view name) const {
  const Json& value = Find(name);
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    Fail(name, fmt::format("{}, no finite number", ShownJson(value)));
  }
  return value.get<double>();
}

const Json& JsonMembers::Array(std::string_view name, size_t most) const {
  const Json& value = Find(name);
  if (!value.is_array()) Fail(name, "no array");
  if (value.size() > most) Fail(name, fmt::format("longer than {}", most));
  return value;
}

JsonMembers JsonMembers::Object(std::string_view name) const {
  return {file_, fmt::format("{}{}.", path_, name), Find(name)};
}

void JsonMembers::Fail(std::string_view name, std::string_view wrong) const {
  throw DataError(file_, 0, "", fmt::format("`{}{}` is {}", path_, name, wrong));
}

Json ParseJsonObject(std::string_view text, std::string_view file) {
  try {
    return ParseJson(text, {.most_levels = kMostLevels}).Sorted();
  } catch (const JsonTextError& error) {
    throw DataError(file, 0, "", error.what());
  }
}

std::string ShownJson(const Json& value, size_t most_bytes) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const auto number = value.get<double>();
    return std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity";
  }
  std::string text = value.Dump(-1, JsonBytes::kReplace);
  if (text.size() > most_bytes) text = text.substr(0, most_bytes) + "...";
  return text;
}

}  // namespace tandem
