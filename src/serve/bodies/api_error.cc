#include "serve/bodies/api_error.h"

#include "serve/bodies/json_writer.h"

namespace tandem::serve {

std::string_view ErrorType(int status) {
  if (status == 401) return "authentication_error";
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

Response ErrorResponse(int status, std::string_view code, std::string_view message) {
  Response response{.status = status};
  response.body = "{\"error\":{\"message\":";
  AppendJsonText(&response.body, message);
  response.body += ",\"type\":";
  AppendJsonText(&response.body, ErrorType(status));
  response.body += ",\"code\":";
  AppendJsonText(&response.body, code);
  response.body += "}}\n";
  return response;
}

}  // namespace tandem::serve
