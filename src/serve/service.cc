#include "serve/service.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "serve/bodies/api_error.h"
#include "serve/bodies/openapi_document.h"
#include "serve/exchange.h"
#include "serve/http/bearer_tokens.h"
#include "serve/http/client_network.h"

namespace tandem::serve {
namespace {

// Counts before anything is measured, and where the encoder is very slow.
constexpr size_t kFewestQueueTokens = 16384;
constexpr double kLongestRetry = 60;  // seconds
// Most of them wait for the encoder, with the passages of their highlights.
constexpr size_t kSearchers = 16;
constexpr size_t kSearchersOfClient = 8;
// A browser asks again for what other pages may do after this many seconds.
constexpr const char* kPreflightAge = "600";
constexpr size_t kShownPath = 100;  // of an unknown path, in the error

bool IsJson(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  std::string type(content_type.substr(0, content_type.find(';')));
  while (!type.empty() && (type.back() == ' ' || type.back() == '\t')) type.pop_back();
  std::transform(type.begin(), type.end(), type.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return type == kJson;
}

}  // namespace

Service::Service(OpenBackend open, ServiceOptions options)
    : open_(std::move(open)),
      options_(std::move(options)),
      openapi_(OpenApiDocument(!options_.tokens.empty())),
      backend_(open_()),
      memory_(options_.work_bytes),
      slots_(std::max<size_t>(1, options_.searches)),
      workers_(std::max<size_t>(1, options_.workers), options_.workers),
      searchers_(kSearchers, kSearchersOfClient),
      batcher_(std::make_unique<Batcher>(queue_, metrics_)) {}

Service::~Service() {
  batcher_.reset();
  searchers_.Stop();
  workers_.Stop();
}

std::shared_ptr<Backend> Service::backend() const {
  const std::lock_guard lock(mutex_);
  return backend_;
}

void Service::Reload() {
  const std::lock_guard one_at_a_time(reloading_);
  std::shared_ptr<Backend> opened;
  try {
    opened = open_();
  } catch (...) {
    metrics_.CountReload(false);
    throw;
  }
  {
    const std::lock_guard lock(mutex_);
    backend_.swap(opened);
  }
  metrics_.CountReload(true);
}

std::string Service::ClientOf(const RequestHead& head, const std::string& address) const {
  if (!head.client.empty()) return "header " + head.client;
  if (options_.tokens.size() > 1) {
    if (const auto token = FindToken(head.authorization, options_.tokens)) {
      return fmt::format("token {}", *token + 1);
    }
  }
  return ClientNetwork(address);
}

bool Service::AllowsOrigin(std::string_view origin) const {
  return !origin.empty() &&
         std::any_of(options_.origins.begin(), options_.origins.end(),
                     [&](const std::string& known) { return known == "*" || known == origin; });
}

std::optional<Response> Service::Screen(const RequestHead& head) const {
  const Route* route = FindRoute(head.path);
  if (route == nullptr) {
    return ErrorResponse(404, "not_found",
                         fmt::format("there is no {}; /openapi.json lists what there is",
                                     head.path.substr(0, kShownPath)));
  }
  const bool get = head.method == Method::kGet || head.method == Method::kHead;
  if (head.method != Method::kOptions &&
      (route->method() == Method::kGet ? !get : head.method != Method::kPost)) {
    Response response = ErrorResponse(
        405, "method_not_allowed", fmt::format("{} takes {}", route->path, AllowedMethods(*route)));
    response.headers.emplace_back("Allow", AllowedMethods(*route));
    return response;
  }
  if (draining_ && !route->while_draining) {
    Response response = ErrorResponse(503, "draining", "the server ends; ask another one");
    response.headers.emplace_back("Retry-After", "5");
    response.close = true;
    return response;
  }
  if (head.method == Method::kOptions) return std::nullopt;
  if (!route->open && !options_.tokens.empty() && !FindToken(head.authorization, options_.tokens)) {
    const bool given = !head.authorization.empty();
    Response response =
        ErrorResponse(401, given ? "invalid_token" : "missing_token",
                      given ? "the bearer token is wrong"
                            : "a bearer token is needed: Authorization: Bearer TOKEN");
    response.headers.emplace_back("WWW-Authenticate",
                                  given ? "Bearer error=\"invalid_token\"" : "Bearer");
    return response;
  }
  if (route->method() == Method::kGet) return std::nullopt;
  if (!IsJson(head.content_type)) {
    return ErrorResponse(415, "unsupported_media_type",
                         "the body must be JSON: Content-Type: application/json");
  }
  if (!head.chunked && !head.content_length) {
    return ErrorResponse(411, "length_required",
                         "a request of POST needs Content-Length or a chunked body");
  }
  return std::nullopt;
}

std::string Service::MetricsText() const {
  Gauges gauges{.queued_texts = queue_.texts(),
                .queued_tokens = queue_.tokens(),
                .queued_clients = queue_.clients(),
                .work_bytes = memory_.bytes(),
                .draining = draining_,
                .watch = backend()->watched()};
  if (fill_gauges_) fill_gauges_(&gauges);
  return metrics_.Text(gauges);
}

size_t Service::QueueLimit() const {
  if (options_.queue_tokens > 0) return options_.queue_tokens;
  return std::max(kFewestQueueTokens,
                  static_cast<size_t>(batcher_->tokens_per_second() * options_.queue_seconds));
}

Response Service::QueueFull() const {
  const double rate = batcher_->tokens_per_second();
  const double wait = rate > 0 ? static_cast<double>(queue_.tokens()) / rate : 1;
  Response response = ErrorResponse(429, "queue_full", "too much waits; come again later");
  response.headers.emplace_back(
      "Retry-After", fmt::format("{:.0f}", std::clamp(std::ceil(wait), 1.0, kLongestRetry)));
  return response;
}

std::shared_ptr<PendingRequest> Service::Handle(const RequestHead& head, std::string body,
                                                const std::string& client, Responder respond) {
  const Route& route = *FindRoute(head.path);
  if (head.method == Method::kOptions) {
    Response response{.status = 204};
    response.headers.emplace_back("Allow", AllowedMethods(route));
    respond(std::move(response));
    return nullptr;
  }
  if (route.get != nullptr) {
    respond(route.get(*this, head));
    return nullptr;
  }
  // Where the queue is full already, nothing is parsed.
  if (!queue_.Takes(client, 1, QueueLimit())) {
    respond(QueueFull());
    return nullptr;
  }
  const auto exchange = std::make_shared<Exchange>(
      *this, Exchange::Start{route, std::move(body), client, std::move(respond)});
  exchange->Begin();
  return exchange;
}

void Service::Finish(const RequestHead& head, double seconds, Response* response) {
  const Route* route = FindRoute(head.path);
  metrics_.CountRequest(route ? route->path : "other", response->status, seconds);
  if (options_.origins.empty()) return;
  response->headers.emplace_back("Vary", "Origin");
  if (!AllowsOrigin(head.origin)) return;
  response->headers.emplace_back("Access-Control-Allow-Origin", head.origin);
  response->headers.emplace_back("Access-Control-Expose-Headers", "Retry-After");
  if (head.method == Method::kOptions && !head.preflight_method.empty()) {
    response->headers.emplace_back("Access-Control-Allow-Methods", "GET, POST");
    response->headers.emplace_back("Access-Control-Allow-Headers",
                                   "authorization, content-type, *");
    response->headers.emplace_back("Access-Control-Max-Age", kPreflightAge);
  }
}

}  // namespace tandem::serve
