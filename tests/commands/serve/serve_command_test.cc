// `tandem serve` as a process: what it refuses, that it gives what `encode` gives, and how it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/process/asked_forms.h"
#include "commands/model_commands_fixture.h"
#include "serve/http_client.h"

namespace tandem {
namespace {

using nlohmann::json;
using serve::HttpClient;
using serve::PostRequest;
using testing::HasSubstr;

class ServeCommandTest : public ModelCommandsTest {
 protected:
  ~ServeCommandTest() override {
    if (server_ > 0) {
      ::kill(server_, SIGKILL);
      ::waitpid(server_, nullptr, 0);
    }
  }

  ProgramResult Refused(std::vector<std::string> flags) const {
    flags.insert(flags.begin(), {"serve", Path("model")});
    return RunTandem(flags);
  }

  // Starts a server at a free port, and returns the port once it answers; 0 where it does not.
  uint16_t Start(const std::vector<std::string>& flags = {}) {
    return StartServing(Path("model"), flags);
  }
  uint16_t StartServing(const std::string& served, const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"serve", served, "--port", "0"};
    words.insert(words.end(), flags.begin(), flags.end());
    server_ = StartTandem(words, {.err = log()});
    for (int i = 0; i < 600; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!std::filesystem::exists(log())) continue;
      const std::string text = ReadFile(log());
      const size_t at = text.find(" at http://");
      if (at == std::string::npos || text.find('\n', at) == std::string::npos) continue;
      return static_cast<uint16_t>(std::stoi(text.substr(text.find(':', at + 11) + 1)));
    }
    return 0;
  }

  int Stop(int signal) {
    ::kill(server_, signal);
    int status = 0;
    ::waitpid(server_, &status, 0);
    server_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  std::filesystem::path log() const { return Path("log"); }
  pid_t server_ = -1;
};

TEST_F(ServeCommandTest, RefusesWhatCannotBeBeforeItLoadsAnything) {
  const auto expect = [&](const std::vector<std::string>& flags, int code, const char* message) {
    const ProgramResult result = Refused(flags);
    EXPECT_EQ(result.exit_code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr(message));
  };
  expect({"--port", "65536"}, 2, "--port");
  expect({"--by-document"}, 2, "is no index: --by-document is for the hits of an index");
  expect({"--cors", "example.org"}, 2, "expected an origin");
  expect({"--client-header", "X: y"}, 2, "the name of a header");
  expect({"--token-file", Path("none")}, 3, "none: cannot be read");
  Write("tokens", "# nobody\n");
  expect({"--token-file", Path("tokens")}, 2, "there is no token");
  expect({"--host", "no.such.host.invalid"}, 2, "is no address");
  expect({"--host", "192.0.2.1"}, 2, "cannot listen");
}

TEST_F(ServeCommandTest, AsksAServerForItsHealth) {
  const uint16_t port = Start({"--host", "0.0.0.0"});
  ASSERT_GT(port, 0) << ReadFile(log());
  const std::vector<std::string> ask = {"--host", "0.0.0.0", "--port", std::to_string(port),
                                        "--health"};
  EXPECT_EQ(Refused(ask).exit_code, 0);
  ASSERT_EQ(Stop(SIGTERM), 0);
  const ProgramResult result = Refused(ask);
  EXPECT_EQ(result.exit_code, 6);
  EXPECT_THAT(result.err, HasSubstr(fmt::format("127.0.0.1:{}: Connection refused", port)));
}

// The request's least probability wins over the server's, which wins over the index's.
TEST_F(ServeCommandTest, MayHaveALeastProbability) {
  Write("model/tandem.json", R"({"format": 1, "objective": "bixse",
        "probability": {"scale": 20, "bias": -16, "similarity": "cosine"}})");
  std::string lines;
  for (const char* text : {"red fish", "blue water", "one", "two fish", "a blue fish", "green"}) {
    lines += json{{"_id", text}, {"text", text}}.dump() + "\n";
  }
  Write("documents.jsonl", lines);
  const ProgramResult built = RunTandem({"index", "build", Path("model"), Path("documents.jsonl"),
                                         "--output", Path("index"), "--min-probability", "1"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  uint16_t port = StartServing(Path("index"), {});
  ASSERT_GT(port, 0) << ReadFile(log());
  const auto hits = [&](const json& request) {
    const serve::ClientResponse response =
        HttpClient(port).Ask(PostRequest("/search", request.dump()));
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body)["results"];
  };
  json all = {{"query", "blue fish"}, {"k", 6}, {"min_probability", 0}};
  const json ask = {{"query", "blue fish"}, {"k", 6}};
  EXPECT_EQ(hits(ask).size(), 0U);
  const json every = hits(all);
  ASSERT_EQ(every.size(), 6U);
  Stop(SIGTERM);
  std::filesystem::remove(log());

  const double least = every[2]["probability"];
  port = StartServing(Path("index"), {"--min-probability", fmt::format("{}", least)});
  ASSERT_GT(port, 0) << ReadFile(log());
  EXPECT_EQ(hits(ask), json(std::vector<json>(every.begin(), every.begin() + 3)));
  EXPECT_EQ(hits(all), every);
  all["min_probability"] = 1.5;
  EXPECT_EQ(HttpClient(port).Ask(PostRequest("/search", all.dump())).status, 400);
}

// Passages of an index are documents where the request or else the server says so.
TEST_F(ServeCommandTest, FindsDocumentsByTheirPassages) {
  if (FormsOfEnvironment() != AskedForms::kFused)
    GTEST_SKIP() << "other forms give equal texts nearly equal scores";
  std::string lines;
  for (const char* id : {"a#1", "a#2", "b#1", "c"}) {
    lines += json{{"_id", id}, {"text", id[0] == 'a' ? "blue fish" : "red water"}}.dump() + "\n";
  }
  Write("documents.jsonl", lines);
  const ProgramResult built = RunTandem({"index", "build", Path("model"), Path("documents.jsonl"),
                                         "--output", Path("index"), "--with-model"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const auto ids = [&](uint16_t port, const json& request) {
    const serve::ClientResponse response =
        HttpClient(port).Ask(PostRequest("/search", request.dump()));
    EXPECT_EQ(response.status, 200) << response.body;
    std::string found;
    const json answer = json::parse(response.body);
    for (const json& hit : answer["results"]) {
      found += hit["id"].get<std::string>() + "=" + hit.value("passage", "") + " ";
    }
    return found;
  };
  const json ask = {{"query", "blue fish"}, {"k", 3}};
  json by_document = ask, by_passage = ask;
  by_document["by_document"] = true;
  by_passage["by_document"] = false;
  uint16_t port = StartServing(Path("index"), {});
  ASSERT_GT(port, 0) << ReadFile(log());
  EXPECT_THAT(ids(port, ask), testing::StartsWith("a#2= a#1= "));
  EXPECT_THAT(ids(port, by_document), testing::AnyOf("a=a#1 c= b=b#1 ", "a=a#1 b=b#1 c= "));
  EXPECT_THAT(ReadFile(log()),
              testing::HasSubstr(
                  " dimensions, computed in fp32) and an index of 4 documents (of kind fp32)"));
  Stop(SIGTERM);
  std::filesystem::remove(log());

  port = StartServing(Path("index"), {"--by-document"});
  ASSERT_GT(port, 0) << ReadFile(log());
  EXPECT_EQ(ids(port, ask), ids(port, by_document));
  EXPECT_THAT(ids(port, by_passage), testing::StartsWith("a#2= a#1= "));
  const serve::ClientResponse info = HttpClient(port).Ask(serve::GetRequest("/info"));
  EXPECT_EQ(json::parse(info.body)["index"]["by_document"], true);
  EXPECT_THAT(ReadFile(log()), testing::HasSubstr(" passages (of kind fp32)"));
  // A model within the index is called as the index is; its own name is said beside it.
  EXPECT_EQ(json::parse(info.body)["model"]["name"], "index");
  const std::string folder = json::parse(info.body)["model"]["folder"];
  EXPECT_EQ(folder,
            std::filesystem::path(Path("model")).parent_path().filename().native() + "/model");
}

TEST_F(ServeCommandTest, GivesWhatEncodeGivesUntilItIsEnded) {
  const std::vector<std::string> texts = {"red fish", "", "blue blue water", "one"};
  std::string lines;
  for (size_t i = 0; i < texts.size(); ++i) {
    lines += json{{"_id", std::to_string(i)}, {"text", texts[i]}}.dump() + "\n";
  }
  ASSERT_EQ(Encode("-", {}, lines).exit_code, 0);
  const embeddings::MappedRows expected = Embeddings();
  const uint16_t port = Start();
  ASSERT_GT(port, 0) << ReadFile(log());
  const serve::ClientResponse response =
      HttpClient(port).Ask(PostRequest("/embed", json{{"texts", texts}}.dump()));
  ASSERT_EQ(response.status, 200) << response.body;
  const json rows = json::parse(response.body)["embeddings"];
  ASSERT_EQ(rows.size(), texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    for (size_t e = 0; e < rows[i].size(); ++e) {
      ASSERT_NEAR(rows[i][e].get<float>(), expected.values[i * rows[i].size() + e], 1e-6);
    }
  }
  const ProgramResult second = Refused({"--port", std::to_string(port)});
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("choose another --port"));
  ::kill(server_, SIGHUP);
  for (int i = 0; i < 100 && ReadFile(log()).find("in place") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_THAT(ReadFile(log()), HasSubstr("in place"));
  std::filesystem::remove_all(Path("model"));
  ::kill(server_, SIGHUP);
  for (int i = 0; i < 100 && ReadFile(log()).find("not reloaded") == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_EQ(HttpClient(port).Ask(PostRequest("/embed", R"({"texts": "a"})")).status, 200);
  EXPECT_EQ(Stop(SIGTERM), 0);
  EXPECT_THAT(ReadFile(log()), HasSubstr("not reloaded"));
}

}  // namespace
}  // namespace tandem
