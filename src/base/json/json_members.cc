#include "base/json/json_members.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json/json_problem.h"
#include "base/json/json_scanner.h"

namespace tandem {
namespace {

constexpr int kMostLevels = 16;

// How a number that the parser does not know passes through it: as a string that no file holds.
constexpr std::string_view kMark = "\x01tandem number ";

// `text` with each of `numbers` as a marked string.
std::string WithMarkedNumbers(std::string_view text, const std::vector<JsonNumber>& numbers) {
  std::string marked;
  size_t at = 0;
  for (const JsonNumber& number : numbers) {
    marked += text.substr(at, number.offset - at);
    marked += fmt::format("\"\\u0001{}{}\"", kMark.substr(1), number.text);
    at = number.offset + number.text.size();
  }
  return marked += text.substr(at);
}

// Python's float of the number: an infinity where a double does not hold it.
double FloatOf(const std::string& number) { return std::strtod(number.c_str(), nullptr); }

template <typename Json>
void RestoreNumbers(Json* value) {
  if (value->is_structured()) {
    for (Json& inner : *value) RestoreNumbers(&inner);
  } else if (value->is_string()) {
    const std::string& text = value->template get_ref<const std::string&>();
    if (text.starts_with(kMark)) *value = FloatOf(text.substr(kMark.size()));
  }
}

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
  } catch (const nlohmann::json::exception&) {
    throw DataError(file, 0, "", JsonProblem(text));
  }
}

namespace {

template <typename Json>
Json ParsePython(std::string_view text, const typename Json::parser_callback_t& keep) {
  try {
    return Json::parse(text.begin(), text.end(), keep);
  } catch (const nlohmann::json::exception&) {  // the words for numbers, or what is no JSON
  }
  JsonScanner scanner(text, /*python_words=*/true);
  if (scanner.Scan() || scanner.numbers().empty()) throw JsonTextError(JsonProblem(text));
  const std::string marked = WithMarkedNumbers(text, scanner.numbers());
  try {
    Json value = Json::parse(marked.begin(), marked.end(), keep);
    RestoreNumbers(&value);
    return value;
  } catch (const nlohmann::json::exception&) {
    throw JsonTextError(JsonProblem(text));
  }
}

}  // namespace

nlohmann::json ParsePythonJson(std::string_view text,
                               const nlohmann::json::parser_callback_t& keep) {
  return ParsePython<nlohmann::json>(text, keep);
}

nlohmann::ordered_json ParseOrderedPythonJson(std::string_view text) {
  return ParsePython<nlohmann::ordered_json>(text, nullptr);
}

std::string ShownJson(const nlohmann::json& value, size_t most_bytes) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    const auto number = value.get<double>();
    return std::isnan(number) ? "NaN" : number < 0 ? "-Infinity" : "Infinity";
  }
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > most_bytes) text = text.substr(0, most_bytes) + "...";
  return text;
}

}  // namespace tandem
