#include "serve/bodies/json_request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <utility>

#include "base/json/json_problem.h"
#include "base/suggest.h"

namespace tandem::serve {

namespace dom = simdjson::dom;

struct JsonValue {
  dom::element element;
};

namespace {

constexpr size_t kMaxDepth = 16;
constexpr size_t kMaxMembers = 64;            // of a request's object
constexpr size_t kKeptParserBytes = 1 << 20;  // a larger parser is freed with its request

[[noreturn]] void Fail(std::string_view code, const std::string& message) {
  throw ApiError(400, code, message);
}

std::string_view TypeName(dom::element element) {
  switch (element.type()) {
    case dom::element_type::ARRAY:
      return "an array";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "a string";
    case dom::element_type::BOOL:
      return "a boolean";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

[[noreturn]] void FailExpected(std::string_view member, std::string_view expected,
                               dom::element found) {
  Fail("invalid_type", fmt::format("`{}` must be {}, found {}", member, expected, TypeName(found)));
}

dom::array Array(dom::element element) {
  dom::array array;
  if (element.get_array().get(array))
    throw std::logic_error("the caller knows that it is an array");
  return array;
}

// A body and the memory that its values lie in.
class Body {
 public:
  explicit Body(std::string* body) {
    if (body->empty()) Fail("invalid_json", "the body is empty; expected a JSON object");
    body->reserve(body->size() + simdjson::SIMDJSON_PADDING);
    simdjson::error_code error = simdjson::SUCCESS;
    // Room for a body of this size, and no more than kMaxDepth levels.
    if (parser().capacity() < body->size()) error = parser().allocate(body->size(), kMaxDepth);
    if (!error) error = parser().parse(body->data(), body->size(), false).get(root_);
    if (error && error != simdjson::DEPTH_ERROR && error != simdjson::MEMALLOC) {
      if (std::optional<std::string> fitting = WithNumbersThatFit(*body)) {
        *body = *std::move(fitting);
        body->reserve(body->size() + simdjson::SIMDJSON_PADDING);
        error = parser().parse(body->data(), body->size(), false).get(root_);
      }
    }
    if (error == simdjson::DEPTH_ERROR) {
      Fail("invalid_json", fmt::format("the body nests deeper than {} levels", kMaxDepth));
    }
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error) Fail("invalid_json", "the body " + JsonProblem(*body));
    if (!root_.is_object()) {
      Fail("invalid_json",
           fmt::format("the body must be a JSON object, found {}", TypeName(root_)));
    }
  }
  ~Body() {
    if (parser().capacity() > kKeptParserBytes) parser() = dom::parser();
  }
  dom::object object() const { return root_.get_object().value_unsafe(); }

 private:
  static dom::parser& parser() {
    static thread_local dom::parser kept;
    return kept;
  }
  dom::element root_;
};

std::string String(std::string_view name, dom::element value) {
  if (!value.is_string()) FailExpected(name, "a string", value);
  return std::string(value.get_string().value_unsafe());
}

bool Boolean(std::string_view name, dom::element value) {
  if (!value.is_bool()) FailExpected(name, "true or false", value);
  return value.get_bool().value_unsafe();
}

double Number(std::string_view name, dom::element value) {
  double number = 0;
  if (!value.is_number() || value.get_double().get(number)) {
    FailExpected(name, "a number", value);
  }
  return number;
}

size_t Integer(std::string_view name, dom::element value, size_t lowest, size_t highest) {
  uint64_t number = 0;
  if (!value.is_number() || value.get_uint64().get(number) || number < lowest || number > highest) {
    Fail("out_of_range",
         fmt::format("`{}` must be an integer from {} to {}", name, lowest, highest));
  }
  return number;
}

std::vector<std::string> Strings(std::string_view name, dom::element value, size_t most) {
  if (!value.is_array()) FailExpected(name, "an array of strings", value);
  std::vector<std::string> strings;
  for (const dom::element element : Array(value)) {
    if (!element.is_string()) {
      FailExpected(fmt::format("{}[{}]", name, strings.size()), "a string", element);
    }
    if (strings.size() == most) {
      Fail("too_many_texts",
           fmt::format("`{}` has more than {} texts; send several requests", name, most));
    }
    strings.emplace_back(element.get_string().value_unsafe());
  }
  if (strings.empty()) Fail("no_texts", fmt::format("`{}` is empty", name));
  return strings;
}

// A string or an array of strings.
std::vector<std::string> Texts(std::string_view name, dom::element value, size_t most) {
  if (value.is_string()) return {String(name, value)};
  return Strings(name, value, most);
}

void RefuseTokenIds(std::string_view name, dom::element value) {
  if (!value.is_array()) return;
  for (const dom::element first : Array(value)) {
    if (first.is_number() || first.is_array()) {
      Fail("token_ids",
           fmt::format("`{}` has token ids; this server takes texts only, as a string or an array "
                       "of strings",
                       name));
    }
    return;
  }
}

TextKind Kind(std::string_view name, dom::element value) {
  const std::string kind = String(name, value);
  if (kind == "query") return TextKind::kQuery;
  if (kind == "document") return TextKind::kDocument;
  Fail("invalid_value", fmt::format("`{}` must be \"query\" or \"document\"", name));
}

bool IsBase64(std::string_view name, dom::element value) {
  const std::string format = String(name, value);
  if (format != "float" && format != "base64") {
    Fail("invalid_value", fmt::format("`{}` must be \"float\" or \"base64\"", name));
  }
  return format == "base64";
}

void ReadPairs(std::string_view name, dom::element value, size_t most,
               const std::function<void(std::string, std::string)>& add) {
  if (!value.is_array()) FailExpected(name, "an array of pairs", value);
  size_t count = 0;
  for (const dom::element element : Array(value)) {
    const std::string place = fmt::format("{}[{}]", name, count);
    if (!element.is_array() || Array(element).size() != 2) {
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
std::string ObjectText(std::string_view name, dom::element value) {
  if (!value.is_object()) FailExpected(name, "an object, as {\"year\": {\">=\": 2020}}", value);
  return simdjson::to_string(value);
}

double Probability(std::string_view name, dom::element value) {
  const double number = Number(name, value);
  if (!(number >= 0 && number <= 1)) {
    Fail("out_of_range", fmt::format("`{}` must be a number from 0 to 1", name));
  }
  return number;
}

// A member whose value `read`, called with its name and value, gives to `to`.
template <typename Value, typename Read>
RequestMember MemberTo(std::string_view name, Value* to, Read read) {
  return {name, [to, read](std::string_view of, const JsonValue& value) {
            *to = read(of, value.element);
          }};
}

}  // namespace

void ReadMembers(std::string* body, std::initializer_list<RequestMember> members,
                 OtherMembers others) {
  const Body parsed(body);
  uint64_t seen = 0;
  size_t count = 0;
  for (const auto [name, value] : parsed.object()) {
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
    if (!value.is_null()) member->read(name, {value});
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
  return MemberTo(name, to, [range](std::string_view of, dom::element value) {
    return Integer(of, value, range.lowest, range.highest);
  });
}

RequestMember StringsMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(name, to, [most](std::string_view of, dom::element value) {
    return Strings(of, value, most);
  });
}

RequestMember TextsMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(
      name, to, [most](std::string_view of, dom::element value) { return Texts(of, value, most); });
}

RequestMember OpenAiInputMember(std::string_view name, size_t most, std::vector<std::string>* to) {
  return MemberTo(name, to, [most](std::string_view of, dom::element value) {
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
  return {name, [most, add = std::move(add)](std::string_view of, const JsonValue& value) {
            ReadPairs(of, value.element, most, add);
          }};
}

ApiError MissingMember(const std::string& message) {
  return ApiError(400, "missing_member", message);
}

}  // namespace tandem::serve
