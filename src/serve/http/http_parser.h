// Reads requests of HTTP/1.0 and 1.1 from bytes as they come. Only its source includes Boost.Beast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "serve/http/http_message.h"

namespace tandem::serve {

struct HttpLimits {
  size_t header_bytes = size_t{16} << 10;
  uint64_t body_bytes = uint64_t{8} << 20;
  std::string client_header;  // whose value goes to RequestHead::client; "": none
};

class HttpParser {
 public:
  enum class State {
    kHead,    // the head is not complete
    kBody,    // the head is, the body is not
    kDone,    // all of the request is there
    kFailed,  // no request that this server takes: error_status, error_message
  };

  explicit HttpParser(HttpLimits limits);
  ~HttpParser();

  // Reads from the front of `bytes` and returns how many it took. Bytes that it did not take must
  // come again, with what follows them. It stops after the head, so that the caller can refuse a
  // body before it is sent, and after the request.
  size_t Feed(std::string_view bytes);

  State state() const { return state_; }
  const RequestHead& head() const {
    return head_;
  }                           // from kBody on, and in kFailed as far as known
  size_t body_bytes() const;  // so far
  std::string TakeBody();     // in kDone
  int error_status() const { return error_status_; }
  const std::string& error_message() const { return error_message_; }

  // Prepares for the next request of the connection.
  void Reset();

 private:
  struct Beast;
  void Fail(int status, std::string message);
  void ReadFields();  // takes method, target and headers from the head
  void ReadHead();    // all of it, once it is complete; refuses what is ambiguous

  HttpLimits limits_;
  std::unique_ptr<Beast> beast_;
  State state_ = State::kHead;
  RequestHead head_;
  int error_status_ = 0;
  std::string error_message_;
};

}  // namespace tandem::serve
