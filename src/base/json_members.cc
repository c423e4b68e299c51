#include "base/json_members.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"

namespace tandem {
namespace {

constexpr int kMostLevels = 16;

}  // namespace

JsonMembers::JsonMembers(std::string_view file, std::string path, const nlohmann::json& json)
    : file_(file), path_(std::move(path)), json_(json) {
  if (!json.is_object()) {
    throw DataError(
        file_, 0, "",
        path_.empty() ? "is not a JSON object" : fmt::format("`{}` is no object", path_));
  }
}

bool JsonMembers::Has(std::string_view name) const {
  const auto found = json_.find(std::string(name));
  return found != json_.end() && !found->is_null();
}

const nlohmann::json& JsonMembers::Find(std::string_view name) const {
  const auto found = json_.find(std::string(name));
  if (found == json_.end()) Fail(name, "missing");
  return *found;
}

const std::string& JsonMembers::Text(std::string_view name, size_t most_bytes) const {
  const nlohmann::json& value = Find(name);
  if (!value.is_string()) Fail(name, "no string");
  const auto& text = value.get_ref<const std::string&>();
  if (text.size() > most_bytes) Fail(name, fmt::format("longer than {} bytes", most_bytes));
  return text;
}

uint64_t JsonMembers::Count(std::string_view name, uint64_t most) const {
  const nlohmann::json& value = Find(name);
  if (!value.is_number_unsigned() || value.get<uint64_t>() > most) {
    Fail(name, fmt::format("no whole number from 0 to {}", most));
  }
  return value.get<uint64_t>();
}

bool JsonMembers::Truth(std::string_view name) const {
  const nlohmann::json& value = Find(name);
  if (!value.is_boolean()) Fail(name, "neither true nor false");
  return value.get<bool>();
}

const nlohmann::json& JsonMembers::Array(std::string_view name, size_t most) const {
  const nlohmann::json& value = Find(name);
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

nlohmann::json ParseJsonObject(std::string_view text, std::string_view file) {
  const auto keep = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > kMostLevels) {
      throw DataError(file, 0, "", fmt::format("is nested deeper than {} levels", kMostLevels));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text.begin(), text.end(), keep);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(file, 0, "", fmt::format("is not JSON: error at byte {}", error.byte));
  } catch (const nlohmann::json::exception& error) {  // a number out of range
    throw DataError(file, 0, "", fmt::format("cannot be read as JSON: {}", error.what()));
  }
}

}  // namespace tandem
