// The server over real sockets: what it answers, and how it ends.
#include "serve/http/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "serve/bodies/json_writer.h"
#include "serve/running_server.h"

namespace tandem::serve {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using testing::HasSubstr;

// The embedding that the fake backend gives a text, as JSON.
json EmbeddingOf(const std::string& text, TextKind kind = TextKind::kDocument) {
  const FakeBackend backend;
  text::EncodedTexts texts;
  backend.Tokenize(text, kind, &texts);
  std::vector<float> row(FakeBackend::kWidth);
  FakeBackend::EmbeddingOf(texts[0], row.data());
  std::string out;
  AppendJsonFloats(&out, row);
  return json::parse(out);
}

TEST(ServerTest, GivesEmbeddingsAsOpenAi) {
  Running running;
  const ClientResponse response = running.Ask(PostRequest(
      "/v1/embeddings", R"({"input": ["one two", "three"], "model": "fake", "user": "u"})"));
  ASSERT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("Content-Type"), "application/json");
  const json body = json::parse(response.body);
  EXPECT_EQ(body["object"], "list");
  EXPECT_EQ(body["model"], "fake");
  EXPECT_EQ(body["data"][0]["embedding"], EmbeddingOf("one two"));
  EXPECT_EQ(body["data"][1]["embedding"], EmbeddingOf("three"));
  EXPECT_EQ(body["data"][1]["index"], 1);
  EXPECT_EQ(body["usage"]["total_tokens"], 5);
  const json query = json::parse(
      running.Ask(PostRequest("/embed", R"({"texts": "one two", "input_type": "query"})")).body);
  EXPECT_EQ(query["embeddings"][0], EmbeddingOf("one two", TextKind::kQuery));
}

TEST(ServerTest, AnswersSimilarityAndSearch) {
  Running running;
  const json similarity = json::parse(
      running.Ask(PostRequest("/similarity", R"({"query": "a", "documents": ["a", "b c"]})")).body);
  EXPECT_EQ(similarity["scores"].size(), 2u);
  EXPECT_EQ(similarity["probabilities"].size(), 2u);
  const json one = json::parse(
      running.Ask(PostRequest("/search", R"({"query": "a", "k": 2, "min_score": 0.95})")).body);
  ASSERT_EQ(one["results"].size(), 1u);
  EXPECT_EQ(one["results"][0]["id"], "d1");
  EXPECT_EQ(one["results"][0]["highlight"]["text"], "Alpha is \"first\".");
  const json two = json::parse(
      running.Ask(PostRequest("/search", R"({"queries": ["a", "b"], "texts": false})")).body);
  ASSERT_EQ(two["results"].size(), 2u);
  EXPECT_FALSE(two["results"][0][0].contains("text"));
  const ClientResponse wrong =
      running.Ask(PostRequest("/search", R"({"query": "a", "filter": {"no_such_field": 1}})"));
  EXPECT_EQ(wrong.status, 400);
  EXPECT_THAT(wrong.body, HasSubstr("no_such_field"));
  Running without({}, {}, [] { return std::make_shared<FakeBackend>(); });
  EXPECT_EQ(ErrorCode(without.Ask(PostRequest("/search", R"({"query": "a"})"))), "no_index");
}

// src/serve/page/page.js reads it like this.
TEST(ServerTest, DescribesModelIndexAndLimits) {
  Running running({}, {.limits = {.texts = 7, .queries = 5, .k = 3}});
  const json info = json::parse(running.Ask(GetRequest("/info")).body);
  EXPECT_EQ(info["model"]["name"], "fake");
  EXPECT_EQ(info["model"]["calibrated"], true);
  EXPECT_EQ(info["index"]["documents"], 3);
  EXPECT_EQ(info["index"]["fields"], json::parse(R"([{"name": "lang", "type": "string"},
                            {"name": "year", "type": "number"}])"));
  EXPECT_EQ(info["limits"], json::parse(R"({"texts": 7, "queries": 5, "k": 3})"));
}

TEST(ServerTest, SaysWhatIsWrongWithTheRightStatus) {
  Running running({.http = {.body_bytes = 1000}});
  const auto status = [&](const std::string& request) { return running.Ask(request).status; };
  EXPECT_EQ(status(GetRequest("/nothing")), 404);
  EXPECT_EQ(running.Ask(GetRequest("/embed")).headers["Allow"], "POST, OPTIONS");
  EXPECT_EQ(status(PostRequest("/health", "{}")), 405);
  EXPECT_EQ(status("DELETE /embed HTTP/1.1\r\nHost: h\r\n\r\n"), 405);
  EXPECT_EQ(status("POST /embed HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"), 415);
  EXPECT_EQ(status("POST /embed HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n\r\n"),
            411);
  EXPECT_EQ(status(PostRequest("/embed", "{")), 400);
  EXPECT_EQ(status(PostRequest("/embed", std::string(1001, ' '))), 413);
  EXPECT_EQ(status("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(20'000, 'x')), 431);
  EXPECT_EQ(status("nonsense\r\n\r\n"), 400);
  EXPECT_EQ(
      ErrorCode(running.Ask(PostRequest("/v1/embeddings", R"({"input": "a", "model": "gpt-4"})"))),
      "model_not_found");
  EXPECT_EQ(ErrorCode(running.Ask(PostRequest("/embed", R"({"texts": "a", "dimensions": 9})"))),
            "out_of_range");
}

TEST(ServerTest, AnAnswerOfLongTextsIsRefusedBeforeItIsMade) {
  Running running({}, {.limits = {.answer_bytes = 200}});
  const ClientResponse refused = running.Ask(PostRequest("/search", R"({"query": "a"})"));
  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(ErrorCode(refused), "answer_too_long");
  EXPECT_EQ(running.Ask(PostRequest("/search", R"({"query": "a", "k": 1})")).status, 200);
}

TEST(ServerTest, KeepsConnectionsAndAnswersPipelinedRequestsInOrder) {
  Running running;
  HttpClient client(running.port());
  std::string requests;
  for (int i = 0; i < 20; ++i) {
    requests += PostRequest("/embed", R"({"texts": "t)" + std::to_string(i) + "\"}");
  }
  client.Send(requests);
  for (int i = 0; i < 20; ++i) {
    const ClientResponse response = client.Read();
    ASSERT_EQ(response.status, 200);
    EXPECT_EQ(json::parse(response.body)["embeddings"][0], EmbeddingOf("t" + std::to_string(i)));
  }
  EXPECT_EQ(client.Ask(GetRequest("/health", "Connection: close\r\n")).headers["Connection"],
            "close");
  EXPECT_TRUE(client.Ended());
  HttpClient sender(running.port());
  sender.Send(requests + "GET /health HTT");
  sender.EndSending();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(sender.Read().status, 200) << i;
  EXPECT_TRUE(sender.Ended());
  HttpClient old(running.port());
  EXPECT_EQ(old.Ask("GET /health HTTP/1.0\r\n\r\n").status, 200);
  EXPECT_TRUE(old.Ended());
}

TEST(ServerTest, TakesChunkedBodiesExpectationsAndHead) {
  Running running;
  HttpClient client(running.port());
  const std::string body = R"({"texts": "a b"})";
  const std::string head =
      "POST /embed HTTP/1.1\r\nHost: h\r\nContent-Type: application/json; charset=utf-8\r\n";
  client.Send(head + "Transfer-Encoding: chunked\r\n\r\n");
  for (const char c : body) client.Send(std::string("1\r\n") + c + "\r\n");
  EXPECT_EQ(client.Ask("0\r\n\r\n").status, 200);
  client.Send(head + "Expect: 100-continue\r\nContent-Length: " + std::to_string(body.size()) +
              "\r\n\r\n");
  EXPECT_EQ(client.Read().status, 100);
  EXPECT_EQ(client.Ask(body).status, 200);
  client.Send("HEAD /health HTTP/1.1\r\nHost: h\r\n\r\n");
  const ClientResponse response = client.Read(true);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.headers.at("Content-Length"), "16");
  EXPECT_EQ(client.Ask(GetRequest("/health")).status, 200);
}

TEST(ServerTest, ServesThePageWithAPolicyAndTags) {
  Running running;
  const ClientResponse page = running.Ask(GetRequest("/"));
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.headers.at("Content-Security-Policy"), HasSubstr("default-src 'none'"));
  const std::string tag = page.headers.at("ETag");
  EXPECT_EQ(running.Ask(GetRequest("/", "If-None-Match: " + tag + "\r\n")).status, 304);
  EXPECT_EQ(running.Ask(GetRequest("/page.js")).headers["Content-Type"],
            "text/javascript; charset=utf-8");
}

TEST(ServerTest, AsksForTokens) {
  Running running({}, {.tokens = {"0123456789abcdef", "another-long-token"}});
  const ClientResponse missing = running.Ask(GetRequest("/info"));
  EXPECT_EQ(missing.status, 401);
  EXPECT_EQ(missing.headers.at("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(ErrorCode(missing), "missing_token");
  EXPECT_EQ(
      ErrorCode(running.Ask(GetRequest("/info", "Authorization: Bearer 0123456789abcdeX\r\n"))),
      "invalid_token");
  EXPECT_EQ(running.Ask(GetRequest("/info", "Authorization: Basic 0123456789abcdef\r\n")).status,
            401);
  EXPECT_EQ(running.Ask(GetRequest("/info", "authorization: bearer another-long-token\r\n")).status,
            200);
  EXPECT_EQ(running.Ask(GetRequest("/health")).status, 200);
  EXPECT_EQ(running.Ask(GetRequest("/metrics")).status, 401);
}

TEST(ServerTest, OtherOriginsOnlyByChoice) {
  const std::string preflight =
      "OPTIONS /embed HTTP/1.1\r\nHost: h\r\nOrigin: https://a.org\r\n"
      "Access-Control-Request-Method: POST\r\n\r\n";
  Running closed;
  EXPECT_FALSE(closed.Ask(preflight).headers.contains("Access-Control-Allow-Origin"));
  Running open({}, {.origins = {"https://a.org"}});
  const ClientResponse allowed = open.Ask(preflight);
  EXPECT_EQ(allowed.status, 204);
  EXPECT_EQ(allowed.headers.at("Access-Control-Allow-Origin"), "https://a.org");
  EXPECT_THAT(allowed.headers.at("Access-Control-Allow-Headers"), HasSubstr("authorization"));
  // OpenAI's client for browsers sends headers of its own; * leaves out Authorization.
  EXPECT_THAT(allowed.headers.at("Access-Control-Allow-Headers"), HasSubstr("*"));
  EXPECT_FALSE(open.Ask(GetRequest("/health", "Origin: https://b.org\r\n"))
                   .headers.contains("Access-Control-Allow-Origin"));
}

TEST(ServerTest, DrainsWhenItStops) {
  Gated gated;
  HttpClient busy(gated.running.port()), idle(gated.running.port());
  ASSERT_EQ(idle.Ask(GetRequest("/health")).status, 200);
  busy.Send(PostRequest("/embed", R"({"texts": "a"})"));
  gated.gate.AwaitWaiting();
  gated.running.server().Stop();
  ASSERT_TRUE(Eventually([&] { return gated.running.service().draining(); }));
  const ClientResponse late = idle.Ask(GetRequest("/health"));
  EXPECT_EQ(late.status, 503);
  EXPECT_EQ(ErrorCode(late), "draining");
  EXPECT_TRUE(idle.Ended());
  EXPECT_FALSE(HttpClient(gated.running.port()).connected());
  gated.gate.Open();
  const ClientResponse last = busy.Read();
  EXPECT_EQ(last.status, 200);
  EXPECT_EQ(last.headers.at("Connection"), "close");
  EXPECT_TRUE(busy.Ended());
}

TEST(ServerTest, DrainingAnswersThoseThatWaitToBeAccepted) {
  Service service([] { return std::make_shared<FakeBackend>(); }, {});
  Server server(service, {.port = 0});
  std::vector<std::unique_ptr<HttpClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<HttpClient>(server.port()));
    clients.back()->Send(GetRequest("/health"));
  }
  server.Stop();
  std::thread thread([&] { server.Run(); });
  for (const auto& client : clients) EXPECT_EQ(client->Read().status, 503);
  thread.join();
}

TEST(ServerTest, SwapsWithoutALostRequest) {
  std::atomic<int> opened = 0;
  std::atomic<bool> broken = false;
  Running running({}, {}, [&]() -> std::shared_ptr<Backend> {
    if (broken) throw UsageError("no index any more");
    return std::make_shared<FakeBackend>(true, "model " + std::to_string(++opened));
  });
  std::atomic<bool> stop = false;
  std::atomic<size_t> good = 0, bad = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 3; ++t) {
    clients.emplace_back([&] {
      HttpClient client(running.port());
      while (!stop) {
        ++(client.Ask(PostRequest("/embed", R"({"texts": ["a", "b c"]})")).status == 200 ? good
                                                                                         : bad);
      }
    });
  }
  for (int swap = 2; swap < 12; ++swap) {
    running.server().Reload();
    ASSERT_TRUE(Eventually([&] { return opened >= swap; }));
  }
  broken = true;
  running.server().Reload();
  ASSERT_TRUE(Eventually([&] {
    return running.Ask(GetRequest("/metrics")).body.find("{result=\"failed\"} 1") !=
           std::string::npos;
  }));
  stop = true;
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(bad, 0u);
  EXPECT_GT(good, 0u);
  EXPECT_THAT(running.Ask(GetRequest("/info")).body, HasSubstr("model 11"));
}

TEST(ServerTest, ManyClientsGetTheirOwnEmbeddings) {
  Running running;
  std::atomic<size_t> wrong = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 8; ++t) {
    clients.emplace_back([&, t] {
      HttpClient client(running.port());
      for (int i = 0; i < 40; ++i) {
        const std::string text = "client " + std::to_string(t) + " text " + std::to_string(i);
        const ClientResponse response =
            client.Ask(PostRequest("/embed", json{{"texts", {text, "x"}}}.dump()));
        const json body = json::parse(response.body, nullptr, false);
        wrong += response.status != 200 || body["embeddings"][0] != EmbeddingOf(text);
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0u);
  const std::string metrics = running.Ask(GetRequest("/metrics")).body;
  EXPECT_THAT(metrics, HasSubstr("tandem_requests_total{route=\"/embed\",code=\"200\"} 320"));
  EXPECT_THAT(metrics, HasSubstr("tandem_encoded_texts_total 640"));
}

TEST(ServerTest, APortInUseIsSaid) {
  Running running;
  Service service([] { return std::make_shared<FakeBackend>(); }, {});
  try {
    const Server second(service, {.port = running.port()});
    FAIL() << "it listens";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("choose another --port"));
  }
  EXPECT_THROW(Server(service, {.host = "no.such.host.invalid", .port = 0}), UsageError);
}

TEST(ServerTest, ListensOnIpv6) {
  Service service([] { return std::make_shared<FakeBackend>(); }, {});
  try {
    const Server server(service, {.host = "[::1]", .port = 0});
    EXPECT_THAT(server.address(), testing::StartsWith("http://[::1]:"));
  } catch (const UsageError&) {
    GTEST_SKIP() << "this machine has no IPv6";
  }
}

}  // namespace
}  // namespace tandem::serve
