// Counts of what the server does (serve/metrics.h).
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {
namespace {

Response Answer(const Service& service, const RequestHead&) {
  Response response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = service.MetricsText();
  return response;
}

}  // namespace

extern const Route kMetricsRoute{
    .path = "/metrics", .summary = "Counts for Prometheus", .while_draining = true, .get = Answer};

}  // namespace tandem::serve
