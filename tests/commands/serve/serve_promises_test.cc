// `tandem serve` of an index whose model has guarantees: what it keeps, and its watch over queries.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "commands/model_commands_fixture.h"
#include "serve/http_client.h"

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class ServePromisesTest : public ModelCommandsTest {
 protected:
  ServePromisesTest() {
    EXPECT_EQ(RunTandem({"calibrate", Path("model"), "--dataset", Path("data"), "--split", "train",
                         "--quiet", "--guarantee", "recall=0.8", "--guarantee", "precision=0.3"})
                  .exit_code,
              0);
    EXPECT_EQ(RunTandem({"index", "build", Path("model"), Path("data/corpus.jsonl"), "--output",
                         Path("idx"), "--quiet"})
                  .exit_code,
              0);
  }
  ~ServePromisesTest() override { Stop(); }

  void Start(const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"serve", Path("idx"), "--port", "0"};
    words.insert(words.end(), flags.begin(), flags.end());
    server_ = StartTandem(words, {.err = Path("log")});
    for (int i = 0; i < 600 && port_ == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      if (!std::filesystem::exists(Path("log"))) continue;
      const std::string text = ReadFile(Path("log"));
      const size_t at = text.find(" at http://");
      if (at == std::string::npos || text.find('\n', at) == std::string::npos) continue;
      port_ = static_cast<uint16_t>(std::stoi(text.substr(text.find(':', at + 11) + 1)));
    }
    ASSERT_NE(port_, 0);
  }
  void Stop() {
    if (server_ > 0) {
      ::kill(server_, SIGKILL);
      ::waitpid(server_, nullptr, 0);
    }
    server_ = -1;
    port_ = 0;
  }
  serve::ClientResponse Ask(const json& body) const {
    return serve::HttpClient(port_).Ask(serve::PostRequest("/search", body.dump()));
  }
  json Found(const json& body) const {
    const serve::ClientResponse response = Ask(body);
    EXPECT_EQ(response.status, 200) << response.body;
    return json::parse(response.body);
  }
  std::string Get(const std::string& path) const {
    return serve::HttpClient(port_).Ask(serve::GetRequest(path)).body;
  }
  json Promise(size_t i) const {
    return json::parse(ReadFile(Path("model/tandem.json")))["guarantees"]["promises"][i];
  }

  pid_t server_ = -1;
  uint16_t port_ = 0;
};

TEST_F(ServePromisesTest, KeepsWhatIsAskedOrItsOwn) {
  Start({"--keep", "recall=0.8"});
  const json info = json::parse(Get("/info"));
  EXPECT_EQ(info["promises"], (json{"recall=0.8", "precision=0.3@0.95"}));
  EXPECT_EQ(info["keep"], "recall=0.8");
  const double threshold = Promise(0)["threshold"];
  const json by_default = Found({{"query", "one two 3"}});
  EXPECT_EQ(by_default["keep"]["promise"], "recall=0.8");
  EXPECT_EQ(by_default["keep"]["threshold"], threshold);
  EXPECT_EQ(by_default["keep"]["cut"], 0);
  EXPECT_EQ(by_default["keep"]["other_queries"], false);
  const json by_score = Found({{"query", "one two 3"}, {"min_score", threshold}, {"k", 60}});
  EXPECT_EQ(by_default["results"], by_score["results"]);
  EXPECT_FALSE(by_score.contains("keep"));
  const json nothing_kept = Found({{"query", "one two 3"}, {"keep", ""}});
  EXPECT_FALSE(nothing_kept.contains("keep"));
  EXPECT_EQ(nothing_kept["results"].size(), 10U);
  const json other = Found({{"queries", {"one", "two"}}, {"keep", "precision=0.3"}, {"k", 60}});
  EXPECT_EQ(other["keep"]["promise"], "precision=0.3@0.95");
  EXPECT_EQ(Found({{"query", "one two 3"}, {"k", 2}})["keep"]["cut"], 1);

  EXPECT_EQ(Ask({{"query", "a"}, {"keep", "recall=0.9"}}).status, 400);
  EXPECT_THAT(Ask({{"query", "a"}, {"keep", "recall=0.9"}}).body, HasSubstr("recall=0.8"));
  EXPECT_EQ(Ask({{"query", "a"}, {"keep", "recall=0.8"}, {"min_score", 0.1}}).status, 400);
  EXPECT_EQ(Ask({{"query", "a"}, {"keep", "recall=0.8"}, {"by_document", true}}).status, 400);
}

TEST_F(ServePromisesTest, SaysWhenQueriesAreOthers) {
  json file = json::parse(ReadFile(Path("model/tandem.json")));
  const std::string good = file.dump();
  // Those of the calibration found better documents than anybody now does.
  file["guarantees"]["best_scores"] = std::vector<double>(200, 1.5);
  Write("model/tandem.json", file.dump());
  Start({});
  const auto metric = [&](const std::string& line) {
    EXPECT_THAT(Get("/metrics"), HasSubstr("\n" + line + "\n"));
  };
  metric("tandem_watched_queries_total 0");
  metric("tandem_watch_martingale 1");
  metric("tandem_watch_alarm 0");
  EXPECT_EQ(Found({{"query", "a"}, {"keep", "recall=0.8"}})["keep"]["other_queries"], false);
  json queries = json::array();
  for (int q = 0; q < 50; ++q) queries.push_back(fmt::format("word {}", q));
  Found({{"queries", queries}, {"watch", false}, {"k", 1}});
  metric("tandem_watched_queries_total 1");
  // Whatever a request leaves out, its best score counts.
  Found({{"queries", queries}, {"min_score", 5}});
  metric("tandem_watched_queries_total 51");
  metric("tandem_watch_alarm 1");
  metric("tandem_watch_distance 1");
  EXPECT_EQ(Found({{"query", "a"}, {"keep", "recall=0.8"}})["keep"]["other_queries"], true);
  EXPECT_EQ(json::parse(Get("/info"))["watch"]["alarm"], true);
  EXPECT_EQ(json::parse(Get("/info"))["watch"]["queries"], 52);

  // Queries of the calibration are like themselves.
  Stop();
  Write("model/tandem.json", good);
  std::filesystem::remove(Path("log"));
  Start({});
  json same = json::array();
  std::istringstream lines(ReadFile(Path("data/queries.jsonl")));
  for (std::string line; same.size() < 48 && std::getline(lines, line);) {
    same.push_back(json::parse(line)["text"]);
  }
  Found({{"queries", same}});
  metric("tandem_watched_queries_total 48");
  metric("tandem_watch_alarm 0");
}

// The calibration had no filter; an approximate index may miss documents.
TEST_F(ServePromisesTest, SaysWhatBreaksThePromise) {
  std::istringstream lines(ReadFile(Path("data/corpus.jsonl")));
  std::string documents;
  int year = 2000;
  for (std::string line; std::getline(lines, line);) {
    json document = json::parse(line);
    document["year"] = year++;
    documents += document.dump() + "\n";
  }
  Write("years.jsonl", documents);
  const ProgramResult built =
      RunTandem({"index", "build", Path("model"), Path("years.jsonl"), "--output", Path("idx"),
                 "--replace", "--quiet", "--field", "year:number", "--kind", "hnsw"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  Start({"--keep", "recall=0.8"});
  EXPECT_THAT(ReadFile(Path("log")), HasSubstr("is approximate (hnsw, which found "));
  const json late = {{"year", {{">=", 2030}}}};
  for (const char* keep : {"recall=0.8", "precision=0.3"}) {
    EXPECT_EQ(Found({{"query", "one"}, {"keep", keep}})["keep"]["filtered"], false);
    EXPECT_EQ(Found({{"query", "one"}, {"keep", keep}, {"filter", late}})["keep"]["filtered"],
              true);
  }
  EXPECT_EQ(Found({{"query", "one"}, {"filter", late}})["keep"]["filtered"], true);
  EXPECT_FALSE(Found({{"query", "one"}, {"filter", late}, {"keep", ""}}).contains("keep"));
}

TEST_F(ServePromisesTest, WhatIsNotPromisedIsRefusedAtTheStart) {
  const auto refused = [&](const std::vector<std::string>& flags) {
    std::vector<std::string> words = {"serve", Path("idx"), "--port", "0"};
    words.insert(words.end(), flags.begin(), flags.end());
    const ProgramResult result = RunTandem(words);
    EXPECT_EQ(result.exit_code, 2) << result.err;
    return result.err;
  };
  EXPECT_THAT(refused({"--keep", "recall=0.9"}), HasSubstr("that is not promised"));
  EXPECT_THAT(refused({"--keep", "recall=0.8", "--min-probability", "0.5"}), HasSubstr("--keep"));
  EXPECT_THAT(refused({"--keep", "recall=0.8", "--by-document"}),
              HasSubstr("it excludes --by-document"));
  EXPECT_THAT(refused({"--keep", "recall=2"}), HasSubstr("above 0 and below 1"));
  EXPECT_THAT(RunTandem({"serve", Path("model"), "--keep", "recall=0.8"}).err,
              HasSubstr("is no index: --keep"));
  // Guarantees of another model are left aside, and nothing is promised.
  json file = json::parse(ReadFile(Path("model/tandem.json")));
  file["guarantees"]["basis"]["model_fingerprint"] = "0";
  Write("model/tandem.json", file.dump());
  EXPECT_THAT(refused({"--keep", "recall=0.8"}), HasSubstr("make them anew"));
  Start({});
  EXPECT_THAT(ReadFile(Path("log")), HasSubstr("they are left aside"));
  EXPECT_EQ(json::parse(Get("/info"))["promises"], json::array());
  EXPECT_EQ(json::parse(Get("/info"))["watch"], nullptr);
  EXPECT_EQ(Get("/metrics").find("tandem_watch"), std::string::npos);
  EXPECT_THAT(Ask({{"query", "a"}, {"keep", "recall=0.8"}}).body, HasSubstr("needs a model with"));
}

}  // namespace
}  // namespace tandem
