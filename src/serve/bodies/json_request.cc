#include "serve/bodies/json_request.h"

#include <fmt/format.h>

#include <utility>

#include "base/json/json_document.h"
#include "base/suggest.h"

namespace tandem::serve {

namespace {

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxMembers = 64;  // of a request's object

[[noreturn]] void Fail(std::string_view code, const std::string& message) {
  throw ApiError(400, code, message);
}

[[noreturn]] void FailExpected(std::string_view member, std::string_view expected,
                               JsonElement found) {
  Fail("invalid_type",
       fmt::format("`{}` must be {}, found {}", member, expected, found.KindName()));
}

JsonDocument ParseBody(std::string_view body) {
  if (body.empty()) Fail("invalid_json", "the body is empty; expected a JSON object");
  try {
    JsonDocument document(body, kMaxDepth);
    if (document.root().is_object()) return document;
    Fail("invalid_json",
         fmt::format("the body must be a JSON object, found {}", document.root().KindName()));
  } catch (const JsonLevelsError&) {
    Fail("invalid_json", fmt::format("the body nests deeper than {} levels", kMaxDepth));
  } catch (const JsonTextError& error) {
    Fail("invalid_json", fmt::format("the body {}", error.what()));
  }
}

std::string String(std::string_view name, JsonElement value) {
  const std::optional<std::string_view> text = value.String();
  if (!text) FailExpected(name, "a string", value);
  return std::string(*text);
}

bool Boolean(std::string_view name, JsonElement value) {
  const std::optional<bool> truth = value.Boolean();
  if (!truth) FailExpected(name, "true or false", value);
  return *truth;
}

double Number(std::string_view name, JsonElement value) {
  const std::optional<double> number = value.Number();
  if (!number) FailExpected(name, "a number", value);
  return *number;
}

size_t Integer(std::string_view name, JsonElement value, size_t lowest, size_t highest) {
  const std::optional<uint64_t> number = value.Natural();
  if (!number || *number < lowest || *number > highest) {
    Fail("out_of_range",
         fmt::format("`{}` must be an integer from {} to {}", name, lowest, highest));
  }
  return *number;
}

std::vector<std::string> Strings(std::string_view name, JsonElement value, size_t most) {
  if (!value.is_array()) FailExpected(name, "an array of strings", value);
  std::vector<std::string> strings;
  for (const JsonElement element : value.elements()) {
    const std::optional<std::string_view> text = element.String();
    if (!text) FailExpected(fmt::format("{}[{}]", name, strings.size()), "a string", element);
    if (strings.size() == most) {
      Fail("too_many_texts",
           fmt::format("`{}` has more than {} texts; send several requests", name, most));
    }
    strings.emplace_back(*text);
  }
  if (strings.empty()) Fail("no_texts", fmt::format("`{}` is empty", name));
  return strings;
}

// A string or an array of strings.
std::vector<std::string> Texts(std::string_view name, JsonElement value, size_t most) {
  if (value.String()) return {String(name, value)};
  return Strings(name, value, most);
}

void RefuseTokenIds(std::string_view name, JsonElement value) {
  if (!value.is_array()) return;
  for (const JsonElement first : value.elements()) {
    if (first.Number() || first.is_array()) {
      Fail("token_ids",
           fmt::format("`{}` has token ids; this server takes texts only, as a string or an array "
                       "of strings",
                       name));
    }
    return;
  }
}

TextKind Kind(std::string_view name, JsonElement value) {
  const std::string kind = String(name, value);
  if (kind == "query") return TextKind::kQuery;
  if (kind == "document") return TextKind::kDocument;
  Fail("invalid_value", fmt::format("`{}` must be \"query\" or \"document\"", name));
}

bool IsBase64(std::string_view name, JsonElement value) {
  const std::string format = String(name, value);
  if (format != "float" && format != "base64") {
    Fail("invalid_value", fmt::format("`{}` must be \"float\" or \"base64\"", name));
  }
  return format == "base64";
}

void ReadPairs(std::string_view name, JsonElement value, size_t most,
               const std::function<void(std::string, std::string)>& add) {
  if (!value.is_array()) FailExpected(name, "an array of pairs", value);
  size_t count = 0;
  for (const JsonElement element : value.elements()) {
    const std::string place = fmt::format("{}[{}]", name, count);
    if (!element.At(1) || element.At(2)) {
      Fail("invalid_type", fmt::format("`{}` must be [query, document]", place));
    }
    if (count++ == most) {
      Fail("too_many_texts",
           fmt::format("`{}` has more than {} pairs; send several requests", name, most));
    }
    std::vector<std::string> pair = Strings(place, element, 2);
    add(std::move(pair[0]), std::move(pair[1]));
  }
  if (count == 0) Fail("no_texts", fmt::format("`{}` is empty", name));
}

// The JSON text of a value.
std::string ObjectText(std::string_view name, JsonElement value) {
  if (!value.is_object()) FailExpected(name, "an object, as {\"year\": {\">=\": 2020}}", value);
  return value.Minified();
}

double Probability(std::string_view name, JsonElement value) {
  const double number = Number(name, value);
  if (!(number >= 0 && number <= 1)) {
    Fail("out_of_range", fmt::format("`{}` must be a number from 0 to 1", name));
  }
  return number;
}

// A member whose value `read`, called with its name and value, gives to `to`.
template <typename Value, typename Read>
RequestMember MemberTo(std::string_view name, Value* to, Read read) {
  return {name, [to, read](std::string_view of, JsonElement value) { *to = read(of, value); }};
}

}  // namespace

void ReadMembers(std::string* body, std::initializer_list<RequestMember> members,
                 OtherMembers others) {
  const JsonDocument parsed = ParseBody(*body);
  uint64_t seen = 0;
  size_t count = 0;
  for (const auto& [name, value] : parsed.root().members()) {
    if (++count > kMaxMembers) {
      Fail("unknown_member", fmt::format("the body has more than {} members", kMaxMembers));
    }
    const RequestMember* member = nullptr;
    uint64_t bit = 1;
    for (const RequestMember& known : members) {
      if (known.name == name) {
        member = &known;
        break;
      }
      bit <<= 1;
    }
    if (member == nullptr) {
      if (others == OtherMembers::kPassedOver) continue;
      std::vector<std::string_view> names;
      for (const RequestMember& known : members) names.push_back(known.name);
      Fail("unknown_member", fmt::format("`{}` is unknown{}", name.substr(0, 64),
                                         DidYouMean(name.substr(0, 64), names)));
    }
    if (seen & bit) Fail("repeated_member", fmt::format("`{}` comes twice", name));
    seen |= bit;
    if (!value.is_null()) member->read(name, value);
  }
}

RequestMember StringMember(std::string_view name, std::string* to) {
  return MemberTo(name, to, String);
}

RequestMember StringMember(std::string_view name, std::optional<std::string>* to) {
  return MemberTo(name, to, String);
}

RequestMember BooleanMember(std::string_view name, bool* to) { return MemberTo(name, to, Boolean); }

RequestMember NumberMember(std::string_view name, std::optional<double>* to) {
  return MemberTo(name, to, Number);
}

RequestMember ProbabilityMember(std::string_view name, std::optional<double>* to) {
  return MemberTo(name, to, Probability);
}

RequestMember IntegerMember(std::string_view name, IntegerRange range, size_t* to) {
  return MemberTo(name, to, [range](std::string_view of, JsonElement value) {
    return Integer(of, value, range.lowest, range.highest);
  });
}

RequestMember StringsMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(name, to, [most](std::string_view of, JsonElement value) {
    return Strings(of, value, most);
  });
}

RequestMember TextsMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(
      name, to, [most](std::string_view of, JsonElement value) { return Texts(of, value, most); });
}

RequestMember OpenAiInputMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(name, to, [most](std::string_view of, JsonElement value) {
    RefuseTokenIds(of, value);
    return Texts(of, value, most);
  });
}

RequestMember KindMember(std::string_view name, TextKind* to) { return MemberTo(name, to, Kind); }

RequestMember FormatMember(std::string_view name, bool* base64) {
  return MemberTo(name, base64, IsBase64);
}

RequestMember ObjectMember(std::string_view name, std::string* to) {
  return MemberTo(name, to, ObjectText);
}

RequestMember PairsMember(std::string_view name, size_t most,
                          std::function<void(std::string query, std::string document)> add) {
  return {name, [most, add = std::move(add)](std::string_view of, JsonElement value) {
            ReadPairs(of, value, most, add);
          }};
}

ApiError MissingMember(const std::string& message) {
  return ApiError(400, "missing_member", message);
}

}  // namespace tandem::serve
