// Listens, reads requests, hands them to a Service and writes its answers.
//
//   Service service(open, {});
//   Server server(service, {.port = 0});
//   std::thread thread([&] { server.Run(); });
//   ... server.port() ...
//   server.Stop();
//
// One thread does this for all connections; a slow client costs what it has sent and nothing else.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "serve/http/http_parser.h"
#include "serve/service.h"

namespace tandem::serve {

struct ServerOptions {
  std::string host = "127.0.0.1";  // an address, or a name that stands for one
  uint16_t port = 8080;            // 0: any that is free
  HttpLimits http;
  // Where there are this many, the one that has kept the server waiting longest is closed for a new
  // one.
  size_t max_connections = 1024;
  // Bodies and responses in memory, together; above it bodies of more than 64 KiB are refused.
  size_t held_bytes = size_t{256} << 20;
  std::chrono::milliseconds idle{75'000};    // between requests
  std::chrono::milliseconds head{10'000};    // from a head's first byte to its last
  std::chrono::milliseconds body{30'000};    // from a head's end to its body's
  std::chrono::milliseconds answer{60'000};  // from a request's end to its answer
  std::chrono::milliseconds write{30'000};   // of an answer; longer for a long one
  std::chrono::milliseconds drain{30'000};   // for requests that are under way when the server ends
  bool log_requests = false;                 // a note for each
  bool signals = false;                      // SIGTERM and SIGINT stop the server, SIGHUP reloads
};

// Throws what a Server there would throw: for a program that loads a model before it has one.
void CheckAddress(const ServerOptions& options);

class Server {
 public:
  // Listens at once. Throws UsageError where the address is none of this machine's or the port is
  // taken. `service` must outlive it.
  Server(Service& service, ServerOptions options);
  ~Server();

  uint16_t port() const;        // that was chosen
  std::string address() const;  // "http://127.0.0.1:8080"
  void Run();                   // until it has stopped
  void Stop();                  // any thread: answers what is under way, then Run returns
  void Reload();                // any thread: as SIGHUP

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tandem::serve
