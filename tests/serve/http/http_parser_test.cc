#include "serve/http/http_parser.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tandem::serve {
namespace {

using State = HttpParser::State;

constexpr std::string_view kPost =
    "POST /embed?x=1 HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 4\r\n"
    "Authorization: Bearer abc\r\n\r\nbody";

// Feeds `bytes` in pieces; what the parser leaves comes again with the next piece.
State FeedInPieces(HttpParser& parser, std::string_view bytes, size_t piece) {
  std::string input;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    input.append(bytes.substr(at, piece));
    for (size_t taken = 1; taken > 0 && parser.state() != State::kDone;) {
      taken = parser.Feed(input);
      input.erase(0, taken);
    }
  }
  return parser.state();
}

int StatusOf(const std::string& bytes, HttpLimits limits = {}) {
  HttpParser parser(limits);
  FeedInPieces(parser, bytes, bytes.size());
  return parser.state() == State::kFailed ? parser.error_status() : 0;
}

TEST(HttpParserTest, ReadsRequestsThatComeInAnyPieces) {
  for (const size_t piece : {size_t{1}, size_t{2}, size_t{7}, kPost.size()}) {
    HttpParser parser({});
    ASSERT_EQ(FeedInPieces(parser, kPost, piece), State::kDone) << piece;
    EXPECT_EQ(parser.head().method, Method::kPost);
    EXPECT_EQ(parser.head().path, "/embed");
    EXPECT_EQ(parser.head().content_type, "application/json");
    EXPECT_EQ(parser.head().authorization, "Bearer abc");
    EXPECT_EQ(parser.head().content_length, 4u);
    EXPECT_TRUE(parser.head().keep_alive);
    EXPECT_EQ(parser.TakeBody(), "body");
  }
}

TEST(HttpParserTest, StopsBehindTheHeadAndBehindTheRequest) {
  HttpParser parser({});
  const std::string two = std::string(kPost) + std::string(kPost);
  size_t taken = parser.Feed(two);
  EXPECT_EQ(parser.state(), State::kBody);
  EXPECT_EQ(taken, kPost.size() - 4);
  taken += parser.Feed(std::string_view(two).substr(taken));
  EXPECT_EQ(parser.state(), State::kDone);
  EXPECT_EQ(taken, kPost.size());
  parser.Reset();
  EXPECT_EQ(FeedInPieces(parser, kPost, 3), State::kDone);
}

TEST(HttpParserTest, ReadsChunkedBodies) {
  const std::string request =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "3;name=value\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nTrailer: t\r\n\r\n";
  for (const size_t piece : {size_t{1}, size_t{5}, request.size()}) {
    HttpParser parser({});
    ASSERT_EQ(FeedInPieces(parser, request, piece), State::kDone) << piece;
    EXPECT_EQ(parser.TakeBody(), "abc0123456789abcdef");
  }
  HttpParser parser({});
  const std::string empty =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  EXPECT_EQ(FeedInPieces(parser, empty, 1), State::kDone);
  EXPECT_EQ(parser.TakeBody(), "");
}

TEST(HttpParserTest, HoldsLimits) {
  const HttpLimits limits{.header_bytes = 256, .body_bytes = 10};
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(StatusOf(start + "X: " + std::string(300, 'x') + "\r\n\r\n", limits), 431);
  EXPECT_EQ(StatusOf(start + "X: " + std::string(300, 'x'), limits), 431);
  EXPECT_EQ(StatusOf(start + "Content-Length: 11\r\n\r\n", limits), 413);
  EXPECT_EQ(StatusOf(start + "Content-Length: 1000000000000\r\n\r\n", limits), 413);
  EXPECT_EQ(
      StatusOf(start + "Transfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n6\r\nabcdef\r\n", limits),
      413);
  EXPECT_EQ(StatusOf(start + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", limits),
            413);
  EXPECT_EQ(StatusOf(start + "Content-Length: 10\r\n\r\n0123456789", limits), 0);
}

TEST(HttpParserTest, RefusesWhatIsAmbiguousOrBroken) {
  const std::string start = "POST / HTTP/1.1\r\nHost: h\r\n";
  EXPECT_EQ(StatusOf("\x16\x03\x01 TLS\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n\r\n"), 400);  // no Host
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\nHost: h\r\n\r\n"), 505);
  EXPECT_EQ(StatusOf(start + "Host: other\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Content-Length: -1\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Transfer-Encoding: chunked\r\n\r\nzz\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Transfer-Encoding: gzip\r\n\r\n"), 501);
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  EXPECT_EQ(StatusOf(start + "Expect: something\r\n\r\n"), 417);
  EXPECT_EQ(StatusOf(start + std::string("X: a\0b\r\n\r\n", 10)), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n\r\n"), 0);
}

TEST(HttpParserTest, KnowsTargetsAndExpectations) {
  HttpParser parser({.client_header = "X-Client"});
  FeedInPieces(parser,
               "POST http://other/v1/models#f HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\n"
               "Connection: close\r\nx-client: me\r\nContent-Length: 1\r\n\r\n",
               1000);
  ASSERT_EQ(parser.state(), State::kBody);
  EXPECT_EQ(parser.head().path, "/v1/models");
  EXPECT_TRUE(parser.head().expect_continue);
  EXPECT_FALSE(parser.head().keep_alive);
  EXPECT_EQ(parser.head().client, "me");
}

}  // namespace
}  // namespace tandem::serve
