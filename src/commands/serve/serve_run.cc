// The work of `tandem serve`.
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/log.h"
#include "commands/serve/serve_backend.h"
#include "commands/serve/serve_command.h"
#include "serve/http/bearer_tokens.h"
#include "serve/http/server.h"

namespace tandem::app {
namespace {

// The number of files that the server needs besides its connections.
constexpr size_t kOtherFiles = 128;

// Raises the limit of open files to the number that so many connections need.
void RaiseFileLimit(size_t connections) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t wanted = connections + kOtherFiles;
  if (limit.rlim_cur >= wanted) return;
  limit.rlim_cur = limit.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

serve::ServiceOptions ServiceOptionsOf(const ServeCommandOptions& options) {
  serve::ServiceOptions service;
  service.limits.texts = options.max_texts;
  service.limits.k = options.max_results;
  service.queue_tokens = options.queue_tokens;
  service.origins = options.origins;
  // Tokenising and writing are a small part of the work, and searching uses all threads by itself.
  service.workers = static_cast<size_t>(std::clamp(ThreadsOf(options.globals) / 2, 2, 8));
  if (!options.token_file.empty()) service.tokens = serve::ReadTokens(options.token_file);
  return service;
}

serve::ServerOptions ServerOptionsOf(const ServeCommandOptions& options) {
  serve::ServerOptions server;
  server.host = options.host;
  server.port = static_cast<uint16_t>(options.port);
  server.http.body_bytes = options.max_body_bytes;
  server.http.client_header = options.client_header;
  server.max_connections = options.max_connections;
  server.answer = std::chrono::seconds(options.request_seconds);
  server.drain = std::chrono::seconds(options.drain_seconds);
  server.log_requests = options.log_requests;
  server.signals = true;
  return server;
}

std::string WhatIsServed(const serve::BackendInfo& info) {
  std::string what =
      fmt::format("{} ({} dimensions, computed in {})", info.model, info.width, info.precision);
  if (info.index) {
    what += fmt::format(" and an index of {} {} (of kind {})", info.index->documents,
                        info.index->by_document ? "passages" : "documents", info.index->kind);
  }
  return what;
}

}  // namespace

void RunServe(const ServeCommandOptions& options) {
  std::signal(SIGHUP, SIG_IGN);  // a SIGHUP before there is anything to reopen
  // Errors of other options are reported before the model is loaded.
  const serve::ServiceOptions service_options = ServiceOptionsOf(options);
  const serve::ServerOptions server_options = ServerOptionsOf(options);
  serve::CheckAddress(server_options);
  RaiseFileLimit(options.max_connections);
  serve::Service service([&options] { return OpenServeBackend(options); }, service_options);
  serve::Server server(service, server_options);
  if (service_options.tokens.empty() && options.host != "localhost" &&
      !options.host.starts_with("127.") && options.host != "::1") {
    Warn(fmt::format("whoever reaches {} may ask: there is no --token-file", server.address()));
  }
  Note(fmt::format("serving {} at {}", WhatIsServed(service.backend()->info()), server.address()));
  server.Run();
}

}  // namespace tandem::app
