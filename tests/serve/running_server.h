// A server over real sockets of the loopback address, with a made-up backend, for its tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include "serve/fake_backend.h"
#include "serve/http/server.h"
#include "serve/http_client.h"

namespace tandem::serve {

// Holds the encoder until Open is called.
class Gate {
 public:
  void Wait() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
    --waiting_;
  }
  void AwaitWaiting() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int waiting_ = 0;
  bool open_ = false;
};

class Running {
 public:
  explicit Running(
      ServerOptions options = {}, ServiceOptions service = {},
      OpenBackend open = [] { return std::make_shared<FakeBackend>(true); })
      : service_(std::move(open), std::move(service)), server_(service_, WithPort(options)) {
    thread_ = std::thread([this] { server_.Run(); });
  }
  ~Running() {
    server_.Stop();
    if (thread_.joinable()) thread_.join();
  }
  uint16_t port() const { return server_.port(); }
  Server& server() { return server_; }
  Service& service() { return service_; }
  FakeBackend& backend() { return static_cast<FakeBackend&>(*service_.backend()); }
  void Join() { thread_.join(); }
  ClientResponse Ask(const std::string& request) { return HttpClient(port()).Ask(request); }

 private:
  static ServerOptions WithPort(ServerOptions options) {
    options.port = 0;
    return options;
  }
  Service service_;
  Server server_;
  std::thread thread_;
};

template <typename Condition>
bool Eventually(const Condition& condition) {
  for (int i = 0; i < 500; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

// A server whose encoder waits at a gate.
struct Gated {
  explicit Gated(ServerOptions options = {}, ServiceOptions service = {})
      : running(options, std::move(service), [this] {
          auto backend = std::make_shared<FakeBackend>(true);
          backend->before_batch = [this](std::span<const EncodeItem>) { gate.Wait(); };
          return backend;
        }) {}
  ~Gated() { gate.Open(); }
  Gate gate;
  Running running;
};

inline std::string ErrorCode(const ClientResponse& response) {
  const auto body = nlohmann::json::parse(response.body, nullptr, false);
  if (!body.is_object() || !body.contains("error")) return "no error: " + response.body;
  EXPECT_TRUE(body["error"].contains("message"));
  EXPECT_TRUE(body["error"].contains("type"));
  return body["error"]["code"];
}

}  // namespace tandem::serve
