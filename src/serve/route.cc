#include "serve/route.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tandem::serve {

void RequestTexts::Add(std::vector<std::string> more, TextKind kind) {
  kinds.insert(kinds.end(), more.size(), kind);
  std::move(more.begin(), more.end(), std::back_inserter(texts));
}

const Route* FindRoute(std::string_view path) {
  for (const Route* route : Routes()) {
    if (route->path == path) return route;
  }
  return nullptr;
}

std::string_view AllowedMethods(const Route& route) {
  return route.method() == Method::kGet ? "GET, HEAD, OPTIONS" : "POST, OPTIONS";
}

Response JsonResponse(std::string body) {
  Response response;
  response.body = std::move(body);
  return response;
}

}  // namespace tandem::serve
