#include "serve/routes/json_request.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <unordered_map>

#include "base/json/json_problem.h"
#include "base/suggest.h"
#include "serve/routes/api_error.h"

namespace tandem::serve {
namespace {

namespace dom = simdjson::dom;

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

using Reader = std::function<void(std::string_view name, dom::element value)>;
struct Member {
  std::string_view name;
  Reader read;
};

// Reads every member once. A name that comes twice is refused, since programs differ in which of
// both they take; null is as if the member were not there.
void ReadMembers(dom::object object, std::initializer_list<Member> members, bool others_allowed) {
  uint64_t seen = 0;
  size_t count = 0;
  for (const auto [name, value] : object) {
    if (++count > kMaxMembers) {
      Fail("unknown_member", fmt::format("the body has more than {} members", kMaxMembers));
    }
    const Member* member = nullptr;
    uint64_t bit = 1;
    for (const Member& known : members) {
      if (known.name == name) {
        member = &known;
        break;
      }
      bit <<= 1;
    }
    if (member == nullptr) {
      if (others_allowed) continue;
      std::vector<std::string_view> names;
      for (const Member& known : members) names.push_back(known.name);
      Fail("unknown_member", fmt::format("`{}` is unknown{}", name.substr(0, 64),
                                         DidYouMean(name.substr(0, 64), names)));
    }
    if (seen & bit) Fail("repeated_member", fmt::format("`{}` comes twice", name));
    seen |= bit;
    if (!value.is_null()) member->read(name, value);
  }
}

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

// As OpenAI's `input`, whose arrays of token ids belong to its own tokenizer.
std::vector<std::string> OpenAiInput(std::string_view name, dom::element value, size_t most) {
  if (value.is_array()) {
    for (const dom::element first : Array(value)) {
      if (first.is_number() || first.is_array()) {
        Fail(
            "token_ids",
            fmt::format("`{}` has token ids; this server takes texts only, as a string or an array "
                        "of strings",
                        name));
      }
      break;
    }
  }
  return Texts(name, value, most);
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

constexpr size_t kMaxDimensions = 65536;

EmbeddingRequest ParseTexts(std::string* body, const RequestLimits& limits, bool openai) {
  const Body parsed(body);
  EmbeddingRequest request;
  const std::string_view texts = openai ? "input" : "texts";
  const auto read_texts = [&](std::string_view name, dom::element value) {
    request.texts =
        openai ? OpenAiInput(name, value, limits.texts) : Texts(name, value, limits.texts);
  };
  ReadMembers(
      parsed.object(),
      {{texts, read_texts},
       {"input_type", [&](auto name, auto value) { request.kind = Kind(name, value); }},
       {"encoding_format", [&](auto name, auto value) { request.base64 = IsBase64(name, value); }},
       {"dimensions",
        [&](auto name, auto value) {
          request.dimensions = Integer(name, value, 1, kMaxDimensions);
        }},
       {"model", [&](auto name, auto value) { request.model = String(name, value); }}},
      openai);
  if (request.texts.empty()) Fail("missing_member", fmt::format("`{}` is missing", texts));
  return request;
}

// Texts that are numbered in the order in which they first come.
class NumberedTexts {
 public:
  uint32_t Add(std::string text) {
    const auto [entry, added] =
        numbers_.try_emplace(std::move(text), static_cast<uint32_t>(texts_->size()));
    if (added) texts_->push_back(entry->first);
    return entry->second;
  }
  explicit NumberedTexts(std::vector<std::string>* texts) : texts_(texts) {}

 private:
  std::vector<std::string>* texts_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

// [[query, document], …]; a text that stands in several pairs is encoded once.
void ReadPairs(std::string_view name, dom::element value, size_t most, SimilarityRequest* request) {
  if (!value.is_array()) FailExpected(name, "an array of pairs", value);
  NumberedTexts queries(&request->queries), documents(&request->documents);
  for (const dom::element element : Array(value)) {
    const std::string place = fmt::format("{}[{}]", name, request->pairs.size());
    if (!element.is_array() || Array(element).size() != 2) {
      Fail("invalid_type", fmt::format("`{}` must be [query, document]", place));
    }
    if (request->pairs.size() == most / 2) {
      Fail("too_many_texts",
           fmt::format("`{}` has more than {} pairs; send several requests", name, most / 2));
    }
    std::vector<std::string> pair = Strings(place, element, 2);
    const uint32_t query = queries.Add(std::move(pair[0]));
    request->pairs.emplace_back(query, documents.Add(std::move(pair[1])));
  }
  if (request->pairs.empty()) Fail("no_texts", fmt::format("`{}` is empty", name));
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

}  // namespace

EmbeddingRequest ParseOpenAiEmbeddings(std::string* body, const RequestLimits& limits) {
  return ParseTexts(body, limits, true);
}

EmbeddingRequest ParseEmbed(std::string* body, const RequestLimits& limits) {
  return ParseTexts(body, limits, false);
}

SimilarityRequest ParseSimilarity(std::string* body, const RequestLimits& limits) {
  const Body parsed(body);
  SimilarityRequest request;
  std::vector<std::string> query, documents;
  ReadMembers(
      parsed.object(),
      {{"query", [&](auto name, auto value) { query = {String(name, value)}; }},
       {"documents",
        [&](auto name, auto value) { documents = Strings(name, value, limits.texts - 1); }},
       {"pairs", [&](auto name, auto value) { ReadPairs(name, value, limits.texts, &request); }}},
      false);
  const bool listed = !request.pairs.empty();
  if (listed ? !query.empty() || !documents.empty() : query.empty() || documents.empty()) {
    Fail("missing_member", "give `query` and `documents`, or `pairs`");
  }
  if (listed) return request;
  request.queries = std::move(query);
  request.documents = std::move(documents);
  for (uint32_t d = 0; d < request.documents.size(); ++d) request.pairs.emplace_back(0, d);
  return request;
}

SearchRequest ParseSearch(std::string* body, const RequestLimits& limits) {
  const Body parsed(body);
  SearchRequest request;
  SearchOptions& options = request.options;
  std::vector<std::string> query;
  ReadMembers(
      parsed.object(),
      {{"query", [&](auto name, auto value) { query = {String(name, value)}; }},
       {"queries",
        [&](auto name, auto value) { request.queries = Strings(name, value, limits.queries); }},
       {"k", [&](auto name, auto value) { options.k = Integer(name, value, 1, limits.k); }},
       {"min_score", [&](auto name, auto value) { options.min_score = Number(name, value); }},
       {"min_probability",
        [&](auto name, auto value) { options.min_probability = Probability(name, value); }},
       {"filter", [&](auto name, auto value) { options.filter = ObjectText(name, value); }},
       {"texts", [&](auto name, auto value) { request.texts = Boolean(name, value); }},
       {"highlight", [&](auto name, auto value) { options.highlight = Boolean(name, value); }}},
      false);
  if (query.empty() == request.queries.empty()) {
    Fail("missing_member", "give `query`, a string, or `queries`, an array of strings");
  }
  request.single = !query.empty();
  if (request.single) request.queries = std::move(query);
  options.highlight = options.highlight && request.texts;
  return request;
}

}  // namespace tandem::serve
