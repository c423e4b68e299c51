// Errors that clients get: {"error": {"message", "type", "code"}} with a status.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "serve/http/http_message.h"

namespace tandem::serve {

class ApiError : public std::runtime_error {
 public:
  // `code` is a stable word for programs, `message` is for people.
  ApiError(int status, std::string_view code, const std::string& message)
      : std::runtime_error(message), status_(status), code_(code) {}
  int status() const { return status_; }
  const std::string& code() const { return code_; }

 private:
  int status_;
  std::string code_;
};

// Gives OpenAI's type: "invalid_request_error", "authentication_error", "rate_limit_error",
// "server_error".
std::string_view ErrorType(int status);

Response ErrorResponse(int status, std::string_view code, std::string_view message);

}  // namespace tandem::serve
