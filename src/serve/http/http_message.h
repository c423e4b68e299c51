// A request's head and a response, without the library that reads or the sockets that carry them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::serve {

enum class Method { kGet, kHead, kPost, kOptions, kOther };

struct RequestHead {
  Method method = Method::kOther;
  std::string method_name;  // as it was sent
  std::string path;         // of the target, without query, as it was sent
  int version = 11;         // 10 or 11
  bool keep_alive = false;
  bool expect_continue = false;
  bool chunked = false;
  std::optional<uint64_t> content_length;
  std::string authorization;
  std::string content_type;
  std::string origin;
  std::string preflight_method;  // Access-Control-Request-Method
  std::string if_none_match;
  std::string client;  // of the header that names clients (ServerOptions::client_header); else ""

  bool has_body() const { return chunked || content_length.value_or(0) > 0; }
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers;  // further ones
  bool close = false;                                        // no request follows on the connection
};

// "Not Found" for 404; "" for a status that the server never sends.
std::string_view StatusText(int status);

// The head of the response as it is sent, with Date, Content-Length and Connection. Without a body
// (HEAD) Content-Length is still that of the body; 204 and 304 have none.
std::string ResponseHead(const Response& response, int version, bool keep_alive);

}  // namespace tandem::serve
