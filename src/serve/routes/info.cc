// Describes what the server serves: the model, the index and the limits of requests.
#include <fmt/format.h>

#include <optional>
#include <string>

#include "serve/bodies/json_writer.h"
#include "serve/route.h"
#include "serve/service.h"

namespace tandem::serve {
namespace {

void AppendPromises(std::string* out, const BackendInfo& info,
                    const std::optional<QueryWatch>& watch) {
  *out += ",\"promises\":[";
  for (size_t i = 0; i < info.promises.size(); ++i) {
    if (i > 0) *out += ',';
    AppendJsonText(out, info.promises[i]);
  }
  *out += "],\"keep\":";
  AppendJsonText(out, info.keep);
  *out += ",\"watch\":";
  if (!watch) {
    *out += "null";
    return;
  }
  *out += fmt::format("{{\"queries\":{},\"martingale\":", watch->queries);
  AppendJsonNumber(out, watch->martingale);
  *out += ",\"highest\":";
  AppendJsonNumber(out, watch->highest);
  *out += ",\"distance\":";
  AppendJsonNumber(out, watch->distance);
  *out += fmt::format(",\"alarm\":{}}}", watch->alarm);
}

std::string InfoAnswer(const BackendInfo& info, const std::optional<QueryWatch>& watch,
                       const RequestLimits& limits) {
  std::string out = "{\"model\":{\"name\":";
  AppendJsonText(&out, info.model);
  if (!info.model_name.empty()) {
    out += ",\"folder\":";
    AppendJsonText(&out, info.model_name);
  }
  out += fmt::format(
      ",\"dimensions\":{},\"similarity\":\"{}\",\"precision\":\"{}\",\"max_query_tokens\":{},"
      "\"max_document_tokens\":{},\"calibrated\":{}}},\"index\":",
      info.width, info.similarity, info.precision, info.max_query_tokens, info.max_document_tokens,
      info.calibrated);
  if (info.index) {
    out += "{\"kind\":";
    AppendJsonText(&out, info.index->kind);
    out += fmt::format(",\"documents\":{},\"texts\":{},\"by_document\":{},\"fields\":[",
                       info.index->documents, info.index->texts, info.index->by_document);
    for (size_t i = 0; i < info.index->fields.size(); ++i) {
      if (i > 0) out += ',';
      out += "{\"name\":";
      AppendJsonText(&out, info.index->fields[i].name);
      out += fmt::format(",\"type\":\"{}\"}}", info.index->fields[i].type);
    }
    out += "]}";
  } else {
    out += "null";
  }
  AppendPromises(&out, info, watch);
  out += fmt::format(",\"limits\":{{\"texts\":{},\"queries\":{},\"k\":{}}},\"version\":\"{}\"}}\n",
                     limits.texts, limits.queries, limits.k, TANDEM_VERSION);
  return out;
}

}  // namespace

extern const Route kInfoRoute{.path = "/info",
                              .summary = "The model, the index and the limits",
                              .response = kAnyObject,
                              .get = [](const Service& service, const RequestHead&) {
                                const auto backend = service.backend();
                                return JsonResponse(InfoAnswer(backend->info(), backend->watched(),
                                                               service.options().limits));
                              }};

}  // namespace tandem::serve
