// Bodies of requests: their members, read into variables. Everything that a client may get wrong is
// an ApiError that names the member.
//
//   std::string query;
//   size_t k = 10;
//   ReadMembers(body, {StringMember("query", &query), IntegerMember("k", {1, 1000}, &k)},
//               OtherMembers::kRefused);
#pragma once

#include <cstddef>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_document.h"
#include "serve/backend.h"
#include "serve/bodies/api_error.h"

namespace tandem::serve {

struct RequestMember {
  std::string_view name;
  std::function<void(std::string_view name, JsonElement value)> read;
};

// Members that are not listed: clients may send them, or they are an error.
enum class OtherMembers { kRefused, kPassedOver };

// Reads the members of an object, which `body` is; nothing nests deeper than 16 levels. A name that
// comes twice is refused, since programs differ in which of both they take; null is as if the
// member were not there.
void ReadMembers(std::string* body, std::initializer_list<RequestMember> members,
                 OtherMembers others);

RequestMember StringMember(std::string_view name, std::string* to);
RequestMember StringMember(std::string_view name, std::optional<std::string>* to);
RequestMember BooleanMember(std::string_view name, bool* to);
RequestMember NumberMember(std::string_view name, std::optional<double>* to);
// Takes a number from 0 to 1.
RequestMember ProbabilityMember(std::string_view name, std::optional<double>* to);
struct IntegerRange {
  size_t lowest;
  size_t highest;
};
RequestMember IntegerMember(std::string_view name, IntegerRange range, size_t* to);
// An array of 1 to `most` strings.
RequestMember StringsMember(std::string_view name, size_t most, std::vector<std::string>* to);
// Takes an array of strings, or a string.
RequestMember TextsMember(std::string_view name, size_t most, std::vector<std::string>* to);
// Takes OpenAI's `input`, whose arrays of token ids belong to its own tokenizer.
RequestMember OpenAiInputMember(std::string_view name, size_t most, std::vector<std::string>* to);
// "query" or "document".
RequestMember KindMember(std::string_view name, TextKind* to);
// "float" or "base64".
RequestMember FormatMember(std::string_view name, bool* base64);
// An object, as its JSON text.
RequestMember ObjectMember(std::string_view name, std::string* to);
// [[query, document], …]; calls `add` for each of 1 to `most` pairs.
RequestMember PairsMember(std::string_view name, size_t most,
                          std::function<void(std::string query, std::string document)> add);

// The error for a body that lacks a member, or has one too many.
ApiError MissingMember(const std::string& message);

}  // namespace tandem::serve
