// The server over real sockets: slow, greedy and broken clients, and what bounds them.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "serve/running_server.h"

namespace tandem::serve {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

std::string Bulk(size_t texts) {
  json list = json::array();
  for (size_t i = 0; i < texts; ++i) list.push_back("bulk " + std::to_string(i));
  return PostRequest("/embed", json{{"texts", list}}.dump());
}

// Sends a search, whose 50,000 passages of 5 tokens each then wait at the gate.
void SearchUpToPassages(Gated& gated, HttpClient& client) {
  gated.running.backend().passages = 50'000;
  gated.running.backend().before_batch = [&](std::span<const EncodeItem> batch) {
    if (batch.size() > 1) gated.gate.Wait();
  };
  client.Send(PostRequest("/search", R"({"query": "a"})"));
  gated.gate.AwaitWaiting();
}

TEST(ServerLimitsTest, SlowClientsAreCutOffAndOthersServed) {
  Running running({.head = 300ms, .body = 300ms});
  HttpClient silent(running.port()), head(running.port()), body(running.port());
  head.Send("POST /embed HT");
  const std::string request = PostRequest("/embed", R"({"texts": "a"})");
  body.Send(request.substr(0, request.size() - 3));
  HttpClient second(running.port());
  ASSERT_EQ(second.Ask(GetRequest("/health")).status, 200);
  second.Send("GET /health HTTP/1.1\r\n");  // a whole line
  EXPECT_EQ(second.Read().status, 408);
  EXPECT_EQ(head.Read().status, 408);
  EXPECT_EQ(body.Read().status, 408);
  EXPECT_EQ(silent.Read().status, 0);
  EXPECT_TRUE(silent.Ended());
}

TEST(ServerLimitsTest, ALargeBodyIsRefusedBeforeItIsRead) {
  Running running;
  HttpClient client(running.port());
  client.Send(
      "POST /embed HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n"
      "Content-Length: 1000000000\r\n\r\n");
  client.Send(std::string(1 << 20, ' '));
  EXPECT_EQ(client.Read().status, 413);
  EXPECT_EQ(running.Ask(GetRequest("/health")).status, 200);
}

TEST(ServerLimitsTest, MemoryOfBodiesIsBounded) {
  Running running({.held_bytes = 300'000});
  const std::string long_one = PostRequest("/embed", std::string(200'000, ' '));
  const size_t head = long_one.size() - 200'000;
  HttpClient first(running.port()), second(running.port()), third(running.port());
  first.Send(long_one.substr(0, head + 140'000));
  second.Send(long_one.substr(0, head + 140'000));
  ASSERT_TRUE(Eventually([&] {
    return running.Ask(GetRequest("/metrics")).body.find("tandem_held_bytes 280000\n") !=
           std::string::npos;
  }));
  third.Send(long_one.substr(0, head + 140'000));
  const ClientResponse refused = third.Read();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(ErrorCode(refused), "memory_full");
  EXPECT_EQ(running.Ask(PostRequest("/embed", R"({"texts": "small"})")).status, 200);
}

TEST(ServerLimitsTest, AnswersThatNobodyReadsGiveWayWhenMemoryIsFull) {
  Running running({.held_bytes = 1'000'000}, {.limits = {.texts = 100'000}});
  HttpClient slow(running.port());
  // More than sockets take: what is left of the answer stays in memory.
  slow.Send(
      PostRequest("/embed", json{{"texts", std::vector<std::string>(100'000, "a b c")}}.dump()));
  EXPECT_TRUE(Eventually([&] {
    return running.Ask(GetRequest("/metrics")).body.find("_evicted_total 1\n") != std::string::npos;
  }));
}

TEST(ServerLimitsTest, AFullServerClosesTheConnectionThatWaitsLongest) {
  Running running({.max_connections = 4});
  std::vector<std::unique_ptr<HttpClient>> idle;
  for (int i = 0; i < 4; ++i) {
    idle.push_back(std::make_unique<HttpClient>(running.port()));
    ASSERT_EQ(idle.back()->Ask(GetRequest("/health")).status, 200);
  }
  EXPECT_EQ(running.Ask(GetRequest("/health")).status, 200);
  EXPECT_TRUE(idle.front()->Ended());
  EXPECT_EQ(idle.back()->Ask(GetRequest("/health")).status, 200);
}

TEST(ServerLimitsTest, WhoOpensManyConnectionsClosesNoneOfAnothers) {
  Running running({.max_connections = 4});
  HttpClient other(running.port());
  ASSERT_EQ(other.Ask(GetRequest("/health")).status, 200);
  std::vector<std::unique_ptr<HttpClient>> greedy;
  for (int i = 0; i < 8; ++i) {
    greedy.push_back(std::make_unique<HttpClient>(running.port(), "127.0.0.2"));
    ASSERT_EQ(greedy.back()->Ask(GetRequest("/health")).status, 200);
  }
  EXPECT_EQ(other.Ask(GetRequest("/health")).status, 200);
  EXPECT_TRUE(greedy.front()->Ended());
}

TEST(ServerLimitsTest, AFullQueueSaysWhenToComeAgain) {
  Gated gated({}, {.queue_tokens = 100});
  HttpClient first(gated.running.port()), second(gated.running.port()), third(gated.running.port());
  first.Send(PostRequest("/embed", R"({"texts": "a"})"));
  gated.gate.AwaitWaiting();
  second.Send(Bulk(40));  // an empty queue takes it
  ASSERT_TRUE(Eventually([&] { return gated.running.service().queue().texts() == 40; }));
  const ClientResponse full = third.Ask(PostRequest("/embed", R"({"texts": "a"})"));
  EXPECT_EQ(full.status, 429);
  EXPECT_TRUE(full.headers.contains("Retry-After"));
  EXPECT_EQ(ErrorCode(full), "queue_full");
  gated.gate.Open();
  EXPECT_EQ(second.Read().status, 200);
  EXPECT_EQ(third.Ask(PostRequest("/embed", R"({"texts": "a"})")).status, 200);
}

// Short texts of which a queue has room for many.
TEST(ServerLimitsTest, MemoryOfEmbeddingsIsBounded) {
  Gated gated({}, {.queue_tokens = 1'000'000, .work_bytes = 500'000});
  HttpClient first(gated.running.port()), second(gated.running.port()), third(gated.running.port());
  first.Send(PostRequest("/embed", R"({"texts": "a"})"));
  gated.gate.AwaitWaiting();
  second.Send(Bulk(2000));
  auto& queue = gated.running.service().queue();
  ASSERT_TRUE(Eventually([&] { return queue.texts() == 2000; }));
  const ClientResponse refused = third.Ask(Bulk(2000));
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(ErrorCode(refused), "memory_full");
  EXPECT_TRUE(refused.headers.contains("Retry-After"));
  EXPECT_EQ(queue.texts(), 2000u);
  gated.gate.Open();
  EXPECT_EQ(second.Read().status, 200);
  // A client may read its answer before the server's thread has dropped what it was made from.
  const auto nothing_held = [&] {
    return third.Ask(GetRequest("/metrics")).body.find("tandem_work_bytes 0\n") !=
           std::string::npos;
  };
  ASSERT_TRUE(Eventually(nothing_held));
  EXPECT_EQ(third.Ask(Bulk(2000)).status, 200);
  EXPECT_TRUE(Eventually(nothing_held));
}

TEST(ServerLimitsTest, PassagesOfASearchDoNotFillTheQueueForOthers) {
  Gated gated;
  HttpClient client(gated.running.port());
  SearchUpToPassages(gated, client);
  EXPECT_TRUE(gated.running.service().queue().Takes("another client", 100, 16'384));
  gated.gate.Open();
  EXPECT_EQ(client.Read().status, 200);
  EXPECT_GE(gated.running.backend().texts_encoded, 50'001u);
}

TEST(ServerLimitsTest, SearchesThatWaitForPassagesHoldUpNoOthers) {
  Running running({.http = {.client_header = "X-Client"}});
  running.backend().passages = 20'000;
  running.backend().nanoseconds_per_token = 5'000;  // half a second for a search
  std::vector<std::unique_ptr<HttpClient>> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(std::make_unique<HttpClient>(running.port()));
    greedy.back()->Send(PostRequest("/search", R"({"query": "a"})", "X-Client: greedy\r\n"));
  }
  ASSERT_TRUE(Eventually([&] { return running.backend().texts_encoded > 100; }));
  const ClientResponse quick = running.Ask(
      PostRequest("/search", R"({"query": "a", "highlight": false})", "X-Client: other\r\n"));
  EXPECT_EQ(quick.status, 200);
  EXPECT_LT(running.backend().texts_encoded, 20'000u);  // before a search of the other is done
}

TEST(ServerLimitsTest, WorkOfClientsThatWentAwayIsDropped) {
  Gated gated;
  HttpClient first(gated.running.port());
  first.Send(PostRequest("/embed", R"({"texts": "a"})"));
  gated.gate.AwaitWaiting();
  auto& queue = gated.running.service().queue();
  HttpClient reset(gated.running.port());
  reset.Send(Bulk(5));
  ASSERT_TRUE(Eventually([&] { return queue.texts() == 5; }));
  reset.Reset();
  EXPECT_TRUE(Eventually([&] { return queue.texts() == 0; }));
  HttpClient many(gated.running.port()), few(gated.running.port());
  many.Send(Bulk(200));
  many.EndSending();  // as close() looks like from here
  few.Send(Bulk(3));
  few.EndSending();
  EXPECT_TRUE(Eventually([&] { return queue.texts() == 3; }));
  EXPECT_TRUE(many.Ended());
  gated.gate.Open();
  EXPECT_EQ(first.Read().status, 200);
  EXPECT_EQ(few.Read().status, 200);  // may have closed its sending side only
  EXPECT_TRUE(few.Ended());
}

TEST(ServerLimitsTest, PassagesOfClientsThatWentAwayAreDropped) {
  Gated gated;
  HttpClient client(gated.running.port());
  SearchUpToPassages(gated, client);
  client.EndSending();  // as close() looks like from here
  EXPECT_TRUE(client.Ended());
  gated.gate.Open();
  EXPECT_TRUE(Eventually([&] { return gated.running.service().queue().texts() == 0; }));
  EXPECT_LT(gated.running.backend().texts_encoded, 10'000u);
}

TEST(ServerLimitsTest, ARequestThatTakesTooLongGetsAnAnswer) {
  Gated gated({.answer = 200ms});
  const ClientResponse response = gated.running.Ask(PostRequest("/embed", R"({"texts": "a"})"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(ErrorCode(response), "timeout");
}

TEST(ServerLimitsTest, AFaultOfTheEncoderIsTheServersAndItGoesOn) {
  Running running;
  std::atomic<bool> fail = true;
  running.backend().before_batch = [&](std::span<const EncodeItem>) {
    if (fail.exchange(false)) throw std::runtime_error("broken");
  };
  EXPECT_EQ(running.Ask(PostRequest("/embed", R"({"texts": "a"})")).status, 500);
  EXPECT_EQ(running.Ask(PostRequest("/embed", R"({"texts": "a"})")).status, 200);
}

}  // namespace
}  // namespace tandem::serve
