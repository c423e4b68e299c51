// Bytes of a connection: whatever comes, in whatever pieces, the parser goes on or fails, takes no
// more than there is, and keeps its limits.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "serve/http/http_parser.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using tandem::serve::HttpParser;
  if (size == 0) return 0;
  constexpr size_t kBody = 200;
  HttpParser parser({.header_bytes = 512, .body_bytes = kBody, .client_header = "X-Client"});
  const size_t piece = data[0] % 32 + 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    input.append(bytes.substr(at, piece));
    while (parser.state() != HttpParser::State::kFailed) {
      const size_t taken = parser.Feed(input);
      if (taken > input.size() || parser.body_bytes() > kBody) __builtin_trap();
      input.erase(0, taken);
      if (parser.state() == HttpParser::State::kDone) {
        parser.TakeBody();
        parser.Reset();
      } else if (taken == 0) {
        break;
      }
    }
    if (parser.state() == HttpParser::State::kFailed) return 0;
  }
  return 0;
}
