#include "serve/bodies/openapi_document.h"

#include <string>
#include <utility>

#include "base/json/json_reader.h"
#include "serve/route.h"

namespace tandem::serve {
namespace {

Json Error(std::string_view description) {
  return {
      {"description", description},
      {"content", {{"application/json", {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
}

Json ContentOf(std::string_view schema) {
  return {{"application/json", {{"schema", ParseJson(schema)}}}};
}

Json Operation(const Route& route, bool with_token) {
  Json good = {{"description", "done"}};
  if (!route.response.empty()) good["content"] = ContentOf(route.response);
  Json operation = {{"summary", route.summary}};
  Json responses = {{"200", good}};
  if (!route.request.empty()) {
    operation["requestBody"] = {{"required", true}, {"content", ContentOf(route.request)}};
    responses["400"] = Error("the body is not as described");
    responses["413"] = Error("the body is too long");
    responses["415"] = Error("the body is not application/json");
    responses["429"] = Error("too much waits; Retry-After says when to come again");
    responses["500"] = Error("a fault of the server");
  }
  if (with_token && !route.open) {
    operation["security"] = Json::array({{{"token", Json::array()}}});
    responses["401"] = Error("the bearer token is missing or wrong");
  }
  responses["503"] = Error("the server ends, or the request took too long");
  operation["responses"] = std::move(responses);
  return operation;
}

}  // namespace

std::string OpenApiDocument(bool with_token) {
  Json paths = Json::object();
  for (const Route* route : Routes()) {
    const char* method = route->method() == Method::kGet ? "get" : "post";
    paths[std::string(route->path)][method] = Operation(*route, with_token);
  }
  const Json error = ParseJson(R"({"type":"object","required":["error"],"properties":{"error":{
    "type":"object","required":["message","type","code"],"properties":{
    "message":{"type":"string"},"type":{"type":"string"},"code":{"type":"string"}}}}})");
  Json document = {{"openapi", "3.1.0"},
                   {"info",
                    {{"title", "Tandem"},
                     {"version", TANDEM_VERSION},
                     {"description", "Embeddings and search with calibrated answers."}}},
                   {"paths", paths},
                   {"components", {{"schemas", {{"Error", error}}}}}};
  if (with_token) {
    document["components"]["securitySchemes"]["token"] = {{"type", "http"}, {"scheme", "bearer"}};
  }
  return document.Dump(1) + "\n";
}

}  // namespace tandem::serve
