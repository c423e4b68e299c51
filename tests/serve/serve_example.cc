// A server over the fake backend, for tools that need no model: the page's test, load under
// sanitizers.
//
//   serve_example [PORT]      prints its address on stdout; SIGTERM ends it, SIGHUP reloads
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "serve/fake_backend.h"
#include "serve/http/server.h"

int main(int argc, char** argv) {
  using tandem::serve::FakeBackend;
  const auto open = [] {
    auto backend = std::make_shared<FakeBackend>(true);
    backend->nanoseconds_per_token = 20'000;
    return backend;
  };
  try {
    tandem::serve::Service service(open, {});
    const auto port = static_cast<uint16_t>(argc > 1 ? std::atoi(argv[1]) : 0);
    tandem::serve::Server server(service, {.port = port, .signals = true});
    std::printf("%s\n", server.address().c_str());
    std::fflush(stdout);
    server.Run();
  } catch (const tandem::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit_code());
  }
  return 0;
}
