// Bodies of requests to the server: any bytes are a request or an error of the client's, and what
// was taken for a request has an answer.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/bodies/api_error.h"
#include "serve/fake_backend.h"
#include "serve/route.h"

namespace {

using namespace tandem::serve;

std::vector<const Route*> PostRoutes() {
  std::vector<const Route*> routes;
  for (const Route* route : Routes()) {
    if (route->post != nullptr) routes.push_back(route);
  }
  return routes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<const Route*> routes = PostRoutes();
  static const FakeBackend backend(/*with_index=*/true);
  if (size == 0) return 0;
  std::string body(reinterpret_cast<const char*>(data + 1), size - 1);
  const RequestLimits limits{.texts = 8, .queries = 4, .k = 10};
  const auto request = routes[data[0] % routes.size()]->post();
  try {
    RequestTexts texts;
    request->Parse(&body, backend, limits, &texts);
    const size_t count = texts.texts.size();
    if (count == 0 || count != texts.kinds.size()) __builtin_trap();
    const std::vector<float> rows(count * FakeBackend::kWidth, 0.5F);
    request->Answer({.encoded = {.rows = rows, .width = FakeBackend::kWidth},
                     .backend = backend,
                     .limits = limits,
                     .embed = [](auto) { return std::vector<float>(); },
                     .milliseconds = [] { return 1.0; }});
  } catch (const ApiError&) {
  } catch (const tandem::UsageError&) {  // of a filter, which FakeBackend refuses
  }
  return 0;
}
