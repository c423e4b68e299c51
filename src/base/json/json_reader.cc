#include "base/json/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/json/json_document.h"
#include "base/json/json_problem.h"
#include "base/json/json_scanner.h"

namespace tandem {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
// Objects with more members are searched for repeated keys in the order of the keys.
constexpr size_t kFewMembers = 16;

// Where several members have one key, the last value stays, at the place of the first.
void JoinRepeated(Json::Members* members) {
  std::vector<size_t> order(members->size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return (*members)[a].key < (*members)[b].key; });
  std::vector<bool> repeats(members->size());
  size_t first = 0;
  for (size_t i = 1; i < order.size(); ++i) {
    if ((*members)[order[i]].key != (*members)[order[first]].key) {
      first = i;
      continue;
    }
    repeats[order[i]] = true;
    (*members)[order[first]].value = std::move((*members)[order[i]].value);
  }
  size_t at = 0;
  std::erase_if(*members, [&](const JsonMember&) { return repeats[at++]; });
}

class Builder {
 public:
  explicit Builder(size_t most_levels) : most_levels_(most_levels) {}

  // `levels` arrays and objects lie around the element.
  Json Build(JsonElement element, size_t levels = 0) const {
    if (levels > most_levels_) throw JsonLevelsError(most_levels_);
    switch (element.kind()) {
      case JsonElement::Kind::kNull:
        return nullptr;
      case JsonElement::Kind::kBoolean:
        return *element.Boolean();
      case JsonElement::Kind::kInteger:
        if (const std::optional<uint64_t> natural = element.Natural()) return *natural;
        return *element.Integer();
      case JsonElement::Kind::kNumber:
        return *element.Number();
      case JsonElement::Kind::kString:
        return *element.String();
      case JsonElement::Kind::kArray:
        return Array(element.elements(), levels + 1);
      case JsonElement::Kind::kObject:
        return Object(element.members(), levels + 1);
    }
    return nullptr;
  }

 private:
  Json Array(JsonElement::Elements elements, size_t levels) const {
    Json array = Json::array();
    for (const JsonElement element : elements) array.push_back(Build(element, levels));
    return array;
  }

  Json Object(JsonElement::Members members, size_t levels) const {
    Json object = Json::object();
    for (const auto& [key, element] : members) {
      Json value = Build(element, levels);
      Json* const earlier = object.size() < kFewMembers ? object.Find(key) : nullptr;
      if (earlier != nullptr) {
        *earlier = std::move(value);
      } else {
        object.Append(std::string(key), std::move(value));
      }
    }
    if (object.size() > kFewMembers) JoinRepeated(&object.items());
    return object;
  }

  size_t most_levels_;
};

// Returns none where the parser refuses the text. Throws JsonTextError for too many levels.
std::optional<Json> Parse(std::string_view text, size_t most_levels) try {
  // The builder counts the levels around values, to which an empty array may add one.
  const auto document = JsonDocument::ParseStrictly(text, most_levels + 1);
  if (!document) return std::nullopt;
  return Builder(most_levels).Build(document->root());
} catch (const JsonLevelsError&) {
  throw JsonLevelsError(most_levels);
}

// A number that the parser does not know passes through it as a string that no file holds.
constexpr std::string_view kNumberMark = "\x01tandem number ";

// `text` with each of `numbers` as a marked string.
std::string WithMarkedNumbers(std::string_view text, const std::vector<JsonNumber>& numbers) {
  std::string marked;
  size_t at = 0;
  for (const JsonNumber& number : numbers) {
    marked += text.substr(at, number.offset - at);
    marked += fmt::format("\"\\u0001{}{}\"", kNumberMark.substr(1), number.text);
    at = number.offset + number.text.size();
  }
  return marked += text.substr(at);
}

// Reads as Python's float() does: an infinity where a double does not hold the number.
double FloatOf(const std::string& number) { return std::strtod(number.c_str(), nullptr); }

void RestoreNumbers(Json* value) {
  for (Json& element : *value) RestoreNumbers(&element);
  if (value->is_object()) {
    for (JsonMember& member : value->items()) RestoreNumbers(&member.value);
  }
  if (!value->is_string() || !value->text().starts_with(kNumberMark)) return;
  *value = FloatOf(value->text().substr(kNumberMark.size()));
}

// Reads a text that the parser has refused, maybe for its numbers; `json` is the text without its
// byte order mark.
Json ParseNumbersToo(std::string_view text, std::string_view json, const JsonReading& reading) {
  JsonScanner scanner(json, reading.python_numbers);
  const auto fault = scanner.Scan();
  if (scanner.levels() > reading.most_levels) throw JsonLevelsError(reading.most_levels);
  if (fault || scanner.numbers().empty()) throw JsonTextError(JsonProblem(text));
  const bool all_fit = std::all_of(
      scanner.numbers().begin(), scanner.numbers().end(),
      [](const JsonNumber& number) { return std::isfinite(FloatOf(std::string(number.text))); });
  if (!all_fit && !reading.python_numbers) throw JsonTextError(JsonProblem(text));
  std::optional<Json> value =
      Parse(WithMarkedNumbers(json, scanner.numbers()), reading.most_levels);
  if (!value) throw JsonTextError(JsonProblem(text));
  RestoreNumbers(&*value);
  return *std::move(value);
}

}  // namespace

JsonLevelsError::JsonLevelsError(size_t most_levels)
    : JsonTextError(fmt::format("is nested deeper than {} levels", most_levels)) {}

Json ParseJson(std::string_view text, const JsonReading& reading) {
  std::string_view json = text;
  if (json.starts_with(kByteOrderMark)) json.remove_prefix(kByteOrderMark.size());
  if (std::optional<Json> value = Parse(json, reading.most_levels)) return *std::move(value);
  return ParseNumbersToo(text, json, reading);
}

std::optional<Json> ParseIfJson(std::string_view text) {
  try {
    return ParseJson(text);
  } catch (const JsonTextError&) {
    return std::nullopt;
  }
}

}  // namespace tandem
