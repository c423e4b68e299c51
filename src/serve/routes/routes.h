// What the server answers: one table, from which requests are routed and openapi.json is written.
#pragma once

#include <span>
#include <string_view>

#include "serve/http/http_message.h"

namespace tandem::serve {

enum class RouteName {
  kPage,
  kPageStyle,
  kPageScript,
  kHealth,
  kMetrics,
  kOpenApi,
  kInfo,
  kModels,
  kOpenAiEmbeddings,
  kEmbed,
  kSimilarity,
  kSearch,
};

struct Route {
  RouteName name;
  std::string_view path;
  Method method;  // kGet (HEAD too) or kPost
  bool open;      // needs no token
  std::string_view summary;
  std::string_view request;   // JSON schema of the body; "": none
  std::string_view response;  // JSON schema of the answer; "": not JSON
};

std::span<const Route> Routes();

// Null where there is no such path.
const Route* FindRoute(std::string_view path);

// For the header Allow: "GET, HEAD, OPTIONS" or "POST, OPTIONS".
std::string_view AllowedMethods(const Route& route);

}  // namespace tandem::serve
