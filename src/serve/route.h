// A route is what the server answers at one path. The files of routes/ are the catalogue, and each
// ends in its `Route`; requests are routed, and openapi.json is written, from the table of them.
//
// A route reads the body of a request and writes its answer. What all routes have in common stands
// elsewhere: methods, tokens and draining in service.cc; tokenising and encoding texts, the memory
// of a request and its errors in exchange.cc.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/backend.h"
#include "serve/bodies/encoded_rows.h"
#include "serve/http/http_message.h"

namespace tandem::serve {

class Service;

struct RequestLimits {
  size_t texts = 2048;   // of one request, as at OpenAI; pairs too
  size_t queries = 128;  // of one search
  size_t k = 1000;
  size_t answer_bytes = size_t{64} << 20;  // of a search's answer, which has documents' texts
};

// Texts that a request wants to have encoded. Their rows come in the same order.
struct RequestTexts {
  std::vector<std::string> texts;
  std::vector<TextKind> kinds;  // of each text

  void Add(std::vector<std::string> more, TextKind kind);
};

// The data from which an answer is written.
struct AnswerInput {
  EncodedRows encoded;  // of RequestTexts
  const Backend& backend;
  const RequestLimits& limits;
  EmbedTexts embed;                      // encodes further texts; for routes that search
  std::function<double()> milliseconds;  // since the request came
};

// One request of POST reads its body and writes its answer. It throws an ApiError
// (bodies/api_error.h) or a UsageError for what a client got wrong.
class PostedRequest {
 public:
  virtual ~PostedRequest() = default;
  // Reads the body, which gets room after its end, and adds the texts to be encoded, at least one.
  virtual void Parse(std::string* body, const Backend& backend, const RequestLimits& limits,
                     RequestTexts* texts) = 0;
  // About how many bytes the answer will have, where that is much.
  virtual size_t AnswerBytes(size_t /*texts*/, size_t /*width*/) const { return 0; }
  // The body of the answer: JSON. Called once, after the texts have been encoded.
  virtual std::string Answer(const AnswerInput& input) const = 0;
};

struct Route {
  std::string_view path;
  std::string_view summary;
  bool open = false;            // needs no token
  bool while_draining = false;  // answers also when the server is about to end
  bool searches = false;        // Answer looks for documents, so that it waits for its turn
  std::string_view request;     // JSON schema of the body; "": there is none
  std::string_view response;    // JSON schema of the answer; "": it is not JSON
  // A route has one of both, and takes GET and HEAD, or POST.
  Response (*get)(const Service& service, const RequestHead& head) = nullptr;
  std::unique_ptr<PostedRequest> (*post)() = nullptr;

  Method method() const { return get != nullptr ? Method::kGet : Method::kPost; }
};

// Route::post of a request that is made without arguments.
template <typename T>
std::unique_ptr<PostedRequest> MakeRequest() {
  return std::make_unique<T>();
}

// The schema of an answer of which no more is promised.
inline constexpr std::string_view kAnyObject = R"({"type":"object"})";

// Every route, in the order of openapi.json. The table is written from CMakeLists.txt.
std::span<const Route* const> Routes();

// Returns null where there is no such path.
const Route* FindRoute(std::string_view path);

// The value of the header Allow: "GET, HEAD, OPTIONS" or "POST, OPTIONS".
std::string_view AllowedMethods(const Route& route);

// A response of status 200 whose body is JSON.
Response JsonResponse(std::string body);

}  // namespace tandem::serve
