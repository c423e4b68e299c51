#include "serve/http/http_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/verb.hpp>
#include <optional>
#include <utility>

namespace tandem::serve {
namespace {

namespace http = boost::beast::http;
using Parser = http::request_parser<http::string_body>;
using Fields = http::request<http::string_body>;

// "0\r\n\r\n": every chunked body has at least these bytes still to come. Beast asserts that it
// gets no fewer once it has seen the 0.
constexpr size_t kLastChunkBytes = 5;

Method MethodOf(http::verb verb) {
  switch (verb) {
    case http::verb::get:
      return Method::kGet;
    case http::verb::head:
      return Method::kHead;
    case http::verb::post:
      return Method::kPost;
    case http::verb::options:
      return Method::kOptions;
    default:
      return Method::kOther;
  }
}

template <typename Name>
std::string Value(const Fields& fields, Name name) {
  const auto value = fields[name];
  return {value.data(), value.size()};
}

// The path of "/path?query", and of "http://host/path", which a proxy may send.
std::string PathOf(std::string_view target) {
  if (target.substr(0, 7) == "http://" || target.substr(0, 8) == "https://") {
    const size_t slash = target.find('/', 8);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return std::string(target.substr(0, target.find_first_of("?#")));
}

bool Equal(std::string_view a, std::string_view lower) {
  return std::equal(a.begin(), a.end(), lower.begin(), lower.end(), [](char x, char y) {
    return (x >= 'A' && x <= 'Z' ? static_cast<char>(x - 'A' + 'a') : x) == y;
  });
}

// A header that decides what a request means must not come twice: two programs would take
// different ones.
std::string_view Repeated(const Fields& fields) {
  constexpr std::pair<http::field, std::string_view> kOnce[] = {
      {http::field::host, "Host"},
      {http::field::authorization, "Authorization"},
      {http::field::content_type, "Content-Type"},
      {http::field::content_length, "Content-Length"},
      {http::field::transfer_encoding, "Transfer-Encoding"}};
  for (const auto& [field, name] : kOnce) {
    if (fields.count(field) > 1) return name;
  }
  return "";
}

}  // namespace

struct HttpParser::Beast {
  std::optional<Parser> parser;
};

HttpParser::HttpParser(HttpLimits limits)
    : limits_(std::move(limits)), beast_(std::make_unique<Beast>()) {
  Reset();
}
HttpParser::~HttpParser() = default;

void HttpParser::Reset() {
  beast_->parser.emplace();
  beast_->parser->header_limit(static_cast<uint32_t>(limits_.header_bytes));
  beast_->parser->body_limit(limits_.body_bytes);
  state_ = State::kHead;
  head_ = {};
  error_status_ = 0;
  error_message_.clear();
}

void HttpParser::Fail(int status, std::string message) {
  state_ = State::kFailed;
  error_status_ = status;
  error_message_ = std::move(message);
}

void HttpParser::ReadFields() {
  const Fields& fields = beast_->parser->get();
  head_.method = MethodOf(fields.method());
  const auto method = fields.method_string();
  head_.method_name.assign(method.data(), method.size());
  const auto target = fields.target();
  head_.path = PathOf({target.data(), target.size()});
  head_.version = static_cast<int>(fields.version());
  head_.authorization = Value(fields, http::field::authorization);
  head_.content_type = Value(fields, http::field::content_type);
  head_.origin = Value(fields, http::field::origin);
  head_.preflight_method = Value(fields, http::field::access_control_request_method);
  head_.if_none_match = Value(fields, http::field::if_none_match);
  if (!limits_.client_header.empty()) head_.client = Value(fields, limits_.client_header);
}

void HttpParser::ReadHead() {
  ReadFields();
  const Fields& fields = beast_->parser->get();
  head_.keep_alive = beast_->parser->keep_alive();
  head_.chunked = beast_->parser->chunked();
  if (const auto length = beast_->parser->content_length()) head_.content_length = *length;
  const std::string expect = Value(fields, http::field::expect);
  if (const std::string_view name = Repeated(fields); !name.empty()) {
    return Fail(400, fmt::format("the header {} comes twice", name));
  }
  if (head_.version == 11 && fields.count(http::field::host) == 0) {
    return Fail(400, "a request of HTTP/1.1 needs a Host header");
  }
  if (!expect.empty() && !Equal(expect, "100-continue")) {
    return Fail(417, "the only expectation that this server knows is 100-continue");
  }
  if (fields.count(http::field::transfer_encoding) > 0 && !head_.chunked) {
    return Fail(501, "the only transfer encoding that this server reads is chunked");
  }
  if (head_.version == 10 && head_.chunked) {
    // A proxy of HTTP/1.0 would not know where the body ends.
    return Fail(400, "HTTP/1.0 has no chunked bodies; give Content-Length");
  }
  head_.expect_continue = !expect.empty() && head_.version == 11;
}

size_t HttpParser::Feed(std::string_view bytes) {
  size_t taken = 0;
  while (state_ == State::kHead || state_ == State::kBody) {
    if (state_ == State::kBody && head_.chunked && bytes.size() - taken < kLastChunkBytes) {
      return taken;
    }
    boost::system::error_code error;
    Parser& parser = *beast_->parser;
    const size_t now =
        parser.put(boost::asio::buffer(bytes.data() + taken, bytes.size() - taken), error);
    taken += now;
    if (error == http::error::need_more) {
      if (now == 0 || taken == bytes.size()) return taken;
      continue;
    }
    if (error == http::error::header_limit) {
      Fail(431, fmt::format("the headers are longer than {} bytes", limits_.header_bytes));
    } else if (error == http::error::body_limit) {
      ReadFields();  // Beast does not say more of a head that it refuses
      Fail(413, fmt::format("the body is longer than {} bytes", limits_.body_bytes));
    } else if (error == http::error::bad_version) {
      Fail(505, "this server speaks HTTP/1.0 and HTTP/1.1");
    } else if (error) {
      Fail(400, "not a request of HTTP/1.1: " + error.message());
    } else if (state_ == State::kHead && parser.is_header_done()) {
      state_ = parser.is_done() ? State::kDone : State::kBody;
      ReadHead();
      return taken;
    } else if (parser.is_done()) {
      state_ = State::kDone;
    } else if (now == 0) {
      return taken;
    }
  }
  return taken;
}

size_t HttpParser::body_bytes() const { return beast_->parser->get().body().size(); }

std::string HttpParser::TakeBody() { return std::move(beast_->parser->get().body()); }

}  // namespace tandem::serve
